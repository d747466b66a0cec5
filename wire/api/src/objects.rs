//! From text to whole objects: every field is kept, of every kind.
//!
//! A broken document is reported and left out; its neighbours stay. Whether an object makes sense is
//! not asked here: that is what schemas and clusters say.

use std::{ops::Range, rc::Rc, sync::Arc};

use operon_document::{
    json::{Kind, Node, Shape, Tape},
    stream::{self, Event, Format},
};
use operon_object::{MAX_VALUE_DEPTH, Object, Value, ValueError};

use crate::{
    Located, MAX_DIAGNOSTICS, MAX_MANIFESTS, ManifestDiagnostic, ManifestRule, ManifestSeverity,
    ObjectName,
    diagnostic::Fault,
    lines::LineIndex,
    metadata::{METADATA, field, text},
    spelling,
};

/// Limits how deeply lists stand in lists. `kubectl get -o yaml` makes one level, and tools that
/// gather its answers one more.
pub const MAX_LIST_DEPTH: usize = 10;

/// The form that clusters ask of every object.
const FORM: Shape = Shape::Struct(&[field("metadata", &METADATA)]);

/// An object, and where it is written.
pub type LocatedObject = Located<Object>;

/// The objects of a text, in the order they are written.
#[derive(Debug, Clone, Default)]
pub struct ObjectManifests {
    /// The objects.
    pub objects: Vec<LocatedObject>,
    /// What was found wrong, in the order of the text.
    pub diagnostics: Vec<ManifestDiagnostic>,
    /// How many findings were not kept because there were more than [`MAX_DIAGNOSTICS`].
    pub unreported: usize,
}

/// Reads the objects of one text: YAML with any number of documents, JSON, or JSON lines; the items
/// of lists are objects of their own. `file` is its name in findings.
pub fn read_objects(file: &str, text: &[u8]) -> ObjectManifests {
    let lines = LineIndex::new(text);
    let line_of = |offset: usize| lines.line_of(offset);
    let mut page = Page { file: file.into(), manifests: ObjectManifests::default() };
    stream::read(text, &mut Tape::new(), &mut |event| match event {
        Event::Document(document) => {
            page.read(document.root, &|span| line_of(document.place(span).start));
        }
        Event::Broken(broken) => {
            let format = match broken.format {
                Format::Json => "JSON",
                Format::Yaml => "YAML",
            };
            let message = format!("this is not {format}: {}", broken.message);
            let fault = Fault::new(ManifestRule::Syntax, broken.place, "", message)
                .help("correct this document; the others are read");
            page.report(ManifestSeverity::Error, None, fault, &|span| line_of(span.start));
        }
        Event::Ignored(range) => {
            let message = "this text is not read: it stands behind the end of a document";
            let fault = Fault::new(ManifestRule::IgnoredText, range, "", message)
                .help("separate documents with a line `---`");
            page.report(ManifestSeverity::Warning, None, fault, &|span| line_of(span.start));
        }
    });
    page.manifests
}

/// Finds the line of a place in a document.
type LineOf<'l> = &'l dyn Fn(Range<usize>) -> usize;

/// A text being read.
struct Page {
    file: Arc<str>,
    manifests: ObjectManifests,
}

/// A value that is still to be read.
struct Waiting<'a> {
    node: Node<'a>,
    /// How many lists it stands in.
    depth: usize,
    /// The type that its list implies.
    implied: Option<Rc<ImpliedType>>,
}

/// What a list such as `SubscriptionList` says about its items, which need not say it again.
struct ImpliedType {
    api_version: String,
    kind: String,
}

impl Page {
    /// Reads a document: an object, or lists of objects.
    fn read(&mut self, root: Node<'_>, line_of: LineOf<'_>) {
        let mut waiting = vec![Waiting { node: root, depth: 0, implied: None }];
        while let Some(Waiting { node, depth, implied }) = waiting.pop() {
            let first_child = waiting.len();
            let (items, implied_below) = match node.kind() {
                // An empty YAML document.
                Kind::Null => continue,
                Kind::Array => (node, None),
                Kind::Object => match list_items(node) {
                    Some(items) => (items, implied_type(node)),
                    None if self.manifests.objects.len() < MAX_MANIFESTS => {
                        self.read_object(node, implied.as_deref(), line_of);
                        continue;
                    }
                    None => {
                        let message = format!(
                            "there are more than {MAX_MANIFESTS} objects; the rest is not read"
                        );
                        self.refuse(ManifestRule::TooMany, node, message, "split it up", line_of);
                        return;
                    }
                },
                Kind::Bool | Kind::Number | Kind::String => {
                    let message =
                        format!("an object is expected here, not a {}", node.kind().name());
                    let help = "write a map of `apiVersion`, `kind` and `metadata`";
                    self.refuse(ManifestRule::NotAnObject, node, message, help, line_of);
                    continue;
                }
            };
            if depth == MAX_LIST_DEPTH {
                let message = format!("lists stand in lists more than {MAX_LIST_DEPTH} times");
                let help = "write the objects as documents, or in one list";
                self.refuse(ManifestRule::TooDeep, node, message, help, line_of);
                continue;
            }
            waiting.extend(items.elements().map(|node| Waiting {
                node,
                depth: depth + 1,
                implied: implied_below.clone(),
            }));
            waiting[first_child..].reverse();
        }
    }

