//! One turn of the loop.
//!
//! Each namespace is decided, and then its effects are executed. Without workers, namespaces follow
//! each other. With workers, many are in progress at once, and a cycle ends while slow ones go on.

mod fetching;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use operon_lifecycle::{
    BundleKey, BundleState, CatalogState, Failure, Failures, LONGEST_PAUSE, Objects, Settings,
    World,
};
use operon_object::{ObjectKey, Timestamp, known};
use operon_resolve::SourceName;

use crate::{
    Catalogs, Cluster, ClusterError, Finished, Lane, Task, Workers,
    asks::Asks,
    claims::{Claimed, Claims, Overdue},
    lanes::{Lanes, quick_limits},
    picture::Picture,
    repeats::Repeats,
    task::{Decided, Report, Snapshot, TaskResult, Work},
    touched::Touched,
};

/// How long a cycle waits for tasks before the cluster is observed again.
const CYCLE_PATIENCE: Duration = Duration::from_millis(100);

/// Keeps a cluster as it should be.
#[derive(Debug)]
pub struct Driver<C, S> {
    pub(crate) cluster: C,
    pub(crate) catalogs: S,
    pub(crate) picture: Picture,
    pub(crate) bundles: Arc<BTreeMap<BundleKey, BundleState>>,
    pub(crate) asks: Asks,
    pub(crate) failures: Arc<Failures>,
    pub(crate) repeats: Repeats,
    pub(crate) touched: Touched,
    settings: Arc<Settings>,
    /// The same settings with the limits of the quick lane.
    quick_settings: Arc<Settings>,
    states: Arc<BTreeMap<SourceName, CatalogState>>,
    wakes: BTreeMap<String, Timestamp>,
    /// The namespaces to which the operators of others matter.
    lookers: BTreeSet<String>,
    /// The bundles whose contents each namespace waits for.
    wanted: BTreeMap<String, BTreeSet<BundleKey>>,
    /// The bundles whose contents the last decision about each namespace rests on.
    used: BTreeMap<String, BTreeSet<BundleKey>>,
    workers: Option<Box<dyn Workers>>,
    claims: Claims,
    lanes: Lanes,
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
    /// How many decisions exceeded their deadline. The deeds name their namespaces.
    pub overdue_decisions: usize,
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

impl Deed {
    /// Reports that a namespace could not be decided, or not in time.
    fn of_decision(namespace: &str, refusal: &str) -> Self {
        let target = known::NAMESPACE.key("", namespace);
        let work = target.clone();
        Self { verb: "decide", target, work, refusal: Some(refusal.to_owned()) }
    }
}

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Begins to look after a cluster.
    pub fn new(cluster: C, catalogs: S, settings: Settings) -> Self {
        let mut touched = Touched::default();
        touched.touch_everything();
        let mut quick_settings = settings.clone();
        quick_settings.limits = quick_limits(&settings.limits);
        Self {
            cluster,
            catalogs,
            picture: Picture::new(),
            bundles: Arc::default(),
            asks: Asks::default(),
            failures: Arc::default(),
            repeats: Repeats::default(),
            touched,
            settings: Arc::new(settings),
            quick_settings: Arc::new(quick_settings),
            states: Arc::default(),
            wakes: BTreeMap::new(),
            lookers: BTreeSet::new(),
            wanted: BTreeMap::new(),
            used: BTreeMap::new(),
            workers: None,
            claims: Claims::default(),
            lanes: Lanes::default(),
        }
    }

    /// Runs tasks on workers from now on.
    pub fn set_workers(&mut self, workers: Box<dyn Workers>) {
        self.workers = Some(workers);
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
        if !self.claims.is_writing() {
            self.picture.forget_deleted();
        }
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
        let (busy, ready): (Vec<String>, Vec<String>) =
            namespaces.into_iter().partition(|namespace| self.claims.is_busy(namespace));
        busy.iter().for_each(|namespace| self.touched.touch_namespace(namespace));
        let mut cycle = Cycle {
            written: 0,
            is_settled: true,
            wake: None,
            is_fetching: false,
            deeds: Vec::new(),
            overdue_decisions: 0,
        };
        self.work(ready.into(), now, &mut cycle);
        self.clean_up(now);
        // A namespace whose work was stopped before its first effect is decided again.
        cycle.is_settled &= self.claims.is_idle() && self.touched.is_empty();
        cycle.wake = self.wakes.values().copied().chain(self.asks.next()).min();
        cycle.is_fetching = self.is_fetching();
        Ok(cycle)
    }

