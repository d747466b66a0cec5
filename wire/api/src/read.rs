//! From text to objects: documents, lists, lists of lists; what is not ours is passed over.
//!
//! A broken object is reported and left out; its neighbours stay. Whether objects contradict each
//! other is seen later, when they are gathered.

use std::{borrow::Cow, collections::BTreeSet, ops::Range, sync::Arc};

use operon_constraint::GroupVersionKind;
use operon_document::{
    json::{Kind, Node, Shape, Tape},
    stream::{self, Event, Format},
};

use crate::{
    CatalogSource, ClusterServiceVersion, ManifestDiagnostic, ManifestRule, ManifestSeverity,
    Metadata, ObjectName, OperatorGroup, Subscription,
    diagnostic::Fault,
    lines::LineIndex,
    metadata::{member, text},
    native_apis, spelling,
};

/// The most objects that are read: ten times what the largest clusters hold of these kinds.
pub const MAX_MANIFESTS: usize = 1_000_000;

/// The most findings that are kept: nobody reads more, and a hostile text could make millions.
pub const MAX_DIAGNOSTICS: usize = 1000;

/// The API group of all kinds that are read.
const GROUP: &str = "operators.coreos.com/";

/// Reads one text: YAML with any number of documents, JSON, or JSON lines.
pub fn read_manifests(file: &str, text: &[u8]) -> Manifests {
    let mut reader = ManifestReader::default();
    reader.read_text(file, text);
    reader.finish()
}

/// The objects of some texts, in the order they are written.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// The CatalogSources.
    pub catalog_sources: Vec<Located<CatalogSource>>,
    /// The OperatorGroups.
    pub operator_groups: Vec<Located<OperatorGroup>>,
    /// The Subscriptions.
    pub subscriptions: Vec<Located<Subscription>>,
    /// The ClusterServiceVersions.
    pub service_versions: Vec<Located<ClusterServiceVersion>>,
    /// The APIs that APIResourceLists name: what a server answers to `kubectl get --raw /apis/apps/v1`.
    /// None when there is no such list, so that nothing is known about them.
    pub native_apis: Option<BTreeSet<GroupVersionKind>>,
    /// How many objects of other kinds were passed over.
    pub ignored: usize,
    /// What was found wrong, in the order of the texts.
    pub diagnostics: Vec<ManifestDiagnostic>,
    /// How many findings were not kept because there were more than [`MAX_DIAGNOSTICS`].
    pub unreported: usize,
}

/// An object, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The object.
    pub object: T,
    /// The name of the text.
    pub file: Arc<str>,
    /// The line, counted from 1, where it is known.
    pub line: Option<usize>,
}

/// The kinds of objects that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// `CatalogSource`
    CatalogSource,
    /// `OperatorGroup`
    OperatorGroup,
    /// `Subscription`
    Subscription,
    /// `ClusterServiceVersion`
    ClusterServiceVersion,
}

impl ObjectKind {
    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::CatalogSource, Self::OperatorGroup, Self::Subscription, Self::ClusterServiceVersion];

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::CatalogSource => "CatalogSource",
            Self::OperatorGroup => "OperatorGroup",
            Self::Subscription => "Subscription",
            Self::ClusterServiceVersion => "ClusterServiceVersion",
        }
    }

    fn versions(self) -> &'static [&'static str] {
        match self {
            Self::OperatorGroup => &["v1", "v1alpha2"],
            Self::CatalogSource | Self::Subscription | Self::ClusterServiceVersion => &["v1alpha1"],
        }
    }

    fn shape(self) -> &'static Shape {
        match self {
            Self::CatalogSource => &CatalogSource::SHAPE,
            Self::OperatorGroup => &OperatorGroup::SHAPE,
            Self::Subscription => &Subscription::SHAPE,
            Self::ClusterServiceVersion => &ClusterServiceVersion::SHAPE,
        }
    }
}

impl Manifests {
    /// Returns the namespace of the only OperatorGroup, if there is exactly one and it says so.
    pub fn only_group_namespace(&self) -> Option<&str> {
        match &self.operator_groups[..] {
            [group] => Some(group.object.metadata.namespace.as_str()),
            _ => None,
        }
        .filter(|namespace| !namespace.is_empty())
    }

    fn count(&self) -> usize {
        self.catalog_sources.len()
            + self.operator_groups.len()
            + self.subscriptions.len()
            + self.service_versions.len()
            + self.ignored
    }

