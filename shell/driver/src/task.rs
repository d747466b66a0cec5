//! One piece of work for a namespace: deciding, or executing effects.
//!
//! A task owns everything it rests on, so it can run on any thread while the driver goes on. It
//! changes nothing of the driver; what it found comes back as a [`Finished`] task.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use operon_install::certificate_secret;
use operon_kinds::names;
use operon_lifecycle::{
    Action, Authority, BundleKey, BundleState, CatalogState, Effect, EffectParts, ErrorKind,
    Failures, Guard, Objects, Scope, Settings, Timing, Verdict, World, decide_within,
};
use operon_object::{Kind, Object, ObjectKey, Timestamp};
use operon_resolve::SourceName;

use crate::{Catalogs, Cluster, ClusterError, events, repeats::Writing};

/// How often a decision is repeated because it wanted contents that were never requested before. What
/// it wants then is requested in the next cycle.
const FIRST_REQUESTS_LIMIT: usize = 8;

/// A piece of work for a namespace.
#[derive(Debug)]
pub struct Task {
    pub(crate) namespace: String,
    pub(crate) now: Timestamp,
    pub(crate) lane: Lane,
    pub(crate) work: Work,
}

/// Which workers a task waits for. A namespace that is slow shares its workers with other slow ones
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Decisions that take a twentieth of the steps of a decision at most, and writes.
    Quick,
    /// Decisions that need more steps.
    ExpensiveDecisions,
    /// Writes of namespaces that did not finish in time before.
    SlowWrites,
}

#[derive(Debug)]
pub(crate) enum Work {
    Decide(Snapshot),
    Execute(Vec<Prepared>),
}

/// Everything a decision rests on. Its parts are shared with the driver until that changes them.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) objects: Arc<Objects>,
    pub(crate) catalogs: Arc<BTreeMap<SourceName, CatalogState>>,
    pub(crate) bundles: Arc<BTreeMap<BundleKey, BundleState>>,
    pub(crate) failures: Arc<Failures>,
    pub(crate) seen: Arc<BTreeSet<Kind>>,
    pub(crate) settings: Arc<Settings>,
}

impl Snapshot {
    pub(crate) fn world(&self, now: Timestamp) -> World<'_> {
        World {
            now,
            objects: &self.objects,
            catalogs: &self.catalogs,
            bundles: &self.bundles,
            failures: &self.failures,
            seen: &self.seen,
            settings: &self.settings,
        }
    }
}

/// An effect, with what the driver remembers about it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) effect: Effect,
    pub(crate) writing: Option<Writing>,
    /// Until when it is not tried.
    pub(crate) paused: Option<Timestamp>,
}

/// A task that ended.
#[derive(Debug)]
pub struct Finished {
    pub(crate) namespace: String,
    pub(crate) result: TaskResult,
}

#[derive(Debug)]
pub(crate) enum TaskResult {
    Decided(Box<Decided>),
    Executed(Report),
    /// The task ended by a bug of ours.
    Panicked,
}

#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    /// Contents that were requested for the first time, and what was answered.
    pub(crate) requested: Vec<(BundleKey, BundleState)>,
    /// What the verdict rests on.
    pub(crate) snapshot: Snapshot,
}

/// What came of the effects of a verdict.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) attempts: Vec<Attempt>,
    /// When paused effects may be tried again.
    pub(crate) wake: Option<Timestamp>,
    /// Effects were left out that the next decision asks for again.
    pub(crate) is_incomplete: bool,
    /// The task should have ended earlier, whether or not effects were left out.
    pub(crate) is_late: bool,
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) verb: &'static str,
    pub(crate) target: Option<ObjectKey>,
    pub(crate) work: ObjectKey,
    pub(crate) writing: Option<Writing>,
    pub(crate) outcome: Outcome,
}