    /// Works on namespaces, in order, until all are done. With workers, it ends earlier when only slow
    /// tasks are left, or when another namespace has to be decided.
    fn work(&mut self, mut queue: VecDeque<String>, now: Timestamp, cycle: &mut Cycle) {
        loop {
            self.free_overdue(cycle, &mut queue);
            // Without workers, a task has ended when its submission returns.
            while let Some(namespace) = self.lanes.next(&mut queue, &self.claims) {
                let lane = self.lanes.of_decision(&namespace);
                self.claims.begin(&namespace, lane);
                self.submit_decision(namespace, lane, now, cycle, &mut queue);
            }
            let Some(workers) = self.workers.as_mut() else { return };
            let has_others = || self.touched.has_others(|name| self.claims.is_busy(name));
            let has_quick = || queue.iter().any(|name| self.lanes.of_decision(name) == Lane::Quick);
            if self.claims.is_idle() || (!has_quick() && has_others()) {
                break;
            }
            let Some(finished) = workers.next(CYCLE_PATIENCE) else { break };
            self.finish(finished, now, cycle, &mut queue);
        }
        // What could not begin is decided in the next cycle.
        queue.iter().for_each(|namespace| self.touched.touch_namespace(namespace));
    }

    /// Frees the places and claims of tasks that exceed their deadline. A namespace whose decision does is
    /// decided on the lane of expensive decisions next time.
    fn free_overdue(&mut self, cycle: &mut Cycle, queue: &mut VecDeque<String>) {
        for namespace in self.workers.iter_mut().flat_map(|workers| workers.overdue()) {
            let Overdue { was_deciding, released } = self.claims.mark_overdue(&namespace);
            queue.extend(released);
            if was_deciding {
                self.lanes.leave_quick(&namespace);
                cycle.overdue_decisions += 1;
                let refusal =
                    "the decision exceeds its deadline; other namespaces do not wait for it";
                cycle.deeds.push(Deed::of_decision(&namespace, refusal));
            }
        }
    }

    /// Hands a task to the workers, or runs it at once where there are none.
    fn submit(
        &mut self,
        task: Task,
        now: Timestamp,
        cycle: &mut Cycle,
        queue: &mut VecDeque<String>,
    ) {
        match self.workers.as_mut() {
            Some(workers) => workers.submit(task),
            None => {
                let finished = task.run(&self.cluster, &self.catalogs, &|| false);
                self.finish(finished, now, cycle, queue);
            }
        }
    }

    fn submit_decision(
        &mut self,
        namespace: String,
        lane: Lane,
        now: Timestamp,
        cycle: &mut Cycle,
        queue: &mut VecDeque<String>,
    ) {
        let is_limited = self.workers.is_some() && lane == Lane::Quick;
        let settings = if is_limited { &self.quick_settings } else { &self.settings };
        let snapshot = Snapshot {
            objects: Arc::clone(&self.picture.objects),
            catalogs: Arc::clone(&self.states),
            bundles: Arc::clone(&self.bundles),
            failures: Arc::clone(&self.failures),
            seen: Arc::clone(&self.picture.seen),
            settings: Arc::clone(settings),
        };
        self.submit(Task { namespace, now, lane, work: Work::Decide(snapshot) }, now, cycle, queue);
    }