    fn report(&mut self, diagnostic: ManifestDiagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.unreported += 1;
        }
    }
}

/// Reads several texts or values, one after another.
#[derive(Debug, Default)]
pub struct ManifestReader {
    manifests: Manifests,
}

impl ManifestReader {
    /// Reads a text; `file` is its name in findings.
    pub fn read_text(&mut self, file: &str, text: &[u8]) {
        let lines = LineIndex::new(text);
        let line_of = |offset: usize| Some(lines.line_of(offset));
        let mut page = Page { file: file.into(), manifests: &mut self.manifests };
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
                let fault = Fault::new(ManifestRule::Syntax, broken.place, "", message);
                page.report(ManifestSeverity::Error, None, fault, &|span| line_of(span.start));
            }
            Event::Ignored(range) => {
                let message = "this text is not read: it stands behind the end of a document";
                let fault = Fault::new(ManifestRule::IgnoredText, range, "", message)
                    .help("separate documents with a line `---`");
                page.report(ManifestSeverity::Warning, None, fault, &|span| line_of(span.start));
            }
        });
    }

    /// Reads a value that is part of a larger text: an object, or a list of objects. Findings name
    /// the line of that text.
    pub fn read_value(&mut self, file: &str, line: Option<usize>, value: Node<'_>) {
        let mut page = Page { file: file.into(), manifests: &mut self.manifests };
        page.read(value, &|_| line);
    }

    /// Returns what was read.
    pub fn finish(self) -> Manifests {
        self.manifests
    }
}

/// Finds the line of a place in a document.
type LineOf<'l> = &'l dyn Fn(Range<usize>) -> Option<usize>;

/// A text being read.
struct Page<'m> {
    file: Arc<str>,
    manifests: &'m mut Manifests,
}

/// A value that is still to be read, with the type that its list implies.
struct Waiting<'a> {
    node: Node<'a>,
    implied: Option<(Cow<'a, str>, String)>,
}

impl Page<'_> {
    /// Reads a document: an object, or lists of objects, however deep.
    fn read(&mut self, root: Node<'_>, line_of: LineOf<'_>) {
        let mut waiting = vec![Waiting { node: root, implied: None }];
        while let Some(Waiting { node, implied }) = waiting.pop() {
            let first_child = waiting.len();
            match node.kind() {
                Kind::Array => {
                    waiting.extend(node.elements().map(|node| Waiting { node, implied: None }));
                }
                Kind::Object => {
                    let (api_version, kind) = type_of(node, implied);
                    if kind == "APIResourceList" {
                        native_apis::read(node, &mut self.manifests.native_apis);
                    } else if let Some(item_kind) = kind.strip_suffix("List") {
                        let implied = (!item_kind.is_empty())
                            .then(|| (api_version.clone(), item_kind.to_owned()));
                        let items = member(node, "items").into_iter().flat_map(Node::elements);
                        waiting
                            .extend(items.map(|node| Waiting { node, implied: implied.clone() }));
                    } else if self.has_room(node, line_of) {
                        self.read_object(node, &api_version, &kind, line_of);
                    } else {
                        return;
                    }
                }
                // An empty YAML document.
                Kind::Null => {}
                Kind::Bool | Kind::Number | Kind::String => {
                    let message =
                        format!("an object is expected here, not a {}", node.kind().name());
                    let fault = Fault::new(ManifestRule::NotAnObject, node.span(), "", message);
                    self.report(ManifestSeverity::Error, None, fault, line_of);
                }
            }
            waiting[first_child..].reverse();
        }
    }

    fn has_room(&mut self, node: Node<'_>, line_of: LineOf<'_>) -> bool {
        let has_room = self.manifests.count() < MAX_MANIFESTS;
        if !has_room {
            let message =
                format!("there are more than {MAX_MANIFESTS} objects; the rest is not read");
            let fault = Fault::new(ManifestRule::TooMany, node.span(), "", message);
            self.report(ManifestSeverity::Error, None, fault, line_of);
        }
        has_room
    }

    fn read_object(
        &mut self,
        node: Node<'_>,
        api_version: &str,
        kind_name: &str,
        line_of: LineOf<'_>,
    ) {
        let name = || {
            let metadata = node.get("metadata");
            let [namespace, name] = ["namespace", "name"].map(|name| text(metadata, name));
            ObjectName { kind: kind_name.to_owned(), namespace, name }
        };
        let mut warnings = Vec::new();
        let kind = match recognise(node, api_version, kind_name, &mut warnings) {
            Ok(Some(kind)) => kind,
            Ok(None) => {
                self.manifests.ignored += 1;
                return;
            }
            Err(fault) => {
                self.report(ManifestSeverity::Error, Some(name()), fault, line_of);
                return;
            }
        };
        spelling::check(kind.shape(), node, "", &mut warnings);
        let line = line_of(node.span());
        let result = spelling::check_form(kind.shape(), node)
            .and_then(|()| Metadata::read(node))
            .and_then(|metadata| self.keep(kind, node, metadata, line, &mut warnings));
        for warning in warnings {
            self.report(ManifestSeverity::Warning, Some(name()), warning, line_of);
        }
        if let Err(fault) = result {
            self.report(ManifestSeverity::Error, Some(name()), fault, line_of);
        }
    }

    fn keep(
        &mut self,
        kind: ObjectKind,
        node: Node<'_>,
        metadata: Metadata,
        line: Option<usize>,
        warnings: &mut Vec<Fault>,
    ) -> Result<(), Fault> {
        let file = &self.file;
        let manifests = &mut *self.manifests;
        match kind {
            ObjectKind::CatalogSource => {
                let object = CatalogSource::read(node, metadata);
                manifests.catalog_sources.push(Located { object, file: file.clone(), line });
            }
            ObjectKind::OperatorGroup => {
                let object = OperatorGroup::read(node, metadata, warnings)?;
                manifests.operator_groups.push(Located { object, file: file.clone(), line });
            }
            ObjectKind::Subscription => {
                let object = Subscription::read(node, metadata, warnings)?;
                manifests.subscriptions.push(Located { object, file: file.clone(), line });
            }
            ObjectKind::ClusterServiceVersion => {
                let object = ClusterServiceVersion::read(node, metadata)?;
                manifests.service_versions.push(Located { object, file: file.clone(), line });
            }
        }
        Ok(())
    }

    fn report(
        &mut self,
        severity: ManifestSeverity,
        object: Option<ObjectName>,
        fault: Fault,
        line_of: LineOf<'_>,
    ) {
        self.manifests.report(ManifestDiagnostic {
            severity,
            rule: fault.rule,
            file: self.file.to_string(),
            line: line_of(fault.span),
            object,
            path: fault.path,
            message: fault.message,
            help: fault.help,
        });
    }
}

