//! The ClusterServiceVersion: what rendering and channel building take from it.
//!
//! Upstream: the fields directly below `spec` are matched exactly, everything deeper without
//! regard to case, because two decoders take part.

use std::{collections::BTreeSet, ops::Range};

use operon_document::{
    decode_base64,
    json::{Kind, Node, Tape, format_float, number_value},
    stream::Format,
};

use super::{Page, kinds::Identity, shapes, spelling, values};
use crate::{BundleError, BundleRule, Property, finding::Findings, property::text};

const SERVICE_VERSION_API: &str = "operators.coreos.com/v1alpha1";

/// What the ClusterServiceVersion of a bundle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceVersion {
    /// The path of the file it is in.
    pub file: String,
    /// The bytes of the file that hold it.
    pub range: Range<usize>,
    /// `metadata.name`: the name of the bundle.
    pub name: String,
    /// `spec.version`, exactly as it is written; empty if there is none.
    pub version: String,
    /// `spec.release`; empty if there is none.
    pub release: String,
    /// `spec.displayName`
    pub display_name: String,
    /// `spec.description`
    pub description: String,
    /// The first of `spec.icon`, if its data is base64.
    pub icon: Option<Icon>,
    /// `spec.replaces`; empty if there is none.
    pub replaces: String,
    /// `spec.skips`
    pub skips: Vec<String>,
    /// The annotation `olm.skipRange`; empty if there is none.
    pub skip_range: String,
    /// The annotation `olm.substitutesFor`; empty if there is none.
    pub substitutes_for: String,
    /// The entries of the annotation `olm.properties`.
    pub properties: Vec<Property>,
    /// The CRDs the operator brings.
    pub owned_definitions: Vec<DefinitionKey>,
    /// The CRDs the operator needs.
    pub required_definitions: Vec<DefinitionKey>,
    /// The API services the operator brings.
    pub owned_services: Vec<DefinitionKey>,
    /// The API services the operator needs.
    pub required_services: Vec<DefinitionKey>,
    /// `spec.relatedImages`, in the order they are written.
    pub related_images: Vec<RelatedImage>,
    /// The images of all containers of the deployments.
    pub operator_images: BTreeSet<String>,
}

/// An API that a ClusterServiceVersion owns or requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionKey {
    /// The API group; for a CRD it is part of the name instead.
    pub group: String,
    /// The name: `etcdclusters.etcd.database.coreos.com` for a CRD.
    pub name: String,
    /// The version, such as `v1beta2`.
    pub version: String,
    /// The kind, such as `EtcdCluster`.
    pub kind: String,
    /// The bytes of the file that hold it.
    pub range: Range<usize>,
}

/// An image that must be mirrored along with a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedImage {
    /// What it is for; often empty.
    pub name: String,
    /// The image reference.
    pub image: String,
}

/// A picture of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icon {
    /// Its bytes.
    pub data: Vec<u8>,
    /// Its media type, such as `image/svg+xml`.
    pub media_type: String,
}

impl ServiceVersion {
    pub(super) fn read(
        page: &Page<'_>,
        identity: &Identity,
        findings: &mut Findings,
    ) -> Result<Self, BundleError> {
        let root = page.document.root;
        let incomplete =
            |field| BundleError::ServiceVersionIncomplete { place: page.place(), field };
        check_form(page, identity, findings);
        spelling::check(page, findings);
        let metadata = root.field("metadata");
        let name = text(metadata.and_then(|metadata| metadata.field("name")));
        if name.is_empty() {
            return Err(incomplete("metadata.name"));
        }
        let spec = root.get("spec").filter(|spec| spec.kind() == Kind::Object);
        let spec = spec.ok_or_else(|| incomplete("spec"))?;
        let annotations = metadata.and_then(|metadata| metadata.field("annotations"));
        values::check(page, spec, annotations, findings);
        let annotation = |key: &str| annotations.and_then(|annotations| annotations.get(key));
        let definitions = spec.get("customresourcedefinitions");
        let services = spec.get("apiservicedefinitions");
        Ok(Self {
            file: page.file.path.clone(),
            range: page.document.span(),
            name,
            version: text(spec.get("version")),
            release: release(spec.get("release")),
            display_name: text(spec.get("displayName")),
            description: text(spec.get("description")),
            icon: spec.get("icon").and_then(|icons| icons.elements().next()).and_then(icon),
            replaces: text(spec.get("replaces")),
            skips: texts(spec.get("skips")),
            skip_range: text(annotation("olm.skipRange")),
            substitutes_for: text(annotation("olm.substitutesFor")),
            properties: annotation("olm.properties")
                .map(|node| annotation_properties(page, node, findings))
                .unwrap_or_default(),
            owned_definitions: keys(page, definitions, "owned"),
            required_definitions: keys(page, definitions, "required"),
            owned_services: keys(page, services, "owned"),
            required_services: keys(page, services, "required"),
            related_images: related_images(page, spec, findings),
            operator_images: operator_images(spec),
        })
    }
}

