//! One turn of the loop.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use operon_kinds::CatalogSource;
use operon_lifecycle::{
    BundleKey, BundleState, CatalogState, Failures, LONGEST_PAUSE, Objects, Scope, Settings,
    Verdict, World, decide_within,
};
use operon_object::{Object, ObjectKey, Timestamp, known};
use operon_resolve::SourceName;

use crate::{
    CatalogRequest, Catalogs, Cluster, ClusterError, asks::Asks, picture::Picture,
    repeats::Repeats, touched::Touched,
};

/// How often a decision is made anew because it wanted contents that nobody had asked for yet. What is
/// wanted then is asked for in the next turn.
const FIRST_ASKS_LIMIT: usize = 8;

/// Keeps a cluster as it should be.
#[derive(Debug)]
pub struct Driver<C, S> {
    pub(crate) cluster: C,
    pub(crate) catalogs: S,
    pub(crate) picture: Picture,
    pub(crate) bundles: BTreeMap<BundleKey, BundleState>,
    pub(crate) asks: Asks,
    pub(crate) failures: Failures,
    pub(crate) repeats: Repeats,
    pub(crate) touched: Touched,
    settings: Settings,
    states: BTreeMap<SourceName, CatalogState>,
    wakes: BTreeMap<String, Timestamp>,
    /// The namespaces to which the operators of others matter.
    lookers: BTreeSet<String>,
    /// The bundles whose contents each namespace waits for.
    wanted: BTreeMap<String, BTreeSet<BundleKey>>,
    /// The bundles whose contents the last decision about each namespace rests on.
    used: BTreeMap<String, BTreeSet<BundleKey>>,
}

/// What a turn of the loop came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// How much was written.
    pub written: usize,
    /// Whether nothing is left to do but to wait.
    pub is_settled: bool,
    /// When to turn again although nothing changed.
    pub wake: Option<Timestamp>,
    /// Whether a catalog or the contents of a bundle are on their way.
    pub is_fetching: bool,
    /// What was tried, in order.
    pub deeds: Vec<Deed>,
}

