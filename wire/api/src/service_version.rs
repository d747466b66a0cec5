//! ClusterServiceVersion: an installed operator.
//!
//! How it is deployed, and everything made for people to look at, is not read here.

use operon_document::json::{Node, Shape};
use operon_version::Version;

use crate::{
    diagnostic::{Fault, ManifestRule},
    metadata::{METADATA, Metadata, field, member, text},
};

/// A ClusterServiceVersion (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterServiceVersion {
    /// `metadata`
    pub metadata: Metadata,
    /// `spec.version`, read tolerantly; `0.0.0` when there is none.
    pub version: Version,
    /// `spec.replaces`
    pub replaces: String,
    /// `spec.customresourcedefinitions.owned`
    pub owned_crds: Vec<CrdKey>,
    /// `spec.customresourcedefinitions.required`
    pub required_crds: Vec<CrdKey>,
    /// `spec.apiservicedefinitions.owned`
    pub owned_api_services: Vec<ApiServiceKey>,
    /// `spec.apiservicedefinitions.required`
    pub required_api_services: Vec<ApiServiceKey>,
    /// `status.phase`, such as `Succeeded`
    pub phase: String,
    /// `status.reason`, such as `Copied`
    pub reason: String,
}

/// A CustomResourceDefinition that an operator owns or requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrdKey {
    /// `etcdclusters.etcd.database.coreos.com`: the plural and the group.
    pub name: String,
    /// `v1beta2`
    pub version: String,
    /// `EtcdCluster`
    pub kind: String,
}

/// An APIService that an operator owns or requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServiceKey {
    /// `packagemanifests`: the plural.
    pub name: String,
    /// `packages.operators.coreos.com`
    pub group: String,
    /// `v1`
    pub version: String,
    /// `PackageManifest`
    pub kind: String,
}

impl ClusterServiceVersion {
    pub(crate) const SHAPE: Shape = Shape::Struct(&[
        field("metadata", &METADATA),
        field(
            "spec",
            &Shape::Struct(&[
                field("version", &Shape::Text),
                field("replaces", &Shape::Text),
                field("customresourcedefinitions", &DEFINITIONS),
                field("apiservicedefinitions", &DEFINITIONS),
            ]),
        ),
        field(
            "status",
            &Shape::Struct(&[field("phase", &Shape::Text), field("reason", &Shape::Text)]),
        ),
    ]);

    /// Tells whether it is the copy of one in another namespace, which no resolution looks at.
    pub fn is_copied(&self) -> bool {
        let Metadata { namespace, labels, annotations, .. } = &self.metadata;
        let home = annotations.get("olm.operatorNamespace");
        self.reason == "Copied"
            || labels.contains_key("olm.copiedFrom")
            || home.is_some_and(|home| home != namespace)
    }

    pub(crate) fn read(root: Node<'_>, metadata: Metadata) -> Result<Self, Fault> {
        let spec = member(root, "spec");
        let status = member(root, "status");
        let list = |section: &str, name: &str| spec?.get(section)?.get(name);
        Ok(Self {
            version: version(spec)?,
            replaces: text(spec, "replaces"),
            owned_crds: crds(list("customresourcedefinitions", "owned")),
            required_crds: crds(list("customresourcedefinitions", "required")),
            owned_api_services: api_services(list("apiservicedefinitions", "owned")),
            required_api_services: api_services(list("apiservicedefinitions", "required")),
            phase: text(status, "phase"),
            reason: text(status, "reason"),
            metadata,
        })
    }
}

const DEFINITIONS: Shape =
    Shape::Struct(&[field("owned", &Shape::List(&KEY)), field("required", &Shape::List(&KEY))]);

const KEY: Shape = Shape::Struct(&[
    field("name", &Shape::Text),
    field("group", &Shape::Text),
    field("version", &Shape::Text),
    field("kind", &Shape::Text),
]);

fn version(spec: Option<Node<'_>>) -> Result<Version, Fault> {
    let Some(node) = spec.and_then(|spec| member(spec, "version")) else {
        return Ok(Version::new(0, 0, 0));
    };
    let written = node.as_str().unwrap_or_default();
    Version::parse_tolerant(&written).map_err(|error| {
        let message = format!("`{written}` cannot be read: {error}");
        Fault::new(ManifestRule::InvalidValue, node.span(), "spec.version", message)
            .help("write a semantic version, such as `1.2.3`")
    })
}

fn crds(list: Option<Node<'_>>) -> Vec<CrdKey> {
    let key = |node: Node<'_>| CrdKey {
        name: text(Some(node), "name"),
        version: text(Some(node), "version"),
        kind: text(Some(node), "kind"),
    };
    list.into_iter().flat_map(Node::elements).map(key).collect()
}

fn api_services(list: Option<Node<'_>>) -> Vec<ApiServiceKey> {
    let key = |node: Node<'_>| ApiServiceKey {
        name: text(Some(node), "name"),
        group: text(Some(node), "group"),
        version: text(Some(node), "version"),
        kind: text(Some(node), "kind"),
    };
    list.into_iter().flat_map(Node::elements).map(key).collect()
}