fn check_form(page: &Page<'_>, identity: &Identity, findings: &mut Findings) {
    let root = page.document.root;
    if identity.api_version() != SERVICE_VERSION_API {
        let message = format!(
            "a ClusterServiceVersion has the apiVersion `{SERVICE_VERSION_API}`, not `{}`",
            identity.api_version()
        );
        let node = root.get("apiVersion").unwrap_or(root);
        page.find(findings, BundleRule::WrongApiVersion, node, message)
            .help("upstream tools look at the kind only, but the object as written is refused by a cluster");
    }
    if let Err(mismatch) = shapes::SERVICE_VERSION.check(root) {
        let message =
            format!("`{}` must be {}, not {}", mismatch.path, mismatch.expected, mismatch.found);
        let range = page.document.place(mismatch.span);
        findings
            .add(BundleRule::FieldWrongType, &page.file.path, range, message)
            .help("in YAML, a number, `true` or `yes` is a string only between quotes");
    }
}

/// Returns the release, which may be written as a number.
fn release(node: Option<Node<'_>>) -> String {
    let Some(node) = node else {
        return String::new();
    };
    match node.kind() {
        Kind::Number => number_value(node.raw()).map(format_float).unwrap_or_default(),
        Kind::Null | Kind::Bool | Kind::String | Kind::Array | Kind::Object => text(Some(node)),
    }
}

fn icon(node: Node<'_>) -> Option<Icon> {
    let data = decode_base64(text(node.field("base64data")).as_bytes()).ok()?;
    Some(Icon { data, media_type: text(node.field("mediatype")) })
}

fn texts(list: Option<Node<'_>>) -> Vec<String> {
    list.into_iter().flat_map(Node::elements).map(|element| text(Some(element))).collect()
}

/// Reads the annotation `olm.properties`, a JSON list inside a string.
fn annotation_properties(
    page: &Page<'_>,
    node: Node<'_>,
    findings: &mut Findings,
) -> Vec<Property> {
    let mut report = |message: String| {
        page.find(findings, BundleRule::AnnotationPropertiesUnreadable, node, message).help(
            "upstream tools ignore what they cannot read here; prefer `metadata/properties.yaml`",
        );
    };
    let written = text(Some(node));
    let mut tape = Tape::new();
    let list = match tape.read(written.as_bytes()) {
        Ok(list) => list,
        Err(error) => {
            report(format!("the annotation `olm.properties` is not JSON: {error}"));
            return Vec::new();
        }
    };
    if !matches!(list.kind(), Kind::Array | Kind::Null) {
        report("the annotation `olm.properties` is not a list".to_owned());
    }
    let mut properties = Vec::new();
    for (index, entry) in list.elements().enumerate() {
        let Some(property_type) = entry.field("type").and_then(Node::as_str) else {
            report(format!("entry {index} of the annotation `olm.properties` has no type"));
            continue;
        };
        if let Err((_, message)) = shapes::check_value(&property_type, entry) {
            report(format!("entry {index} of the annotation `olm.properties`: {message}"));
            continue;
        }
        properties.push(Property::read(&property_type, entry.field("value"), Format::Json));
    }
    properties
}

fn keys(page: &Page<'_>, definitions: Option<Node<'_>>, list: &str) -> Vec<DefinitionKey> {
    definitions
        .and_then(|definitions| definitions.field(list))
        .into_iter()
        .flat_map(Node::elements)
        .map(|key| DefinitionKey {
            group: text(key.field("group")),
            name: text(key.field("name")),
            version: text(key.field("version")),
            kind: text(key.field("kind")),
            range: page.range(key),
        })
        .collect()
}

fn related_images(page: &Page<'_>, spec: Node<'_>, findings: &mut Findings) -> Vec<RelatedImage> {
    let mut images = Vec::new();
    for entry in spec.get("relatedImages").into_iter().flat_map(Node::elements) {
        let image = text(entry.field("image"));
        if image.is_empty() {
            let message = "a related image has no `image`";
            let finding = page.find(findings, BundleRule::RelatedImageIncomplete, entry, message);
            if entry.field("value").is_some() {
                finding.help("the field is called `image`, not `value`");
            }
        }
        images.push(RelatedImage { name: text(entry.field("name")), image });
    }
    images
}

/// Returns the images of all containers of the deployments; other strategies have none.
fn operator_images(spec: Node<'_>) -> BTreeSet<String> {
    let mut images = BTreeSet::new();
    let Some(install) = spec.field("install") else {
        return images;
    };
    if text(install.field("strategy")) != "deployment" {
        return images;
    }
    for deployment in elements_at(install, &["spec", "deployments"]) {
        for list in ["containers", "initContainers"] {
            let containers = elements_at(deployment, &["spec", "template", "spec", list]);
            images.extend(containers.map(|container| text(container.field("image"))));
        }
    }
    images
}

fn elements_at<'a>(from: Node<'a>, path: &[&str]) -> impl Iterator<Item = Node<'a>> + use<'a> {
    let list = path.iter().try_fold(from, |node, name| node.field(name));
    list.into_iter().flat_map(Node::elements)
}