/// Returns what an object says its type is, or else what its list implies.
fn type_of<'a>(
    node: Node<'a>,
    implied: Option<(Cow<'a, str>, String)>,
) -> (Cow<'a, str>, Cow<'a, str>) {
    let said = |name: &str| node.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
    let (implied_version, implied_kind) = implied.unwrap_or_default();
    let api_version = said("apiVersion").unwrap_or(implied_version);
    (api_version, said("kind").unwrap_or(Cow::Owned(implied_kind)))
}

/// Tells which kind of ours an object is; none for objects that are not ours.
fn recognise(
    node: Node<'_>,
    api_version: &str,
    kind_name: &str,
    warnings: &mut Vec<Fault>,
) -> Result<Option<ObjectKind>, Fault> {
    if kind_name.is_empty() {
        let fault = Fault::new(ManifestRule::MissingField, node.span(), "kind", "is missing");
        return Err(fault.help("say in `kind` and `apiVersion` which type of object this is"));
    }
    let Some(kind) = ObjectKind::ALL.into_iter().find(|kind| kind.name() == kind_name) else {
        return Ok(None);
    };
    let expected = || {
        let versions = kind.versions().iter().map(|version| format!("`{GROUP}{version}`"));
        format!("write {}", versions.collect::<Vec<_>>().join(" or "))
    };
    if api_version.is_empty() {
        let fault = Fault::new(ManifestRule::MissingField, node.span(), "apiVersion", "is missing");
        return Err(fault.help(expected()));
    }
    // Other projects have Subscriptions too.
    let Some(version) = api_version.strip_prefix(GROUP) else { return Ok(None) };
    if !kind.versions().contains(&version) {
        // Published bundles have this slip; what is meant is plain, and only a cluster refuses it.
        let message =
            format!("`{api_version}` is not a version of {kind_name} that clusters serve");
        let span = node.get("apiVersion").unwrap_or(node).span();
        let fault = Fault::new(ManifestRule::InvalidValue, span, "apiVersion", message);
        warnings.push(fault.help(expected()));
    }
    Ok(Some(kind))
}
