//! What every object says about itself, and the small readers that all kinds share.

use std::collections::BTreeMap;

use operon_document::json::{Field, Node, Shape};

use crate::diagnostic::{Fault, ManifestRule};

/// The part of `metadata` that a resolution looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `name`
    pub name: String,
    /// `namespace`; empty when the manifest leaves it to whoever applies it.
    pub namespace: String,
    /// `labels`
    pub labels: BTreeMap<String, String>,
    /// `annotations`
    pub annotations: BTreeMap<String, String>,
    /// `creationTimestamp` as written; empty for an object that was never in a cluster.
    pub creation_timestamp: String,
}

impl Metadata {
    pub(crate) fn read(root: Node<'_>) -> Result<Self, Fault> {
        let missing = |node: Node<'_>, path: &str| {
            Fault::new(ManifestRule::MissingField, node.span(), path, "is missing")
                .help("every object needs a name")
        };
        let metadata = member(root, "metadata");
        let name = text(metadata, "name");
        if name.is_empty() {
            return Err(missing(metadata.unwrap_or(root), "metadata.name"));
        }
        Ok(Self {
            name,
            namespace: text(metadata, "namespace"),
            labels: text_map(metadata, "labels"),
            annotations: text_map(metadata, "annotations"),
            creation_timestamp: text(metadata, "creationTimestamp"),
        })
    }
}

/// The form of `metadata`.
pub(crate) const METADATA: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("namespace", &Shape::Text),
    field("labels", &TEXT_MAP),
    field("annotations", &TEXT_MAP),
    field("creationTimestamp", &Shape::Text),
]);

pub(crate) const TEXT_MAP: Shape = Shape::Map(&Shape::Text);
pub(crate) const TEXT_LIST: Shape = Shape::List(&Shape::Text);

pub(crate) const fn field(name: &'static str, shape: &'static Shape) -> Field {
    Field { name, shape }
}

/// Returns a member that is not `null`.
///
/// Upstream: unlike most of Go's decoders, those of Kubernetes match names exactly.
pub(crate) fn member<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.get(name).filter(|value| !value.is_null())
}

/// Returns the text of a member; empty when there is none, or no object at all.
pub(crate) fn text(node: Option<Node<'_>>, name: &str) -> String {
    node.and_then(|node| node.get(name)).and_then(Node::as_str).unwrap_or_default().into_owned()
}

/// Returns the texts of a list.
pub(crate) fn text_list(node: Option<Node<'_>>, name: &str) -> Vec<String> {
    let list = node.and_then(|node| node.get(name));
    let elements = list.into_iter().flat_map(Node::elements);
    elements.map(|element| element.as_str().unwrap_or_default().into_owned()).collect()
}

/// Returns the texts of an object with free keys.
pub(crate) fn text_map(node: Option<Node<'_>>, name: &str) -> BTreeMap<String, String> {
    let texts = |(key, value): (Node<'_>, Node<'_>)| {
        let text = |node: Node<'_>| node.as_str().unwrap_or_default().into_owned();
        (text(key), text(value))
    };
    let map = node.and_then(|node| node.get(name));
    map.into_iter().flat_map(Node::members).map(texts).collect()
}
