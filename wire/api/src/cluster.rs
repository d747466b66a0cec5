//! The objects of a cluster, and what of them a namespace sees.
//!
//! Contradictions are reported, never settled by guessing: an object that is given twice with
//! different content is left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use operon_constraint::GroupVersionKind;

use crate::{
    CatalogSource, ClusterServiceVersion, Located, MAX_DIAGNOSTICS, ManifestDiagnostic,
    ManifestRule, ManifestSeverity, Manifests, Metadata, ObjectName, OperatorGroup, Subscription,
    UpgradeStrategy,
};

/// The objects of a cluster, each once, sorted by namespace and name.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    /// The CatalogSources.
    pub catalog_sources: Vec<CatalogSource>,
    /// The OperatorGroups.
    pub operator_groups: Vec<OperatorGroup>,
    /// The Subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// The ClusterServiceVersions, copies among them.
    pub service_versions: Vec<ClusterServiceVersion>,
    /// The APIs that the cluster provides by itself, where they are known.
    pub native_apis: Option<BTreeSet<GroupVersionKind>>,
    /// What was found wrong with the manifests, contradictions last.
    pub diagnostics: Vec<ManifestDiagnostic>,
    /// How many findings about single manifests were not kept.
    pub unreported: usize,
}

/// What a resolution of one namespace sees.
#[derive(Debug, Clone)]
pub struct NamespaceView<'c> {
    /// The only OperatorGroup of the namespace.
    pub group: Result<&'c OperatorGroup, GroupProblem>,
    /// The CatalogSources of the namespace, and those of the global one unless it is hidden.
    pub catalog_sources: Vec<&'c CatalogSource>,
    /// The Subscriptions of the namespace.
    pub subscriptions: Vec<&'c Subscription>,
    /// The ClusterServiceVersions of the namespace, without copies.
    pub service_versions: Vec<&'c ClusterServiceVersion>,
}

/// A namespace does not have exactly one OperatorGroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupProblem {
    /// How many it has.
    pub found: usize,
}

/// Upstream: the words of the step that reads the installed operators of a namespace.
impl fmt::Display for GroupProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "found {} operatorGroups, expected 1", self.found)
    }
}

impl std::error::Error for GroupProblem {}

impl NamespaceView<'_> {
    /// Tells whether an operator may be moved on from a version that failed.
    pub fn fails_forward(&self) -> bool {
        self.group.is_ok_and(|group| match group.upgrade_strategy {
            UpgradeStrategy::UnsafeFailForward => true,
            UpgradeStrategy::Default => false,
        })
    }
}

impl Cluster {
    /// Gathers manifests; those that name no namespace lie in `home`, as applying them there would
    /// have it.
    pub fn new(manifests: Manifests, home: &str) -> Self {
        let mut diagnostics = manifests.diagnostics;
        Self {
            catalog_sources: settle(manifests.catalog_sources, home, &mut diagnostics, |object| {
                ("CatalogSource", &mut object.metadata)
            }),
            operator_groups: settle(manifests.operator_groups, home, &mut diagnostics, |object| {
                ("OperatorGroup", &mut object.metadata)
            }),
            subscriptions: settle(manifests.subscriptions, home, &mut diagnostics, |object| {
                ("Subscription", &mut object.metadata)
            }),
            service_versions: settle(
                manifests.service_versions,
                home,
                &mut diagnostics,
                |object| ("ClusterServiceVersion", &mut object.metadata),
            ),
            native_apis: manifests.native_apis,
            diagnostics,
            unreported: manifests.unreported,
        }
    }

    /// Returns what a resolution of a namespace sees; `global_catalogs` is the namespace whose
    /// catalogs are visible everywhere.
    pub fn view(&self, namespace: &str, global_catalogs: &str) -> NamespaceView<'_> {
        let is_here = |metadata: &Metadata| metadata.namespace == namespace;
        let groups: Vec<&OperatorGroup> =
            self.operator_groups.iter().filter(|group| is_here(&group.metadata)).collect();
        let group = match groups[..] {
            [group] => Ok(group),
            _ => Err(GroupProblem { found: groups.len() }),
        };
        let sees_global = !group.is_ok_and(OperatorGroup::exclude_global);
        let is_visible = |source: &&CatalogSource| {
            let metadata = &source.metadata;
            is_here(metadata) || (sees_global && metadata.namespace == global_catalogs)
        };
        NamespaceView {
            group,
            catalog_sources: self.catalog_sources.iter().filter(is_visible).collect(),
            subscriptions: self
                .subscriptions
                .iter()
                .filter(|subscription| is_here(&subscription.metadata))
                .collect(),
            service_versions: self
                .service_versions
                .iter()
                .filter(|version| is_here(&version.metadata) && !version.is_copied())
                .collect(),
        }
    }
}

/// Keeps each object once; objects of one name that differ are reported and left out.
fn settle<T: PartialEq>(
    objects: Vec<Located<T>>,
    home: &str,
    diagnostics: &mut Vec<ManifestDiagnostic>,
    identify: fn(&mut T) -> (&'static str, &mut Metadata),
) -> Vec<T> {
    let mut by_name: BTreeMap<(String, String), Vec<Located<T>>> = BTreeMap::new();
    let mut kind = "";
    for mut located in objects {
        let (object_kind, metadata) = identify(&mut located.object);
        kind = object_kind;
        if metadata.namespace.is_empty() {
            home.clone_into(&mut metadata.namespace);
        }
        let name = (metadata.namespace.clone(), metadata.name.clone());
        by_name.entry(name).or_default().push(located);
    }
    let mut settled = Vec::with_capacity(by_name.len());
    let most = diagnostics.len() + MAX_DIAGNOSTICS;
    for ((namespace, name), mut copies) in by_name {
        let first = copies.swap_remove(0);
        match copies.iter().find(|copy| copy.object != first.object) {
            None => settled.push(first.object),
            Some(_) if diagnostics.len() >= most => {}
            Some(other) => {
                let object = ObjectName { kind: kind.to_owned(), namespace, name };
                diagnostics.push(contradiction(object, &first, other));
            }
        }
    }
    settled
}

fn contradiction<T>(
    object: ObjectName,
    first: &Located<T>,
    other: &Located<T>,
) -> ManifestDiagnostic {
    let line = first.line.map_or_else(String::new, |line| format!(":{line}"));
    ManifestDiagnostic {
        severity: ManifestSeverity::Error,
        rule: ManifestRule::Contradiction,
        file: other.file.to_string(),
        line: other.line,
        object: Some(object),
        path: String::new(),
        message: format!("has other content here than at {}{line}", first.file),
        help: "leave one of the two, the one that is true".to_owned(),
    }
}
