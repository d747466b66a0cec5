//! Custom resource definitions: which APIs a CRD among the manifests provides.

use operon_document::json::{Kind, Node};

use super::{Page, kinds::Identity};
use crate::{
    BundleRule,
    finding::Findings,
    property::{Gvk, text},
};

const DEFINITION_GROUP: &str = "apiextensions.k8s.io";

/// An API that a bundle brings: one version of a custom resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProvidedApi {
    /// The API group, such as `etcd.database.coreos.com`.
    pub group: String,
    /// The version, such as `v1beta2`.
    pub version: String,
    /// The kind, such as `EtcdCluster`.
    pub kind: String,
    /// The plural name, such as `etcdclusters`.
    pub plural: String,
}

impl ProvidedApi {
    pub(crate) fn gvk(&self) -> Gvk {
        Gvk { group: self.group.clone(), kind: self.kind.clone(), version: self.version.clone() }
    }
}

/// Returns the APIs of a CRD.
///
/// Upstream: a definition of another version than `v1` and `v1beta1` provides nothing, and one of
/// another group makes the bundle unreadable.
pub(super) fn read(
    page: &Page<'_>,
    identity: &Identity,
    findings: &mut Findings,
) -> Vec<ProvidedApi> {
    let root = page.document.root;
    let api_version = root.get("apiVersion").unwrap_or(root);
    if !matches!(identity.version.as_str(), "v1" | "v1beta1") {
        let message = format!(
            "a CustomResourceDefinition has the apiVersion `{DEFINITION_GROUP}/v1`, not `{}`; its APIs are not counted",
            identity.api_version()
        );
        page.find(findings, BundleRule::WrongApiVersion, api_version, message);
        return Vec::new();
    }
    if identity.group != DEFINITION_GROUP {
        let message = format!(
            "a CustomResourceDefinition belongs to the group `{DEFINITION_GROUP}`, not `{}`",
            identity.group
        );
        page.find(findings, BundleRule::DefinitionForeignGroup, api_version, message);
        return Vec::new();
    }
    let Some(spec) = root.get("spec") else {
        return Vec::new();
    };
    let mut versions: Vec<String> = spec
        .get("versions")
        .into_iter()
        .flat_map(Node::elements)
        .map(|version| text(version.get("name")))
        .collect();
    if identity.version == "v1beta1"
        && let Some(version) = spec.get("version")
        && version.kind() == Kind::String
    {
        versions.extend(Some(text(Some(version))).filter(|version| !version.is_empty()));
    }
    let name = |key: &str| text(spec.get("names").and_then(|names| names.get(key)));
    let (group, kind, plural) = (text(spec.get("group")), name("kind"), name("plural"));
    versions
        .into_iter()
        .map(|version| ProvidedApi {
            group: group.clone(),
            version,
            kind: kind.clone(),
            plural: plural.clone(),
        })
        .collect()
}
