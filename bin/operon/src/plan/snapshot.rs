//! What a forecast reads: the objects, catalogs and bundle contents of a cluster at one time.
//!
//! A snapshot is taken from manifests and catalogs in files, from the embedded cluster of a directory, or from
//! a real cluster. Whatever it is taken from, the engine answers from it in the same way.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use anyhow::bail;
use operon_driver::{Cluster, ClusterError, Driver, Interest};
use operon_image::{OpenedCatalog, SourceCatalogs, bundle_contents};
use operon_kinds::CatalogSource;
use operon_lifecycle::{
    BundleKey, BundleState, CatalogState, Failures, Objects, Settings, World,
    views::{Preview, forecast},
};
use operon_object::{Kind, Object, ObjectKey, Timestamp, known};
use operon_resolve::SourceName;

use super::{
    arguments::SituationArguments,
    manifests::{self, Manifests},
};
use crate::{
    cluster::{
        ClusterArguments, DEFAULT_KUBE_VERSION, Reached, Reader, built_in_apis, check_version,
        engine, look_well, now, wait_for_bundle,
    },
    up,
};

/// How often more contents and objects are read for a forecast. Each round reads some that were unknown; the
/// engine requests those of one update at a time.
const MAX_ROUNDS: usize = 100;

/// The objects, catalogs and bundle contents of a cluster at one time.
///
/// A clone shares its contents: a hypothetical change costs what it changes.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) objects: Objects,
    pub(super) catalogs: BTreeMap<SourceName, CatalogState>,
    bundles: BTreeMap<BundleKey, BundleState>,
    failures: Failures,
    seen: BTreeSet<Kind>,
    /// The objects that were read although their kinds are not listed.
    looked_up: BTreeSet<ObjectKey>,
    pub(super) settings: Settings,
    now: Timestamp,
    source: Rc<dyn ContentSource>,
    /// Whether bundle contents are read: without them plans are neither named nor checked.
    pub(super) reads_contents: bool,
}

/// A snapshot, and what was found wrong while it was taken.
pub(super) struct Taken {
    pub(super) snapshot: Snapshot,
    /// Manifests of a directory that cannot be applied.
    pub(super) problems: Vec<String>,
    /// What the manifests of files say, to be checked once the namespace is known.
    pub(super) manifests: Option<Manifests>,
}

/// Where a snapshot gets what is read only on demand.
trait ContentSource {
    /// Returns the digest of a catalog's content.
    fn digest(&self, name: &SourceName) -> Option<String>;

    /// Returns the contents of a bundle; `None` if they are not at hand.
    fn bundle(&self, key: &BundleKey) -> Option<BundleState>;

    /// Lists the objects of kinds.
    fn list(&self, kinds: &BTreeSet<Kind>) -> Result<Vec<Object>, ClusterError>;

    /// Returns an object.
    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError>;
}

impl<C: Cluster> ContentSource for Driver<C, SourceCatalogs> {
    fn digest(&self, name: &SourceName) -> Option<String> {
        self.catalogs().opened(name).map(|opened| opened.digest().to_owned())
    }

    fn bundle(&self, key: &BundleKey) -> Option<BundleState> {
        Some(wait_for_bundle(self.catalogs(), key))
    }

    fn list(&self, kinds: &BTreeSet<Kind>) -> Result<Vec<Object>, ClusterError> {
        let listing = self.cluster().list(&Interest::all_of(kinds.iter().cloned()))?;
        Ok(listing.objects)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster().get(key)
    }
}

/// Catalogs in files. Bundle contents are read only where they are in the catalog or in directories beside it;
/// nothing is pulled.
pub(super) struct GivenCatalogs {
    pub(super) catalogs: BTreeMap<SourceName, GivenCatalog>,
}

/// A catalog that was given on the command line.
pub(super) struct GivenCatalog {
    /// Where it was read from, as it was typed.
    pub(super) path: String,
    pub(super) opened: Arc<OpenedCatalog>,
    /// Whether it is a path of this machine, and so may name bundle directories.
    pub(super) is_local: bool,
}

impl ContentSource for GivenCatalogs {
    fn digest(&self, name: &SourceName) -> Option<String> {
        self.catalogs.get(name).map(|given| given.opened.digest().to_owned())
    }

    fn bundle(&self, key: &BundleKey) -> Option<BundleState> {
        let given = self.catalogs.get(&key.source)?;
        if !given.is_local {
            return None;
        }
        let opened = &given.opened;
        let contents = bundle_contents(opened, &key.name, &key.image, opened.directory()).ok()?;
        Some(BundleState::Ready(Arc::new(contents)))
    }

    fn list(&self, _: &BTreeSet<Kind>) -> Result<Vec<Object>, ClusterError> {
        Ok(Vec::new())
    }

    fn get(&self, _: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        Ok(None)
    }
}

impl Snapshot {
    /// Takes a snapshot of what the command line describes.
    pub(super) fn take(
        arguments: &SituationArguments,
        kube_version: Option<&str>,
    ) -> anyhow::Result<Taken> {
        if let Some(version) = kube_version {
            check_version(version)?;
        }
        match arguments.living() {
            Some(cluster) => Self::of_cluster(&cluster, arguments, kube_version),
            None => Self::of_files(arguments, kube_version),
        }
    }