    fn read_object(&mut self, node: Node<'_>, implied: Option<&ImpliedType>, line_of: LineOf<'_>) {
        match build(node, implied) {
            Ok(object) => {
                if let Err(fault) = spelling::check_form(&FORM, node) {
                    let name = Some(name_of(node));
                    self.report(ManifestSeverity::Warning, name, fault, line_of);
                }
                let line = Some(line_of(node.span()));
                self.manifests.objects.push(Located { object, file: self.file.clone(), line });
            }
            Err(fault) => {
                self.report(ManifestSeverity::Error, Some(name_of(node)), fault, line_of);
            }
        }
    }

    fn refuse(
        &mut self,
        rule: ManifestRule,
        node: Node<'_>,
        message: String,
        help: &str,
        line_of: LineOf<'_>,
    ) {
        let fault = Fault::new(rule, node.span(), "", message).help(help);
        self.report(ManifestSeverity::Error, None, fault, line_of);
    }

    fn report(
        &mut self,
        severity: ManifestSeverity,
        object: Option<ObjectName>,
        fault: Fault,
        line_of: LineOf<'_>,
    ) {
        if self.manifests.diagnostics.len() == MAX_DIAGNOSTICS {
            self.manifests.unreported += 1;
            return;
        }
        self.manifests.diagnostics.push(ManifestDiagnostic {
            severity,
            rule: fault.rule,
            file: self.file.to_string(),
            line: Some(line_of(fault.span)),
            object,
            path: fault.path,
            message: fault.message,
            help: fault.help,
        });
    }
}

/// Returns the items of a list; none for what is an object itself.
///
/// A kind may end in `List` without being a list of objects, such as an `AllowList`: only `items`
/// makes it one.
fn list_items(node: Node<'_>) -> Option<Node<'_>> {
    let kind = said(node, "kind");
    let items = node.get("items").filter(|items| matches!(items.kind(), Kind::Array | Kind::Null));
    match kind.as_str() {
        // An empty list may leave its items out; the node itself has no elements.
        "List" => Some(items.unwrap_or(node)),
        kind if kind.ends_with("List") => items,
        _ => None,
    }
}

fn implied_type(list: Node<'_>) -> Option<Rc<ImpliedType>> {
    let kind = said(list, "kind").strip_suffix("List").unwrap_or_default().to_owned();
    let api_version = said(list, "apiVersion");
    (!kind.is_empty()).then(|| Rc::new(ImpliedType { api_version, kind }))
}

fn said(node: Node<'_>, name: &str) -> String {
    text(Some(node), name)
}

fn name_of(node: Node<'_>) -> ObjectName {
    let metadata = node.get("metadata");
    let [namespace, name] = ["namespace", "name"].map(|name| text(metadata, name));
    ObjectName { kind: said(node, "kind"), namespace, name }
}

/// Builds an object, or says what keeps it from being one.
fn build(node: Node<'_>, implied: Option<&ImpliedType>) -> Result<Object, Fault> {
    let mut value = Value::parse_json(node.raw()).map_err(|error| {
        let fault = |rule, message| Fault::new(rule, node.span(), "", message);
        match error {
            ValueError::TooDeep => {
                let message = format!("nests deeper than {MAX_VALUE_DEPTH} levels");
                fault(ManifestRule::TooDeep, message).help("no cluster takes such an object")
            }
            ValueError::Json(error) => fault(ManifestRule::Syntax, error.to_string()),
        }
    })?;
    if let Some(ImpliedType { api_version, kind }) = implied {
        for (name, implied) in [("apiVersion", api_version), ("kind", kind)] {
            if value.get(name).is_empty() && !implied.is_empty() {
                value.set(&[name], implied.as_str());
            }
        }
    }
    for name in ["kind", "apiVersion"] {
        if value.get(name).str().is_empty() {
            return Err(missing_type(node, name));
        }
    }
    Object::from_value(value).map_err(|malformed| {
        let span = node.get("metadata").unwrap_or(node).span();
        let message = malformed.reason.replace("`metadata` ", "");
        Fault::new(ManifestRule::WrongType, span, "metadata", message)
            .help("write `name`, `namespace`, `labels` and `annotations` below it")
    })
}

fn missing_type(node: Node<'_>, name: &str) -> Fault {
    let (rule, message) = match node.get(name).map(Node::kind) {
        None | Some(Kind::Null | Kind::String) => {
            (ManifestRule::MissingField, "is missing".to_owned())
        }
        Some(kind @ (Kind::Bool | Kind::Number | Kind::Array | Kind::Object)) => {
            (ManifestRule::WrongType, format!("must be a string, not {}", kind.name()))
        }
    };
    let span = node.get(name).unwrap_or(node).span();
    Fault::new(rule, span, name, message)
        .help("say in `kind` and `apiVersion` which type of object this is")
}
