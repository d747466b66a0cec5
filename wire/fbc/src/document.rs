//! One document: what it is, and its declaration.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use operon_catalog::{
    ChannelDeclaration, Declarations, DeprecationDeclaration, DeprecationReference, Diagnostic,
    EntryDeclaration, FileId, OtherDeclaration, PackageDeclaration, Place, Placed, Rule,
};
use operon_document::{
    json::{Kind, Node, Shape, byte_value},
    stream::Document,
};

use crate::{ReadBudget, bundle, shapes};

/// A document of a catalog file, and where its findings and declarations go.
pub(crate) struct DocumentReader<'r> {
    pub(crate) document: Document<'r>,
    pub(crate) file: FileId,
    /// Where the document's piece of the stream starts in the file.
    pub(crate) base: usize,
    pub(crate) declarations: &'r mut Declarations,
    pub(crate) budget: &'r ReadBudget,
}

/// The three fields every document may have.
struct Header<'a> {
    schema: Cow<'a, str>,
    package: Cow<'a, str>,
    name: Cow<'a, str>,
}

impl<'r> DocumentReader<'r> {
    /// Reads the document into the declarations.
    pub(crate) fn read(mut self) {
        let root = self.document.root;
        if root.kind() != Kind::Object {
            return self.report_not_an_object(root);
        }
        let Some(header) = self.header(root) else {
            return;
        };
        for name in [&header.schema, &header.package, &header.name] {
            self.budget.check_name(name);
        }
        match header.schema.as_ref() {
            "olm.package" => self.package(root),
            "olm.channel" => self.channel(root),
            "olm.bundle" => {
                if self.has_shape(root, &shapes::BUNDLE, "bundle") {
                    bundle::read(&mut self, root);
                }
            }
            "olm.deprecations" => self.deprecations(root),
            "" => self.report_missing_schema(),
            _ => {
                let place = self.document_place();
                let texts = [&header.schema, &header.package, &header.name].map(|text| &**text);
                self.budget.charge::<OtherDeclaration>(&texts);
                self.declarations.others.push(OtherDeclaration {
                    schema: header.schema.into_owned(),
                    package: header.package.into_owned(),
                    name: header.name.into_owned(),
                    place,
                });
            }
        }
    }