    fn of_cluster(
        cluster: &ClusterArguments,
        arguments: &SituationArguments,
        kube_version: Option<&str>,
    ) -> anyhow::Result<Taken> {
        let fetching = &arguments.fetching;
        let Some(directory) = &cluster.dir else {
            let reached = cluster.reach()?;
            let Reached::Real(real) = &reached else { bail!("bug: no directory, no cluster") };
            let global = &arguments.global_namespace;
            let engine = Reader::engine(real, global, fetching.fetcher()?)?;
            let snapshot = Self::of_engine(engine, arguments)?;
            return Ok(Taken { snapshot, problems: Vec::new(), manifests: None });
        };
        let (scratch, problems) = up::rehearse(directory, now())?;
        let version = kube_version.unwrap_or(DEFAULT_KUBE_VERSION);
        let engine = engine(scratch, directory, fetching, version)?;
        let snapshot = Self::of_engine(engine, arguments)?;
        Ok(Taken { snapshot, problems, manifests: None })
    }

    fn of_engine<C: Cluster + 'static>(
        mut engine: Driver<C, SourceCatalogs>,
        arguments: &SituationArguments,
    ) -> anyhow::Result<Self> {
        look_well(&mut engine)?;
        let world = engine.world(now());
        let settings = Settings {
            semantics: arguments.semantics.semantics(),
            global_namespace: arguments.global_namespace.clone(),
            ..world.settings.clone()
        };
        Ok(Self {
            objects: world.objects.clone(),
            catalogs: world.catalogs.clone(),
            bundles: world.bundles.clone(),
            failures: world.failures.clone(),
            seen: world.seen.clone(),
            looked_up: BTreeSet::new(),
            settings,
            now: world.now,
            source: Rc::new(engine),
            reads_contents: true,
        })
    }

    fn of_files(
        arguments: &SituationArguments,
        kube_version: Option<&str>,
    ) -> anyhow::Result<Taken> {
        let manifests = manifests::read(&arguments.cluster)?;
        let given = arguments.open_catalogs()?;
        let now = now();
        let state = |given: &GivenCatalog| CatalogState {
            catalog: Some(given.opened.shared_catalog()),
            digest: given.opened.digest().to_owned(),
            read: now,
            address: given.path.clone(),
            ..CatalogState::default()
        };
        let mut catalogs: BTreeMap<SourceName, CatalogState> =
            given.iter().map(|(name, given)| (name.clone(), state(given))).collect();
        let mut objects = manifests.objects.clone();
        for name in given.keys() {
            let key = known::CATALOG_SOURCE.key(&name.namespace, &name.name);
            if objects.find(&key).is_none() {
                objects.insert(catalog_source(name));
            }
        }
        for object in manifests.objects.all(&known::CATALOG_SOURCE) {
            let name = CatalogSource::read(object).source_name();
            let problem = format!("give its content with --catalog {name}=PATH");
            let unread = || CatalogState { problem, ..CatalogState::default() };
            catalogs.entry(name).or_insert_with(unread);
        }
        let settings = Settings {
            semantics: arguments.semantics.semantics(),
            global_namespace: arguments.global_namespace.clone(),
            kube_version: kube_version.unwrap_or_default().to_owned(),
            native_apis: manifests
                .native_apis()
                .cloned()
                .or_else(|| kube_version.map(|_| built_in_apis())),
            ..Settings::default()
        };
        let snapshot = Self {
            objects,
            catalogs,
            bundles: BTreeMap::new(),
            failures: Failures::default(),
            seen: BTreeSet::new(),
            looked_up: BTreeSet::new(),
            settings,
            now,
            source: Rc::new(GivenCatalogs { catalogs: given }),
            reads_contents: true,
        };
        Ok(Taken { snapshot, problems: Vec::new(), manifests: Some(manifests) })
    }

    /// Returns the world that the engine answers from.
    pub(super) fn world(&self) -> World<'_> {
        World {
            now: self.now,
            objects: &self.objects,
            catalogs: &self.catalogs,
            bundles: &self.bundles,
            failures: &self.failures,
            seen: &self.seen,
            settings: &self.settings,
        }
    }

    /// Returns the digest of a catalog's content.
    pub(super) fn digest(&self, name: &SourceName) -> String {
        self.source.digest(name).unwrap_or_default()
    }

    /// Reads the bundle contents and objects that the plans of a namespace are checked against.
    pub(super) fn complete(&mut self, namespace: &str) -> Result<(), ClusterError> {
        for _ in 0..MAX_ROUNDS {
            let preview = forecast(&self.world(), namespace).preview;
            if !self.read_more(&preview)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads what a preview lacks; returns `false` if there is nothing to read.
    fn read_more(&mut self, preview: &Preview) -> Result<bool, ClusterError> {
        let is_new = |key: &&BundleKey| !self.bundles.contains_key(*key);
        let bundles: Vec<BundleKey> = preview.wanted.iter().filter(is_new).cloned().collect();
        let kinds: BTreeSet<Kind> = preview.unseen_kinds.difference(&self.seen).cloned().collect();
        let objects: BTreeSet<ObjectKey> =
            preview.unseen_objects.difference(&self.looked_up).cloned().collect();
        if bundles.is_empty() && kinds.is_empty() && objects.is_empty() {
            return Ok(false);
        }
        for key in bundles {
            let pending = || BundleState::Pending { message: String::new() };
            let read = self.reads_contents.then(|| self.source.bundle(&key)).flatten();
            let state = read.unwrap_or_else(pending);
            self.bundles.insert(key, state);
        }
        if !kinds.is_empty() {
            self.source.list(&kinds)?.into_iter().for_each(|object| self.objects.insert(object));
            self.seen.extend(kinds);
        }
        for key in objects {
            if let Some(object) = self.source.get(&key)? {
                self.objects.insert(object);
            }
            self.looked_up.insert(key);
        }
        Ok(true)
    }
}

/// Returns the CatalogSource of a catalog that only the command line names.
fn catalog_source(name: &SourceName) -> Object {
    let (namespace, name) = (&name.namespace, &name.name);
    Object::new("operators.coreos.com/v1alpha1", known::CATALOG_SOURCE.name(), namespace, name)
}
