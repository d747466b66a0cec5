//! Kubernetes manifests: read with diagnostics, written, lowered for a resolution, shown as tables.
//!
//! This room turns text into whole objects and back ([`read_objects`], [`write_yaml`]), and the text
//! of CatalogSources, OperatorGroups, Subscriptions and ClusterServiceVersions into what a resolution
//! takes ([`read_manifests`], which reads only the fields that it looks at). It holds the
//! CustomResourceDefinitions of these kinds ([`crds`]) and knows what people call kinds and like to
//! see of them ([`kind_by_word`], [`table_for`]). It talks to no cluster and opens no file.

mod catalog_source;
mod cluster;
mod crds;
mod diagnostic;
mod json_text;
mod kind_words;
mod lines;
mod lower;
mod metadata;
mod native_apis;
mod objects;
mod operator_group;
mod properties;
mod read;
mod service_version;
mod spelling;
mod subscription;
mod tables;
mod yaml_text;

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
pub use self::{
    crds::{CrdManifest, crd_objects, crds},
    json_text::write_json_pretty,
    kind_words::kind_by_word,
    objects::{LocatedObject, MAX_LIST_DEPTH, ObjectManifests, read_objects},
    tables::{Table, TableOptions, render_table, table_for},
    yaml_text::write_yaml,
};
