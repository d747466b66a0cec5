//! The metadata of a bundle: annotations, dependencies and properties, told apart by content.
//!
//! Upstream: the first file that has one of the three wins, and a file that does not fit is
//! treated as absent. Here entries that do fit are kept, and the rest is a finding.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use operon_document::{
    json::{Kind, Node, Tape},
    stream::{self, Event, Format},
};
use operon_version::VersionRange;

use super::{BundleFile, Page, directory, shapes};
use crate::{
    BundleError, BundlePlace, BundleRule, Property,
    finding::Findings,
    property::{text, types},
};

const PACKAGE_ANNOTATION: &str = "operators.operatorframework.io.bundle.package.v1";
const CHANNELS_ANNOTATION: &str = "operators.operatorframework.io.bundle.channels.v1";
const DEFAULT_CHANNEL_ANNOTATION: &str = "operators.operatorframework.io.bundle.channel.default.v1";

/// What the bundle annotations say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleAnnotations {
    /// The path of the file they are in.
    pub file: String,
    /// The bytes of the file that hold them.
    pub range: Range<usize>,
    /// The package the bundle belongs to; never empty.
    pub package: String,
    /// The channels the bundle is meant for, in the order they are written.
    pub channels: Vec<String>,
    /// The default channel of the package; empty if none is named.
    pub default_channel: String,
}

/// What the directory `metadata/` gave.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) annotations: BundleAnnotations,
    pub(super) dependencies: Vec<Property>,
    pub(super) properties: Vec<Property>,
}

/// Reads the metadata of a bundle.
pub(super) fn read(
    files: &[BundleFile],
    tape: &mut Tape,
    findings: &mut Findings,
) -> Result<Metadata, BundleError> {
    let mut found = Found::default();
    for entry in directory(files, "metadata").0 {
        let file = entry.file;
        stream::read(&file.content, tape, &mut |event| match event {
            Event::Document(document) => {
                read_document(&Page { file, document: &document }, &mut found, findings);
            }
            Event::Broken(broken) => {
                found.unreadable.push(file.path.clone());
                let message = format!("the file cannot be read: {}", broken.message);
                findings
                    .add(BundleRule::MetadataUnreadable, &file.path, broken.place, message)
                    .help("upstream tools treat it as absent: no dependency, no property of it counts");
            }
            Event::Ignored(range) => {
                let message = "text behind the end of a document is not read";
                findings.add(BundleRule::IgnoredText, &file.path, range, message);
            }
        });
    }
    let unreadable = found.unreadable;
    let annotations = found.annotations.ok_or(BundleError::NoAnnotations { unreadable })?;
    if annotations.package.is_empty() {
        let content = files.iter().find(|file| file.path == annotations.file);
        let content = content.map(|file| file.content.as_slice()).unwrap_or_default();
        let place = BundlePlace::new(&annotations.file, content, annotations.range);
        return Err(BundleError::NoPackage { place });
    }
    Ok(Metadata {
        annotations,
        dependencies: found.dependencies.unwrap_or_default(),
        properties: found.properties.unwrap_or_default(),
    })
}

/// Returns all annotations of a bundle whose values are texts: of the first file that has some, as they
/// are written.
pub fn annotation_texts(files: &[BundleFile]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut tape = Tape::new();
    for entry in directory(files, "metadata").0 {
        stream::read(&entry.file.content, &mut tape, &mut |event| {
            let Event::Document(document) = event else { return };
            let Some(node) = document.root.field("annotations") else { return };
            if texts.is_empty() && node.kind() == Kind::Object {
                texts.extend(node.members().filter_map(|(key, value)| {
                    Some((key.as_str()?.into_owned(), value.as_str()?.into_owned()))
                }));
            }
        });
    }
    texts
}

#[derive(Default)]
struct Found {
    annotations: Option<BundleAnnotations>,
    dependencies: Option<Vec<Property>>,
    properties: Option<Vec<Property>>,
    unreadable: Vec<String>,
}

fn read_document(page: &Page<'_>, found: &mut Found, findings: &mut Findings) {
    let root = page.document.root;
    if let Some(node) = root.field("annotations")
        && expect(page, node, "annotations", Kind::Object, "an object", findings)
        && let Some(annotations) = read_annotations(page, node, findings)
    {
        keep_first(page, node, "annotations", annotations, &mut found.annotations, findings);
    }
    if let Some(node) = root.field("dependencies")
        && expect(page, node, "dependencies", Kind::Array, "a list", findings)
        && node.elements().next().is_some()
    {
        let dependencies = read_entries(page, node, EntryKind::Dependency, findings);
        keep_first(page, node, "dependencies", dependencies, &mut found.dependencies, findings);
    }
    if let Some(node) = root.field("properties")
        && expect(page, node, "properties", Kind::Array, "a list", findings)
        && node.elements().next().is_some()
    {
        let properties = read_entries(page, node, EntryKind::Property, findings);
        keep_first(page, node, "properties", properties, &mut found.properties, findings);
    }
}

/// Tells whether a value has the kind it must have, and reports it if not; `null` is just absent.
fn expect(
    page: &Page<'_>,
    node: Node<'_>,
    name: &str,
    kind: Kind,
    expected: &str,
    findings: &mut Findings,
) -> bool {
    if node.kind() != kind && !node.is_null() {
        let message = format!("`{name}` must be {expected}, not {}", node.kind().name());
        page.find(findings, BundleRule::MetadataWrongType, node, message)
            .help("upstream tools treat the file as absent");
    }
    node.kind() == kind
}