    fn finish(
        &mut self,
        Finished { namespace, result }: Finished,
        now: Timestamp,
        cycle: &mut Cycle,
        queue: &mut VecDeque<String>,
    ) {
        match result {
            TaskResult::Decided(decided) => {
                self.take_verdict(namespace, *decided, now, cycle, queue);
            }
            TaskResult::Executed(report) => {
                self.take_report(&namespace, report, now, cycle);
                queue.extend(self.claims.end(&namespace));
            }
            TaskResult::Panicked => {
                // The panic was logged. Other namespaces go on; this one is tried again later.
                queue.extend(self.claims.end(&namespace));
                cycle.deeds.push(Deed::of_decision(&namespace, "internal error, see the log"));
                self.wakes.insert(namespace, now.after(LONGEST_PAUSE));
            }
        }
    }

    /// Takes in a verdict and executes it, unless it costs too much for its lane or another namespace
    /// writes the same objects.
    fn take_verdict(
        &mut self,
        namespace: String,
        decided: Decided,
        now: Timestamp,
        cycle: &mut Cycle,
        queue: &mut VecDeque<String>,
    ) {
        let Decided { mut verdict, requested, snapshot } = decided;
        for (key, state) in requested {
            self.note(key, state, now);
        }
        // Learned before anything is forgotten: contents that nothing uses are dropped.
        keep(&mut self.wanted, &namespace, std::mem::take(&mut verdict.wanted));
        keep(&mut self.used, &namespace, std::mem::take(&mut verdict.used));
        if self.workers.is_some() {
            let is_quick = Arc::ptr_eq(&snapshot.settings, &self.quick_settings);
            if is_quick && verdict.was_cut {
                // The verdict says what the quick lane is too small for, so it is decided again elsewhere.
                self.lanes.leave_quick(&namespace);
                queue.extend(self.claims.end(&namespace));
                queue.push_back(namespace);
                return;
            }
            if !is_quick && !self.claims.is_overdue(&namespace) {
                self.lanes.note_steps(&namespace, verdict.steps, &self.quick_settings.limits);
            }
            let targets = verdict.effects().iter().filter_map(|effect| effect.action().target());
            let shared: BTreeSet<ObjectKey> = targets
                .filter(|target| target.namespace != namespace && !target.name.is_empty())
                .collect();
            match self.claims.claim(&namespace, shared, verdict.looks_elsewhere, |key| {
                let version = |objects: &Objects| {
                    let object = objects.find(key);
                    object.map(|object| {
                        (object.uid().to_owned(), object.resource_version().to_owned())
                    })
                };
                version(&snapshot.objects) == version(&self.picture.objects)
            }) {
                Claimed::Yes => {}
                Claimed::Later => return,
                Claimed::Outdated => {
                    queue.extend(self.claims.end(&namespace));
                    queue.push_back(namespace);
                    return;
                }
            }
        }
        if verdict.looks_elsewhere {
            self.lookers.insert(namespace.clone());
        } else {
            self.lookers.remove(&namespace);
        }
        match verdict.wake {
            Some(wake) => self.wakes.insert(namespace.clone(), wake),
            None => self.wakes.remove(&namespace),
        };
        if verdict.effects().is_empty() {
            queue.extend(self.claims.end(&namespace));
            return;
        }
        let lane = self.lanes.of_writes(&namespace);
        self.claims.execute_on(&namespace, lane);
        let effects = self.prepare(verdict.into_effects(), now);
        self.submit(Task { namespace, now, lane, work: Work::Execute(effects) }, now, cycle, queue);
    }

    fn take_report(&mut self, namespace: &str, report: Report, now: Timestamp, cycle: &mut Cycle) {
        self.lanes.note_writes(namespace, report.is_late);
        if let Some(wake) = report.wake {
            let known = self.wakes.entry(namespace.to_owned()).or_insert(wake);
            *known = wake.min(*known);
        }
        self.settle(namespace, report, now, cycle);
    }

    /// Forgets what no longer matters.
    fn clean_up(&mut self, now: Timestamp) {
        let objects = &self.picture.objects;
        let matters = |failure: &Failure| {
            objects.find(&failure.work).is_some() || now < failure.last.after(2 * LONGEST_PAUSE)
        };
        if self.failures.all().any(|(_, failure)| !matters(failure)) {
            Arc::make_mut(&mut self.failures).retain(matters);
        }
        self.repeats.forget(now);
        self.forget_contents();
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
