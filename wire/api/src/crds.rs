//! The CustomResourceDefinitions of the kinds that users of operators write.
//!
//! They are data, in the folder `crds`: names, versions, columns, and a schema for every field. Below
//! pod templates and the like the schemas stop and keep what they do not know. Putting them into a
//! cluster is not done here.

use std::sync::LazyLock;

use operon_object::{
    Kind, Object,
    known::{
        CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OLM_CONFIG, OPERATOR,
        OPERATOR_CONDITION, OPERATOR_GROUP, SUBSCRIPTION,
    },
};

use crate::read_objects;

/// A CustomResourceDefinition as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrdManifest {
    /// The kind that it brings to a cluster, such as `Subscription`.
    pub kind: Kind,
    /// The manifest, one YAML document.
    pub text: &'static str,
}

/// Returns the manifests of the eight kinds of `operators.coreos.com`.
pub fn crds() -> &'static [CrdManifest] {
    const CRDS: &[CrdManifest] = &[
        CrdManifest {
            kind: CLUSTER_SERVICE_VERSION,
            text: include_str!("../crds/clusterserviceversions.yaml"),
        },
        CrdManifest { kind: INSTALL_PLAN, text: include_str!("../crds/installplans.yaml") },
        CrdManifest { kind: SUBSCRIPTION, text: include_str!("../crds/subscriptions.yaml") },
        CrdManifest { kind: CATALOG_SOURCE, text: include_str!("../crds/catalogsources.yaml") },
        CrdManifest { kind: OPERATOR_GROUP, text: include_str!("../crds/operatorgroups.yaml") },
        CrdManifest {
            kind: OPERATOR_CONDITION,
            text: include_str!("../crds/operatorconditions.yaml"),
        },
        CrdManifest { kind: OLM_CONFIG, text: include_str!("../crds/olmconfigs.yaml") },
        CrdManifest { kind: OPERATOR, text: include_str!("../crds/operators.yaml") },
    ];
    CRDS
}

/// Returns the manifests of [`crds`] as objects, in the same order.
pub fn crd_objects() -> Vec<Object> {
    CRD_OBJECTS.clone()
}

/// Returns the CustomResourceDefinition of one of the eight kinds.
pub(crate) fn crd_of(kind: &Kind) -> Option<&'static Object> {
    let position = crds().iter().position(|crd| crd.kind == *kind)?;
    CRD_OBJECTS.get(position)
}

static CRD_OBJECTS: LazyLock<Vec<Object>> = LazyLock::new(|| {
    let objects = |crd: &CrdManifest| read_objects("crds", crd.text.as_bytes()).objects;
    crds().iter().flat_map(objects).map(|located| located.object).collect()
});
