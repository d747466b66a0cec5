//! Everything a decision rests on.
//!
//! A world is put together by the driver and never changes while it is looked at. What is not in it
//! does not exist for a decision: there is no second door.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use operon_catalog::Catalog;
use operon_constraint::GroupVersionKind;
use operon_object::{Kind, Timestamp};
use operon_plan::BundleContents;
use operon_resolve::{Limits, Semantics, SourceName};

use crate::{Failures, Memory, Objects};

/// What is known of a cluster at a point in time.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The time.
    pub now: Timestamp,
    /// The objects of the cluster.
    pub objects: &'a Objects,
    /// The catalogs, by the CatalogSources they belong to.
    pub catalogs: &'a BTreeMap<SourceName, CatalogState>,
    /// The contents of bundles that were asked for.
    pub bundles: &'a BTreeMap<BundleKey, BundleState>,
    /// What could not be done.
    pub failures: &'a Failures,
    /// The kinds of users' objects that are seen; all other such kinds are not.
    pub seen: &'a BTreeSet<Kind>,
    /// How the engine is set up.
    pub settings: &'a Settings,
}

/// What is known of a catalog.
#[derive(Debug, Clone, Default)]
pub struct CatalogState {
    /// What it offered when it could last be read.
    pub catalog: Option<Arc<Catalog>>,
    /// Names that content: equal digests, equal content.
    pub digest: String,
    /// When that content was read.
    pub read: Timestamp,
    /// The image it was read from, by its digest; empty when it came otherwise.
    pub image: String,
    /// Where it is read from, for people.
    pub address: String,
    /// Why it cannot be read now; empty when it can.
    pub problem: String,
    /// Whether it is being read, so that something else may be known soon.
    pub is_being_read: bool,
    /// When it was last asked whether there is something newer, if that is done at intervals.
    pub polled: Option<Timestamp>,
}

/// Names a bundle whose contents are wanted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundleKey {
    /// The catalog it is in.
    pub source: SourceName,
    /// Its name.
    pub name: String,
    /// Its image; empty when its contents are in the catalog.
    pub image: String,
    /// The digest of the catalog; empty when the image alone tells the contents.
    pub digest: String,
}

/// What is known of the contents of a bundle.
#[derive(Debug, Clone)]
pub enum BundleState {
    /// They are being read.
    Pending {
        /// What is waited for, for people; may be empty.
        message: String,
    },
    /// They are here.
    Ready(Arc<BundleContents>),
    /// They cannot be read.
    Failed {
        /// One word for programs.
        reason: String,
        /// A sentence for people.
        message: String,
        /// Whether somebody is trying again just now.
        is_retried: bool,
    },
}

/// How the engine is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The namespace whose catalogs are visible everywhere.
    pub global_namespace: String,
    /// How resolutions read what is written.
    pub semantics: Semantics,
    /// How much work a resolution may be.
    pub limits: Limits,
    /// Answers that are kept from one decision to the next. Clones share them.
    pub memory: Memory,
    /// The version of the cluster, such as `v1.33.0`.
    pub kube_version: String,
    /// The APIs that the cluster provides by itself; `None` if they are unknown, as when only manifests are
    /// given.
    pub native_apis: Option<BTreeSet<GroupVersionKind>>,
    /// The namespaces whose objects no webhook of an operator intercepts.
    pub protected_namespaces: Vec<String>,
    /// How long a plan is tried before it fails.
    pub plan_retry_timeout: Duration,
    /// How long the Deployments of an operator may take.
    pub install_timeout: Duration,
    /// The image that Operon runs from, for pods that need its program; empty where nobody knows.
    pub own_image: String,
    /// Every OperatorGroup must name a ServiceAccount; without one nothing is written for it.
    pub requires_service_account: bool,
    /// How many finished plans are kept in a namespace.
    pub kept_plans: usize,
    /// How many generations are remembered in a namespace besides those of the plans that still exist.
    pub kept_generations: usize,
}

/// Upstream: `--install-plan-retry-timeout`.
pub const DEFAULT_PLAN_RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// Upstream: an operator whose Deployments are not ready after five minutes has failed.
pub const DEFAULT_INSTALL_TIMEOUT: Duration = Duration::from_secs(300);
/// Upstream: five plans are kept in a namespace.
pub const DEFAULT_KEPT_PLANS: usize = 5;
/// Enough to see a year of monthly updates of several operators, in objects of a few hundred bytes.
pub const DEFAULT_KEPT_GENERATIONS: usize = 100;

impl Default for Settings {
    fn default() -> Self {
        Self {
            global_namespace: "olm".to_owned(),
            semantics: Semantics::documented(),
            limits: Limits::default(),
            memory: Memory::default(),
            kube_version: String::new(),
            native_apis: None,
            protected_namespaces: vec!["kube-system".to_owned()],
            plan_retry_timeout: DEFAULT_PLAN_RETRY_TIMEOUT,
            install_timeout: DEFAULT_INSTALL_TIMEOUT,
            own_image: String::new(),
            requires_service_account: false,
            kept_plans: DEFAULT_KEPT_PLANS,
            kept_generations: DEFAULT_KEPT_GENERATIONS,
        }
    }
}
