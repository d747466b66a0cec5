//! OperatorGroup: which namespaces the operators of a namespace look after, and how they update.

use operon_object::{Object, Value};

use crate::names;

/// An OperatorGroup (`operators.coreos.com/v1` or `v1alpha2`).
#[derive(Debug, Clone, Copy)]
pub struct OperatorGroup<'o> {
    /// The object.
    pub object: &'o Object,
}

/// Whether an operator may be moved on from a version that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpgradeStrategy {
    /// A failed version stays until somebody looks at it.
    Default,
    /// A failed version may be replaced.
    UnsafeFailForward,
}

/// What a group says about the namespaces it targets.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets<'o> {
    /// All namespaces.
    All,
    /// These, sorted.
    Named(Vec<&'o str>),
    /// Those whose labels a selector meets.
    Selected(&'o Value),
}

impl<'o> OperatorGroup<'o> {
    /// Reads an object as an OperatorGroup.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Returns its name.
    pub fn name(self) -> &'o str {
        self.object.name()
    }

    /// Returns the strategy, which is a text in clusters and a map with a name in older documents.
    pub fn upgrade_strategy(self) -> UpgradeStrategy {
        let strategy = self.object.spec().get("upgradeStrategy");
        let name = strategy.as_text().unwrap_or_else(|| strategy.get("name").str());
        match name {
            "UnsafeFailForward" | "TechPreviewUnsafeFailForward" => {
                UpgradeStrategy::UnsafeFailForward
            }
            _ => UpgradeStrategy::Default,
        }
    }

    /// Returns which namespaces it asks for; names go before a selector.
    pub fn targets(self) -> Targets<'o> {
        let spec = self.object.spec();
        let mut names: Vec<&str> = spec.get("targetNamespaces").iter_texts().collect();
        if !names.is_empty() {
            names.sort_unstable();
            names.dedup();
            return Targets::Named(names);
        }
        let selector = spec.get("selector");
        let is_empty =
            ["matchLabels", "matchExpressions"].iter().all(|name| selector.get(name).is_empty());
        if is_empty { Targets::All } else { Targets::Selected(selector) }
    }

    /// Returns the namespaces that it was last seen to target; one empty text for all.
    pub fn status_namespaces(self) -> Vec<&'o str> {
        self.object.status().get("namespaces").iter_texts().collect()
    }

    /// Returns `true` if its status was written.
    pub fn has_status(self) -> bool {
        !self.object.status().get("lastUpdated").is_null()
    }

    /// Returns the service account that installs for it; empty for none.
    pub fn service_account(self) -> &'o str {
        self.object.spec().get("serviceAccountName").str()
    }

    /// Tells whether the list of its provided APIs is fixed by hand.
    pub fn is_static(self) -> bool {
        self.object.spec().get("staticProvidedAPIs").as_bool().unwrap_or(false)
    }

    /// Returns the APIs that it was last seen to provide, as `Kind.version.group`.
    pub fn provided_apis(self) -> impl Iterator<Item = String> {
        let list = self.object.annotation(names::PROVIDED_APIS_ANNOTATION).unwrap_or_default();
        list.split(',').map(|name| name.replace(' ', "")).filter(|name| !name.is_empty())
    }

    /// Tells whether the catalogs of the global namespace are hidden.
    ///
    /// Upstream: only the text `true` counts, not `True` or `1`.
    pub fn excludes_global(self) -> bool {
        self.object.annotation(names::EXCLUDE_GLOBAL_ANNOTATION) == Some("true")
    }

    /// Tells whether one plan is made for the whole namespace, as upstream does.
    pub fn plans_by_namespace(self) -> bool {
        self.object.annotation(names::PLAN_SCOPE_ANNOTATION) == Some("namespace")
    }
}