fn keep_first<Value>(
    page: &Page<'_>,
    node: Node<'_>,
    name: &str,
    value: Value,
    slot: &mut Option<Value>,
    findings: &mut Findings,
) {
    if slot.is_none() {
        *slot = Some(value);
        return;
    }
    let message = format!("the bundle has {name} already; these are left out");
    page.find(findings, BundleRule::MetadataRepeated, node, message)
        .help("of several files that have the same key, the first by name is read");
}

/// Reads the annotations; nothing if none of the three that count is there.
fn read_annotations(
    page: &Page<'_>,
    node: Node<'_>,
    findings: &mut Findings,
) -> Option<BundleAnnotations> {
    let read = |name: &str| node.field(name).map(|value| plain_text(page, value));
    let package = read(PACKAGE_ANNOTATION).unwrap_or_default();
    let listed = read(CHANNELS_ANNOTATION).unwrap_or_default();
    let default_channel = read(DEFAULT_CHANNEL_ANNOTATION).unwrap_or_default();
    if package.is_empty() && listed.is_empty() && default_channel.is_empty() {
        return None;
    }
    let channels: Vec<String> = listed
        .split(',')
        .map(str::trim)
        .filter(|channel| !channel.is_empty())
        .map(str::to_owned)
        .collect();
    let channels_node = node.field(CHANNELS_ANNOTATION).unwrap_or(node);
    if !listed.is_empty() && channels.join(",") != listed {
        let message = format!("the list of channels `{listed}` contains blanks or empty names");
        page.find(findings, BundleRule::ChannelsBlank, channels_node, message)
            .help("upstream tools make the blanks part of the channel's name");
    }
    Some(BundleAnnotations {
        file: page.file.path.clone(),
        range: page.range(node),
        package: package.into_owned(),
        channels,
        default_channel: default_channel.into_owned(),
    })
}

/// Returns a string. Upstream: a number or a bool of a YAML file becomes a string where a string
/// is wanted, so the channel `4.10` without quotes is `4.1`.
fn plain_text<'a>(page: &Page<'_>, node: Node<'a>) -> Cow<'a, str> {
    match (node.kind(), page.document.format) {
        (Kind::String, _) => node.as_str().unwrap_or_default(),
        (Kind::Number | Kind::Bool, Format::Yaml) => String::from_utf8_lossy(node.raw()),
        (Kind::Number | Kind::Bool, Format::Json)
        | (Kind::Null | Kind::Array | Kind::Object, _) => Cow::Borrowed(""),
    }
}

/// What the entries of a list are.
#[derive(Clone, Copy)]
enum EntryKind {
    Dependency,
    Property,
}

impl EntryKind {
    fn name(self) -> &'static str {
        match self {
            EntryKind::Dependency => "dependency",
            EntryKind::Property => "property",
        }
    }
}

fn read_entries(
    page: &Page<'_>,
    list: Node<'_>,
    kind: EntryKind,
    findings: &mut Findings,
) -> Vec<Property> {
    let mut entries = Vec::new();
    let mut wrapped = None;
    for element in list.elements() {
        // The documentation also shows each property inside an object of its own.
        let inner = element.field("property").filter(|_| element.field("type").is_none());
        let entry = inner.unwrap_or(element);
        if inner.is_some() {
            wrapped.get_or_insert(element);
        }
        let property_type = entry.field("type").map(|node| plain_text(page, node));
        let Some(property_type) = property_type.filter(|name| !name.is_empty()) else {
            let message = format!("a {} must have a `type` and a `value`", kind.name());
            page.find(findings, BundleRule::MetadataWrongType, element, message)
                .help("upstream tools may treat the whole file as absent");
            continue;
        };
        if let Err((span, message)) = shapes::check_value(&property_type, entry) {
            let range = page.document.place(span);
            findings.add(BundleRule::PropertyMalformed, &page.file.path, range, message);
            continue;
        }
        let value = entry.field("value");
        if let (EntryKind::Dependency, Some(value)) = (kind, value) {
            check_dependency(page, &property_type, value, findings);
        }
        entries.push(Property::read(&property_type, value, page.document.format));
    }
    if let Some(element) = wrapped {
        let message =
            format!("a {} wrapped in `property:` is not read by upstream tools", kind.name());
        page.find(findings, BundleRule::WrappedProperty, element, message)
            .help("write `type` and `value` directly in the list");
    }
    entries
}

fn check_dependency(
    page: &Page<'_>,
    property_type: &str,
    value: Node<'_>,
    findings: &mut Findings,
) {
    let wanted: &[&str] = match property_type {
        types::GVK => &["group", "version", "kind"],
        types::PACKAGE => &["packageName", "version"],
        _ => return,
    };
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|name| text(value.field(name)).is_empty()).collect();
    if !missing.is_empty() {
        let message =
            format!("a dependency of type `{property_type}` lacks `{}`", missing.join("`, `"));
        page.find(findings, BundleRule::DependencyIncomplete, value, message);
    }
    if property_type == types::PACKAGE
        && let Some(node) = value.field("version")
        && let Some(range) = node.as_str()
        && !range.is_empty()
        && let Err(error) = VersionRange::parse(&range)
    {
        let message = format!("the version range `{range}` cannot be read: {error}");
        page.find(findings, BundleRule::DependencyRangeInvalid, node, message);
    }
}