    /// Returns the place of a value.
    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        let range = self.document.place(span);
        Place::new(self.file, self.base + range.start..self.base + range.end)
    }

    /// Returns the place of the whole document.
    pub(crate) fn document_place(&self) -> Place {
        let span = self.document.span();
        Place::new(self.file, self.base + span.start..self.base + span.end)
    }

    /// Returns a place for what is missing: the beginning of the document.
    fn beginning(&self) -> Place {
        let place = self.document_place();
        Place { end: place.end.min(place.start + 1), ..place }
    }

    /// Returns the text of a field, empty when it is absent, with the place of the value.
    pub(crate) fn text(&self, node: Node<'_>, name: &str) -> Placed<String> {
        let found = node.field(name);
        Placed {
            value: found.and_then(Node::as_str).unwrap_or_default().into_owned(),
            place: found.map_or_else(|| self.beginning(), |value| self.place(value.span())),
        }
    }

    pub(crate) fn report(&mut self, finding: Diagnostic) {
        self.declarations.diagnostics.push(finding);
    }

    /// Checks the form of a document; a mismatch is reported.
    fn has_shape(&mut self, root: Node<'_>, shape: &Shape, what: &str) -> bool {
        let Err(mismatch) = shape.check(root) else {
            return true;
        };
        let message = format!(
            "field `{}` of this {what} should be {}, but is {}",
            mismatch.path, mismatch.expected, mismatch.found
        );
        let place = self.place(mismatch.span);
        self.report(
            Diagnostic::new(Rule::WrongType, message)
                .at(place)
                .why("the whole document is left out"),
        );
        false
    }

    fn report_not_an_object(&mut self, root: Node<'_>) {
        if root.is_null() {
            return self.report_missing_schema();
        }
        let place = self.place(root.span());
        let message =
            format!("a catalog document must be an object, this is a {}", root.kind().name());
        self.report(Diagnostic::new(Rule::NotAnObject, message).at(place).help(
            "every file below the catalog's root is read; list other files in `.indexignore`",
        ));
    }

    fn report_missing_schema(&mut self) {
        let place = self.beginning();
        let (message, help) = if self.document.root.is_null() {
            (
                "this document is empty",
                "remove the extra `---`, or the comment that stands alone in a document",
            )
        } else {
            (
                "this document does not say what it is",
                "add a `schema`, such as olm.bundle, or list the file in `.indexignore`",
            )
        };
        self.report(Diagnostic::new(Rule::MissingSchema, message).at(place).help(help));
    }

    /// Reads the header.
    ///
    /// Upstream: the three keys are found without regard to case, and no two keys of a document may
    /// differ in case only.
    fn header(&mut self, root: Node<'r>) -> Option<Header<'r>> {
        if !self.keys_are_distinct(root) {
            return None;
        }
        let [schema, package, name] = ["schema", "package", "name"];
        Some(Header {
            schema: self.header_text(root, schema)?,
            package: self.header_text(root, package)?,
            name: self.header_text(root, name)?,
        })
    }

    fn header_text(&mut self, root: Node<'r>, name: &str) -> Option<Cow<'r, str>> {
        let Some(value) = root.field(name) else {
            return Some(Cow::Borrowed(""));
        };
        let text = value.as_str();
        if text.is_none() {
            let place = self.place(value.span());
            let message = format!("`{name}` must be a string, this is a {}", value.kind().name());
            self.report(
                Diagnostic::new(Rule::HeaderNotText, message).at(place).help("put it in quotes"),
            );
        }
        text
    }

    fn keys_are_distinct(&mut self, root: Node<'_>) -> bool {
        let is_plain = |key: Node<'_>| {
            let raw = key.raw();
            raw.is_ascii() && !raw.iter().any(|byte| byte.is_ascii_uppercase() || *byte == b'\\')
        };
        if root.members().filter(|(key, _)| !is_plain(*key)).count() == 0 {
            return true;
        }
        let mut spellings: BTreeMap<String, (Cow<'_, str>, Place)> = BTreeMap::new();
        let mut distinct = true;
        for (key, _) in root.members() {
            let spelling = key.as_str().unwrap_or_default();
            let place = self.place(key.span());
            let folded = fold_case(&spelling);
            match spellings.get(&folded) {
                Some((earlier, first)) if *earlier != spelling => {
                    distinct = false;
                    let message = format!("keys {earlier:?} and {spelling:?} differ only in case");
                    let finding = Diagnostic::new(Rule::DuplicateKey, message)
                        .at(place)
                        .related(*first, "the other one");
                    self.report(finding);
                }
                Some(_) => {}
                None => {
                    spellings.insert(folded, (spelling, place));
                }
            }
        }
        distinct
    }

    fn package(&mut self, root: Node<'_>) {
        if !self.has_shape(root, &shapes::PACKAGE, "package") {
            return;
        }
        let icon = root.field("icon").filter(|icon| !icon.is_null());
        if let Some(icon) = icon {
            self.check_icon(icon);
        }
        if let Some(properties) = root.field("properties")
            && properties.elements().next().is_some()
        {
            let place = self.place(properties.span());
            self.report(
                Diagnostic::new(
                    Rule::PackageProperties,
                    "properties of a package are not used by any resolver",
                )
                .at(place)
                .help("put them on the bundles"),
            );
        }
        let declaration = PackageDeclaration {
            name: self.text(root, "name"),
            default_channel: self.text(root, "defaultChannel"),
            description: self.text(root, "description").value,
            has_icon: icon.is_some(),
            place: self.document_place(),
        };
        let texts = [
            declaration.name.value.as_str(),
            &declaration.default_channel.value,
            &declaration.description,
        ];
        self.budget.charge::<PackageDeclaration>(&texts);
        self.declarations.packages.push(declaration);
    }

    fn check_icon(&mut self, icon: Node<'_>) {
        let text = |name| icon.field(name).and_then(Node::as_str).unwrap_or_default();
        let media_type = text("mediatype");
        let bytes =
            icon.field("base64data").and_then(|data| byte_value(data).ok()).unwrap_or_default();
        let detected = media_type_of(&bytes);
        let message = if bytes.is_empty() {
            "the icon has no data".to_owned()
        } else if media_type.is_empty() {
            "the icon has no `mediatype`".to_owned()
        } else {
            match detected {
                None => "the icon's data is not a PNG, JPEG, GIF or SVG image".to_owned(),
                Some(detected) if detected != media_type => {
                    format!("the icon says it is {media_type}, but its data is {detected}")
                }
                Some(_) => return,
            }
        };
        let place = self.place(icon.span());
        self.report(Diagnostic::new(Rule::IconInvalid, message).at(place));
    }

    fn channel(&mut self, root: Node<'_>) {
        if !self.has_shape(root, &shapes::CHANNEL, "channel") {
            return;
        }
        let declaration = ChannelDeclaration {
            package: self.text(root, "package").value,
            name: self.text(root, "name"),
            entries: self.list(root, "entries", |entry| self.entry(entry)),
            place: self.document_place(),
        };
        let texts = [declaration.package.as_str(), &declaration.name.value];
        self.budget.charge::<ChannelDeclaration>(&texts);
        self.declarations.channels.push(declaration);
    }

    /// Reads the elements of a list until the budget is exceeded. Each element charges itself.
    pub(crate) fn list<'n, T>(
        &self,
        node: Node<'n>,
        name: &str,
        mut read: impl FnMut(Node<'n>) -> T,
    ) -> Vec<T> {
        let elements = node.field(name).into_iter().flat_map(Node::elements);
        elements.take_while(|_| self.budget.excess().is_none()).map(&mut read).collect()
    }

    fn entry(&self, entry: Node<'_>) -> EntryDeclaration {
        let text = |name| entry.field(name).and_then(Node::as_str).unwrap_or_default().into_owned();
        let name = |text: String| {
            self.budget.check_name(&text);
            text
        };
        let marked = entry.field("name").unwrap_or(entry);
        let declaration = EntryDeclaration {
            name: name(text("name")),
            replaces: name(text("replaces")),
            skips: self.list(entry, "skips", |skip| {
                let skip = name(skip.as_str().unwrap_or_default().into_owned());
                self.budget.charge::<String>(&[&skip]);
                skip
            }),
            skip_range: text("skipRange"),
            place: self.place(marked.span()),
        };
        let EntryDeclaration { name, replaces, skip_range, .. } = &declaration;
        self.budget.charge::<EntryDeclaration>(&[name, replaces, skip_range]);
        declaration
    }

    fn deprecations(&mut self, root: Node<'_>) {
        if !self.has_shape(root, &shapes::DEPRECATIONS, "list of deprecations") {
            return;
        }
        let declaration = DeprecationDeclaration {
            package: self.text(root, "package").value,
            entries: self.list(root, "entries", |entry| self.deprecation(entry)),
            place: self.document_place(),
        };
        self.budget.charge::<DeprecationDeclaration>(&[&declaration.package]);
        self.declarations.deprecations.push(declaration);
    }

    fn deprecation(&self, entry: Node<'_>) -> DeprecationReference {
        let reference = entry.field("reference");
        let text = |node: Option<Node<'_>>, name: &str| {
            node.and_then(|node| node.field(name))
                .and_then(Node::as_str)
                .unwrap_or_default()
                .into_owned()
        };
        let declaration = DeprecationReference {
            schema: text(reference, "schema"),
            name: text(reference, "name"),
            message: text(Some(entry), "message"),
            place: self.place(reference.unwrap_or(entry).span()),
        };
        self.budget.check_name(&declaration.name);
        let texts = [declaration.schema.as_str(), &declaration.name, &declaration.message];
        self.budget.charge::<DeprecationReference>(&texts);
        declaration
    }
}

/// Folds case the way Unicode defines it for comparison, near enough for keys.
fn fold_case(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// Recognises the image formats a console can show.
fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(512)];
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ if String::from_utf8_lossy(head).contains("<svg")
            || head.trim_ascii_start().starts_with(b"<?xml") =>
        {
            Some("image/svg+xml")
        }
        _ => None,
    }
}