/// What came of an effect.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Something was written: the object as the cluster answered it, unless it was deleted.
    Wrote(Option<Object>),
    /// Nothing had to be written.
    Nothing,
    /// The cluster is not as the decision saw it; the next decision will know.
    Stale,
    /// An earlier effect changed the object that this one rests on, so it was not tried.
    Outdated,
    /// An object of the name exists: as the cluster has it, and its refusal.
    Taken(Option<Object>, ClusterError),
    Failed(ClusterError),
    /// The driver requests the contents of a bundle.
    Unpack(BundleKey),
    /// The driver watches a kind.
    Watch(Kind),
}

impl Outcome {
    /// Returns `true` if later effects of the same work are left out.
    fn abandons_work(&self) -> bool {
        matches!(self, Self::Stale | Self::Outdated | Self::Taken(..) | Self::Failed(_))
    }
}

impl Task {
    /// Returns the workers that the task waits for.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Returns the namespace that the task works for. Each has one task at a time.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns `true` if the task decides, `false` if it writes.
    pub fn is_decision(&self) -> bool {
        matches!(self.work, Work::Decide(_))
    }

    /// Runs the task. `is_stopped` is asked before every effect and after the last one.
    pub fn run(
        self,
        cluster: &impl Cluster,
        catalogs: &impl Catalogs,
        is_stopped: &dyn Fn() -> bool,
    ) -> Finished {
        let Self { namespace, now, lane: _, work } = self;
        let result = match work {
            Work::Decide(snapshot) => {
                TaskResult::Decided(Box::new(decide(&namespace, snapshot, catalogs, now)))
            }
            Work::Execute(effects) => {
                let executor = Executor { cluster, catalogs, now };
                TaskResult::Executed(executor.execute(effects, is_stopped))
            }
        };
        Finished { namespace, result }
    }

    /// Runs the task as [`Task::run`] does. A panic ends this task and no other.
    pub fn run_caught(
        self,
        cluster: &impl Cluster,
        catalogs: &impl Catalogs,
        is_stopped: &dyn Fn() -> bool,
    ) -> Finished {
        let namespace = self.namespace.clone();
        let run = AssertUnwindSafe(|| self.run(cluster, catalogs, is_stopped));
        catch_unwind(run).unwrap_or_else(|_| Finished { namespace, result: TaskResult::Panicked })
    }
}

/// Decides. Contents that were never requested are requested first, and contents that are present are
/// known to the decision: a driver that starts does not revoke for a moment what was reported before.
fn decide(
    namespace: &str,
    mut snapshot: Snapshot,
    catalogs: &impl Catalogs,
    now: Timestamp,
) -> Decided {
    let scope = Scope::Namespaces(BTreeSet::from([namespace.to_owned()]));
    let mut requested = Vec::new();
    let mut verdict = decide_within(&snapshot.world(now), &scope);
    for _ in 0..FIRST_REQUESTS_LIMIT {
        let is_new = |key: &&BundleKey| !snapshot.bundles.contains_key(*key);
        let new: Vec<BundleKey> = verdict.wanted.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            break;
        }
        let bundles = Arc::make_mut(&mut snapshot.bundles);
        for key in new {
            let state = catalogs.bundle(&key);
            bundles.insert(key.clone(), state.clone());
            requested.push((key, state));
        }
        verdict = decide_within(&snapshot.world(now), &scope);
    }
    Decided { verdict, requested, snapshot }
}

/// Executes effects in order. When one fails, later effects of the same work are left out: the next
/// decision sees why.
struct Executor<'a, C, S> {
    cluster: &'a C,
    catalogs: &'a S,
    now: Timestamp,
}

/// What is remembered from one effect to the next.
#[derive(Debug, Default)]
struct Progress {
    report: Report,
    /// The works of which something failed.
    abandoned: BTreeSet<ObjectKey>,
    /// The objects of which guards are known to hold.
    holding: BTreeSet<ObjectKey>,
    /// The objects that were written, each with the work that wrote it: later effects rest on how they were
    /// before.
    written: BTreeMap<ObjectKey, ObjectKey>,
}