/// Something that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// What was to be done, in one word for people, such as `apply`.
    pub verb: &'static str,
    /// The object that it was to be done to.
    pub target: ObjectKey,
    /// The object whose work it is.
    pub work: ObjectKey,
    /// Why it was not done, if so; what the cluster said, or that something had changed meanwhile.
    pub refusal: Option<String>,
}

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Begins to look after a cluster.
    pub fn new(cluster: C, catalogs: S, settings: Settings) -> Self {
        let mut touched = Touched::default();
        touched.touch_everything();
        Self {
            cluster,
            catalogs,
            picture: Picture::new(),
            bundles: BTreeMap::new(),
            asks: Asks::default(),
            failures: Failures::default(),
            repeats: Repeats::default(),
            touched,
            settings,
            states: BTreeMap::new(),
            wakes: BTreeMap::new(),
            lookers: BTreeSet::new(),
            wanted: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// Limits the driver to the Secrets of some namespaces. A pull secret elsewhere counts as missing.
    pub fn limit_secrets(&mut self, namespaces: impl IntoIterator<Item = String>) {
        self.picture.secret_namespaces = Some(namespaces.into_iter().collect());
    }

    /// Returns the cluster.
    pub fn cluster(&self) -> &C {
        &self.cluster
    }

    /// Returns where catalogs come from.
    pub fn catalogs(&self) -> &S {
        &self.catalogs
    }

    /// Returns the objects as they were last seen.
    pub fn objects(&self) -> &Objects {
        &self.picture.objects
    }

    /// Returns the catalogs as they were last seen.
    pub fn catalog_states(&self) -> &BTreeMap<SourceName, CatalogState> {
        &self.states
    }

    /// Returns the world as it was last seen.
    pub fn world(&self, now: Timestamp) -> World<'_> {
        World {
            now,
            objects: &self.picture.objects,
            catalogs: &self.states,
            bundles: &self.bundles,
            failures: &self.failures,
            seen: &self.picture.seen,
            settings: &self.settings,
        }
    }

    /// Looks at the cluster and the catalogs without doing anything.
    pub fn look(&mut self, now: Timestamp) -> Result<(), ClusterError> {
        self.picture.refresh(&self.cluster, &mut self.touched)?;
        self.read_catalogs(now);
        Ok(())
    }

    /// Turns the loop once: gathers, decides, executes.
    pub fn cycle(&mut self, now: Timestamp) -> Result<Cycle, ClusterError> {
        self.look(now)?;
        let due: Vec<String> = self
            .wakes
            .iter()
            .filter(|(_, wake)| **wake <= now)
            .map(|(namespace, _)| namespace.clone())
            .collect();
        for namespace in due {
            self.wakes.remove(&namespace);
            self.touched.touch_namespace(&namespace);
        }
        self.ask_again(now);
        let mut namespaces = self.touched.take(&self.picture.objects);
        if !namespaces.is_empty() {
            namespaces.extend(self.lookers.iter().cloned());
        }
        let mut written = 0;
        let mut tried = 0;
        let mut deeds = Vec::new();
        for namespace in namespaces {
            let scope = Scope::Namespaces(BTreeSet::from([namespace.clone()]));
            let verdict = self.decide(&scope, now);
            if verdict.looks_elsewhere {
                self.lookers.insert(namespace.clone());
            } else {
                self.lookers.remove(&namespace);
            }
            keep(&mut self.wanted, &namespace, verdict.wanted);
            keep(&mut self.used, &namespace, verdict.used);
            let executed = self.execute(&namespace, verdict.effects, now);
            match verdict.wake.into_iter().chain(executed.wake).min() {
                Some(wake) => self.wakes.insert(namespace, wake),
                None => self.wakes.remove(&namespace),
            };
            tried += executed.tried;
            written += executed.written;
            deeds.extend(executed.deeds);
        }
        let objects = &self.picture.objects;
        self.failures.retain(|failure| {
            objects.find(&failure.work).is_some() || now < failure.last.after(2 * LONGEST_PAUSE)
        });
        self.repeats.forget(now);
        self.forget_contents();
        let wake = self.wakes.values().copied().chain(self.asks.next()).min();
        let is_fetching = self.is_fetching();
        Ok(Cycle { written, is_settled: tried == 0, wake, is_fetching, deeds })
    }

    /// Decides. Contents that were never asked for are asked for first, and what is here already is known
    /// to the decision: one that begins anew does not take back for a moment what was said before.
    fn decide(&mut self, scope: &Scope, now: Timestamp) -> Verdict {
        let mut verdict = decide_within(&self.world(now), scope);
        for _ in 0..FIRST_ASKS_LIMIT {
            let is_new = |key: &&BundleKey| !self.bundles.contains_key(*key);
            let new: Vec<BundleKey> = verdict.wanted.iter().filter(is_new).cloned().collect();
            if new.is_empty() {
                break;
            }
            for key in new {
                let state = self.catalogs.bundle(&key);
                self.note(key, state, now);
            }
            verdict = decide_within(&self.world(now), scope);
        }
        verdict
    }

    /// Asks again for contents that were not here, when it is time. What was known of them holds until
    /// something else is.
    fn ask_again(&mut self, now: Timestamp) {
        for key in self.asks.due(now) {
            self.ask(key, now);
        }
    }

    /// Forgets the contents that no namespace needs now: those of operators that are installed would be most
    /// of what is kept in memory.
    fn forget_contents(&mut self) {
        let used: BTreeSet<&BundleKey> = self.used.values().flatten().collect();
        self.bundles.retain(|key, _| used.contains(key));
        self.asks.retain(|key| self.bundles.contains_key(key));
    }

    /// Asks for the contents of a bundle.
    pub(crate) fn ask(&mut self, key: BundleKey, now: Timestamp) {
        let state = self.catalogs.bundle(&key);
        let known = self.bundles.get(&key);
        if !known.is_some_and(|known| says_the_same(known, &state)) {
            let wanting = self.wanted.iter().filter(|(_, wanted)| wanted.contains(&key));
            wanting.for_each(|(namespace, _)| self.touched.touch_namespace(namespace));
        }
        self.note(key, state, now);
    }

    /// Remembers what is known of the contents of a bundle, and when to ask again.
    fn note(&mut self, key: BundleKey, state: BundleState, now: Timestamp) {
        self.asks.note(&key, &state, now);
        self.bundles.insert(key, state);
    }

    fn is_fetching(&self) -> bool {
        let is_pending = |state: &BundleState| matches!(state, BundleState::Pending { .. });
        self.states.values().any(|state| state.is_being_read)
            || self.bundles.values().any(is_pending)
    }

    fn read_catalogs(&mut self, now: Timestamp) {
        let objects = &self.picture.objects;
        let requests: Vec<CatalogRequest<'_>> = objects
            .all(&known::CATALOG_SOURCE)
            .filter(|object| CatalogSource::read(object).problem().is_none())
            .map(|object| request(objects, object))
            .collect();
        let states = self.catalogs.read(&requests, now);
        let is_same = states.len() == self.states.len()
            && states.iter().all(|(name, state)| {
                self.states.get(name).is_some_and(|known| {
                    known.digest == state.digest
                        && known.problem == state.problem
                        && known.polled == state.polled
                })
            });
        if is_same {
            for (known, state) in self.states.values_mut().zip(states.values()) {
                known.is_being_read = state.is_being_read;
            }
            return;
        }
        self.touched.touch_everything();
        // Contents are named by the digest of their catalog; those of others are not asked for again.
        self.bundles.retain(|key, _| {
            states.get(&key.source).is_some_and(|state| state.digest == key.digest)
        });
        self.asks.retain(|key| self.bundles.contains_key(key));
        self.states = states;
    }
}

/// Remembers the bundles of a namespace, if there are any.
fn keep(
    all: &mut BTreeMap<String, BTreeSet<BundleKey>>,
    namespace: &str,
    bundles: BTreeSet<BundleKey>,
) {
    if bundles.is_empty() {
        all.remove(namespace);
    } else {
        all.insert(namespace.to_owned(), bundles);
    }
}

/// Puts the objects that a CatalogSource names beside it.
fn request<'o>(objects: &'o Objects, source: &'o Object) -> CatalogRequest<'o> {
    let wishes = CatalogSource::read(source);
    let namespace = source.namespace();
    let secret = |name| objects.get(&known::SECRET, namespace, name);
    CatalogRequest {
        source,
        config_map: objects.get(&known::CONFIG_MAP, namespace, wishes.config_map()),
        pull_secrets: wishes.pull_secrets().filter_map(secret).collect(),
    }
}

/// Tells whether there is nothing new for a decision. That something is tried again is nothing new.
fn says_the_same(known: &BundleState, state: &BundleState) -> bool {
    match (known, state) {
        (BundleState::Pending { message: known }, BundleState::Pending { message }) => {
            known == message
        }
        (BundleState::Ready(known), BundleState::Ready(contents)) => Arc::ptr_eq(known, contents),
        (
            BundleState::Failed { reason: known, message: said, is_retried: _ },
            BundleState::Failed { reason, message, is_retried: _ },
        ) => (known, said) == (reason, message),
        (BundleState::Pending { .. } | BundleState::Ready(_) | BundleState::Failed { .. }, _) => {
            false
        }
    }
}
