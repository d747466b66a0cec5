//! Kubernetes manifests of operators: read with diagnostics, gathered per namespace, lowered.
//!
//! This room turns the text of CatalogSources, OperatorGroups, Subscriptions and
//! ClusterServiceVersions into plain values, and those into what a resolution takes. It talks to no
//! cluster and opens no file, and it reads only the fields that a resolution looks at.

mod catalog_source;
mod cluster;
mod diagnostic;
mod lines;
mod lower;
mod metadata;
mod native_apis;
mod operator_group;
mod properties;
mod read;
mod service_version;
mod spelling;
mod subscription;

pub use self::{
    catalog_source::CatalogSource,
    cluster::{Cluster, GroupProblem, NamespaceView},
    diagnostic::{ManifestDiagnostic, ManifestRule, ManifestSeverity, ObjectName},
    lower::{lower_service_version, lower_subscription},
    metadata::Metadata,
    operator_group::{NamespaceSelection, OperatorGroup, UpgradeStrategy},
    properties::PROPERTIES_ANNOTATION,
    read::{
        Located, MAX_DIAGNOSTICS, MAX_MANIFESTS, ManifestReader, Manifests, ObjectKind,
        read_manifests,
    },
    service_version::{ApiServiceKey, ClusterServiceVersion, CrdKey},
    subscription::Subscription,
};