impl<C: Cluster, S: Catalogs> Executor<'_, C, S> {
    fn execute(&self, effects: Vec<Prepared>, is_stopped: &dyn Fn() -> bool) -> Report {
        let mut progress = Progress::default();
        let (late, effects): (Vec<Prepared>, Vec<Prepared>) =
            effects.into_iter().partition(|prepared| prepared.effect.timing() == Timing::AtRest);
        self.attempt_all(effects, is_stopped, &mut progress);
        if progress.report.attempts.is_empty() {
            self.attempt_all(late, is_stopped, &mut progress);
        } else if !late.is_empty() {
            progress.report.is_incomplete = true;
        }
        // The last effect may have taken too long as well.
        progress.report.is_late |= is_stopped();
        progress.report
    }

    fn attempt_all(
        &self,
        effects: Vec<Prepared>,
        is_stopped: &dyn Fn() -> bool,
        progress: &mut Progress,
    ) {
        for prepared in effects {
            if is_stopped() {
                progress.report.is_late = true;
                progress.report.is_incomplete = true;
                return;
            }
            self.attempt(prepared, progress);
        }
    }

    fn attempt(&self, prepared: Prepared, progress: &mut Progress) {
        let Prepared { effect, writing, paused } = prepared;
        let EffectParts { action, work, guards, authority } = effect.into_parts();
        let Progress { report, abandoned, holding, written } = progress;
        if abandoned.contains(&work) {
            return;
        }
        if let Some(next) = paused {
            report.wake = Some(report.wake.map_or(next, |wake| wake.min(next)));
            abandoned.insert(work);
            return;
        }
        let (verb, target) = (action.verb(), action.target());
        let is_outdated = match &action {
            Action::Update(object) | Action::UpdateStatus(object) => {
                written.contains_key(&object.key())
            }
            // Whose object it is was decided before another work wrote it.
            Action::Apply(_) | Action::Certify(_) => {
                target.as_ref().and_then(|key| written.get(key)).is_some_and(|by| *by != work)
            }
            _ => false,
        };
        let outcome = if is_outdated {
            Outcome::Outdated
        } else {
            match self.check(&guards, &work, holding, written) {
                Ok(true) => self.act(action, &authority).unwrap_or_else(Outcome::Failed),
                Ok(false) => Outcome::Stale,
                Err(error) => Outcome::Failed(error),
            }
        };
        if outcome.abandons_work() {
            abandoned.insert(work.clone());
        }
        if let (Outcome::Wrote(_), Some(target)) = (&outcome, &target) {
            written.insert(target.clone(), work.clone());
            holding.remove(target);
        }
        report.attempts.push(Attempt { verb, target, work, writing, outcome });
    }

    /// Asks the cluster whether guards hold; each object is requested once.
    fn check(
        &self,
        guards: &[Guard],
        work: &ObjectKey,
        holding: &mut BTreeSet<ObjectKey>,
        written: &BTreeMap<ObjectKey, ObjectKey>,
    ) -> Result<bool, ClusterError> {
        for guard in guards {
            let key = match guard {
                Guard::Absent(key) | Guard::NotForeign(key, _) => key.clone(),
                Guard::Unchanged(object) | Guard::Alive(object) => object.key(),
            };
            // What the same work wrote belongs to it.
            let is_own = matches!(guard, Guard::NotForeign(..)) && written.get(&key) == Some(work);
            if is_own || holding.contains(&key) {
                continue;
            }
            let live = self.cluster.get(&key)?;
            let holds = match (guard, &live) {
                (Guard::Absent(_), live) => live.is_none(),
                (Guard::NotForeign(_, claimant), live) => {
                    if let Some(message) = live.as_ref().and_then(|live| claimant.refusal(live)) {
                        return Err(ClusterError { kind: ErrorKind::AlreadyExists, message });
                    }
                    true
                }
                (Guard::Unchanged(_) | Guard::Alive(_), None) => false,
                (Guard::Alive(object), Some(live)) => {
                    live.uid() == object.uid() && !live.is_deleting()
                }
                (Guard::Unchanged(object), Some(live)) => {
                    live.resource_version() == object.resource_version()
                }
            };
            if !holds {
                return Ok(false);
            }
            holding.insert(key);
        }
        Ok(true)
    }

    fn act(&self, action: Action, authority: &Authority) -> Result<Outcome, ClusterError> {
        match action {
            Action::Create(object) => match self.with_authority(authority, |by| by.create(&object))
            {
                Err(error) if error.kind == ErrorKind::AlreadyExists => {
                    Ok(Outcome::Taken(self.cluster.get(&object.key())?, error))
                }
                // The kind or the namespace does not exist: retrying at once does not help.
                Err(error) if error.kind == ErrorKind::NotFound => Err(error),
                answer => wrote(answer),
            },
            Action::Update(object) => {
                wrote(self.with_authority(authority, |by| by.update(&object)))
            }
            Action::UpdateStatus(object) => {
                wrote(self.with_authority(authority, |by| by.update_status(&object)))
            }
            Action::Apply(object) => match self.with_authority(authority, |by| by.apply(&object)) {
                Ok(object) => Ok(Outcome::Wrote(Some(object))),
                Err(error) if error.kind == ErrorKind::Conflict => Ok(Outcome::Stale),
                Err(error) => Err(error),
            },
            Action::Delete { key, uid } => {
                match self.with_authority(authority, |by| by.delete(&key, &uid)) {
                    Ok(()) => Ok(Outcome::Wrote(None)),
                    Err(error) => stale_or(error),
                }
            }
            Action::DeleteUnchanged(object) => {
                match self.with_authority(authority, |by| by.delete_unchanged(&object)) {
                    Ok(()) => Ok(Outcome::Wrote(None)),
                    Err(error) => stale_or(error),
                }
            }
            // An event that cannot be recorded blocks nothing.
            Action::Emit(event) => match events::emit(self.cluster, &event, self.now) {
                Ok(()) => Ok(Outcome::Wrote(None)),
                Err(_) => Ok(Outcome::Nothing),
            },
            Action::Unpack(key) => Ok(Outcome::Unpack(key)),
            Action::Certify(request) => {
                let (certificate, rotate) = self.catalogs.certify(&request, self.now)?;
                let mut secret =
                    certificate_secret(&request.operator, &request.deployment, &certificate);
                secret.set_annotation(names::ROTATE_ANNOTATION, &rotate.to_string());
                let object = self.with_authority(authority, |by| by.apply(&secret))?;
                Ok(Outcome::Wrote(Some(object)))
            }
            Action::Watch(kind) => Ok(Outcome::Watch(kind)),
        }
    }

    /// Runs `write` with the permissions of an authority, and never with others.
    fn with_authority<T>(
        &self,
        authority: &Authority,
        write: impl FnOnce(&dyn Cluster) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        match authority {
            Authority::Controller => write(self.cluster),
            Authority::Account(account) => write(&*self.cluster.impersonating(account)?),
            Authority::Unknown(reason) => {
                Err(ClusterError { kind: ErrorKind::Forbidden, message: reason.clone() })
            }
        }
    }
}

fn wrote(answer: Result<Object, ClusterError>) -> Result<Outcome, ClusterError> {
    match answer {
        Ok(object) => Ok(Outcome::Wrote(Some(object))),
        Err(error) => stale_or(error),
    }
}

/// Returns [`Outcome::Stale`] for an object that exists already, was deleted or was changed.
fn stale_or(error: ClusterError) -> Result<Outcome, ClusterError> {
    match error.kind {
        ErrorKind::AlreadyExists | ErrorKind::Conflict | ErrorKind::NotFound => Ok(Outcome::Stale),
        ErrorKind::Forbidden | ErrorKind::Invalid | ErrorKind::Unavailable | ErrorKind::Other => {
            Err(error)
        }
    }
}
