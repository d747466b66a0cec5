//! What a resolution looks at: visible catalogs, what is installed, and what is asked for.
//!
//! These are plain values that say what a cluster says. Where they come from, and which catalogs
//! are visible in a namespace, is decided by whoever gathers them.

use std::collections::BTreeSet;
use std::fmt;

use operon_catalog::Catalog;
use operon_constraint::GroupVersionKind;
use operon_version::Version;

/// Everything a resolution of one namespace may look at, except the requests.
#[derive(Debug, Clone)]
pub struct Universe<'a> {
    /// The namespace that is resolved.
    pub namespace: String,
    /// The catalogs that are visible in it, in any order.
    pub sources: Vec<Source<'a>>,
    /// The operators that are installed in it, without copies from other namespaces.
    pub installed: Vec<Installed>,
    /// Whether an operator may be moved on from a version that failed.
    pub fail_forward: bool,
    /// The APIs that the cluster provides without any operator, when they are known.
    pub native_apis: Option<BTreeSet<GroupVersionKind>>,
}

impl<'a> Universe<'a> {
    /// Returns the universe of a namespace that sees catalogs of equal priority and has no operator.
    pub fn of_catalogs(catalogs: impl IntoIterator<Item = (SourceName, &'a Catalog)>) -> Self {
        let sources = catalogs.into_iter().map(|(name, catalog)| Source {
            name,
            priority: 0,
            content: Content::Ready(catalog),
        });
        Self {
            namespace: String::new(),
            sources: sources.collect(),
            installed: Vec::new(),
            fail_forward: false,
            native_apis: None,
        }
    }

    /// Returns the catalog of this name, if it is visible and can be read.
    pub fn catalog(&self, name: &SourceName) -> Option<&'a Catalog> {
        self.sources.iter().find(|source| source.name == *name).and_then(|source| {
            match source.content {
                Content::Ready(catalog) => Some(catalog),
                Content::Unavailable(_) => None,
            }
        })
    }
}

/// The name of a catalog: that of its CatalogSource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName {
    /// The namespace of the CatalogSource.
    pub namespace: String,
    /// The name of the CatalogSource.
    pub name: String,
}

impl fmt::Display for SourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// A catalog that is visible in the namespace.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// Its name.
    pub name: SourceName,
    /// Its priority: higher is preferred.
    pub priority: i64,
    /// What it offers.
    pub content: Content<'a>,
}

/// What a catalog offers.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// The catalog can be read.
    Ready(&'a Catalog),
    /// The catalog cannot be read, for this reason.
    Unavailable(String),
}

/// An installed operator: a ClusterServiceVersion of the namespace.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The name of the ClusterServiceVersion.
    pub name: String,
    /// Its version; `0.0.0` when it states none.
    pub version: Version,
    /// The name of the ClusterServiceVersion that it replaces; may be empty.
    pub replaces: String,
    /// Its phase, such as `Succeeded`; may be empty.
    pub phase: String,
    /// What it says about itself.
    pub properties: InstalledProperties,
}

/// Where the properties of an installed operator come from.
#[derive(Debug, Clone)]
pub enum InstalledProperties {
    /// From its annotation, which counts alone: types and the JSON texts of values, in order.
    Annotated(Vec<(String, String)>),
    /// It has no annotation: from the APIs it owns and requires.
    Derived {
        /// The APIs of its owned CustomResourceDefinitions and APIServices.
        owned: Vec<GroupVersionKind>,
        /// The APIs of its required CustomResourceDefinitions and APIServices.
        required: Vec<GroupVersionKind>,
    },
    /// They cannot be read: the whole reason as upstream words it, such as `failed to retrieve
    /// properties of csv "x": …` or `error parsing crd name: x`.
    Unreadable(String),
}

/// What is asked for: a Subscription.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The name of the Subscription.
    pub name: String,
    /// The package.
    pub package: String,
    /// The channel; empty for any.
    pub channel: String,
    /// The catalog that it names: `spec.source` and `spec.sourceNamespace`.
    pub source: Option<SourceName>,
    /// The bundle that a fresh installation starts with; may be empty.
    pub starting_csv: String,
    /// The installed operator that belongs to it, `status.installedCSV`; may be empty.
    pub installed_csv: String,
    /// The operator that it was last told to become, `status.currentCSV`; may be empty.
    pub current_csv: String,
    /// Whether a person approves what is done for it.
    pub manual_approval: bool,
    /// The only bundles that it may move to; nothing where every bundle will do.
    pub allowed: Option<Allowed>,
}

/// The only bundles that a request may move to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Their names.
    pub bundles: BTreeSet<String>,
    /// Who says so, for people: `it is pinned to 1.4.3`.
    pub because: String,
}
