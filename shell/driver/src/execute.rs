//! What the driver makes of executed effects: its picture, its failures, its next wake-up.

use std::sync::Arc;

use operon_lifecycle::{Effect, ErrorKind, Event, Failure};
use operon_object::{Object, ObjectKey, Timestamp};

use crate::{
    Catalogs, Cluster, ClusterError, Cycle, Deed, Driver, events,
    repeats::Writing,
    task::{Attempt, Outcome, Prepared, Report},
};

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Adds to effects what the driver remembers about them.
    pub(crate) fn prepare(&self, effects: Vec<Effect>, now: Timestamp) -> Vec<Prepared> {
        let prepare = |effect: Effect| {
            let writing = Writing::of(effect.action(), self.picture.objects.find(effect.work()));
            let target = effect.action().target();
            let paused = self.pause(target.as_ref(), effect.work(), writing.as_ref(), now);
            Prepared { effect, writing, paused }
        };
        effects.into_iter().map(prepare).collect()
    }

    /// Returns until when an effect is not tried. Whatever was decided, effects that fail, and writes that
    /// another writer reverts, back off.
    fn pause(
        &self,
        target: Option<&ObjectKey>,
        work: &ObjectKey,
        writing: Option<&Writing>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let failure = target.and_then(|target| self.failures.of(target, work));
        let after_failure = failure.map(Failure::next_attempt).filter(|next| now < *next);
        after_failure.or_else(|| self.repeats.hold_off(writing?, now))
    }

    /// Takes in what came of the effects of a namespace.
    pub(crate) fn settle(
        &mut self,
        namespace: &str,
        report: Report,
        now: Timestamp,
        cycle: &mut Cycle,
    ) {
        if report.is_incomplete {
            self.touched.touch_namespace(namespace);
        }
        for attempt in report.attempts {
            cycle.is_settled = false;
            self.settle_attempt(namespace, attempt, now, cycle);
        }
    }

    fn settle_attempt(
        &mut self,
        namespace: &str,
        attempt: Attempt,
        now: Timestamp,
        cycle: &mut Cycle,
    ) {
        let Attempt { verb, target, work, writing, outcome } = attempt;
        let outcome = match outcome {
            Outcome::Taken(live, error) => self.judge_taken(live, error),
            Outcome::Unpack(key) => {
                self.ask(key, now);
                Outcome::Nothing
            }
            Outcome::Watch(kind) => {
                match self.picture.watch(&self.cluster, kind, &mut self.touched) {
                    Ok(()) => Outcome::Nothing,
                    Err(error) => Outcome::Failed(error),
                }
            }
            outcome => outcome,
        };
        let refusal = match &outcome {
            Outcome::Stale => Some("the cluster has changed since the decision".to_owned()),
            Outcome::Failed(error) => Some(error.message.clone()),
            _ => None,
        };
        if let Some(target) = target.as_ref().filter(|_| !matches!(outcome, Outcome::Outdated)) {
            let (target, work) = (target.clone(), work.clone());
            cycle.deeds.push(Deed { verb, target, work, refusal });
        }
        match outcome {
            Outcome::Wrote(object) => {
                cycle.written += 1;
                if let Some(object) = object {
                    self.picture.take_answer(object, &mut self.touched);
                }
                if let Some(target) = target {
                    self.forgive(&target);
                    self.remember(writing, &target, &work, now);
                }
            }
            Outcome::Nothing => target.iter().for_each(|target| self.forgive(target)),
            Outcome::Outdated => self.touched.touch_namespace(namespace),
            Outcome::Stale => {
                self.touched.touch_namespace(namespace);
                let target = target.unwrap_or_else(|| work.clone());
                if self.repeats.note_stale(&target, &work, now) {
                    let message = format!("{target} keeps changing between decision and write");
                    let error = ClusterError { kind: ErrorKind::Conflict, message };
                    Arc::make_mut(&mut self.failures).note(target, work, error.into(), now);
                }
            }
            Outcome::Failed(error) => {
                self.touched.touch_namespace(namespace);
                let target = target.unwrap_or_else(|| work.clone());
                let error = naming(error, &target);
                Arc::make_mut(&mut self.failures).note(target, work, error.into(), now);
            }
            // Turned into other outcomes above.
            Outcome::Taken(..) | Outcome::Unpack(_) | Outcome::Watch(_) => {}
        }
    }

    fn forgive(&mut self, target: &ObjectKey) {
        if self.failures.has_target(target) {
            Arc::make_mut(&mut self.failures).forgive(target);
        }
    }

    /// Remembers a write. Where another writer keeps reverting it, an event says so.
    fn remember(
        &mut self,
        writing: Option<Writing>,
        target: &ObjectKey,
        work: &ObjectKey,
        now: Timestamp,
    ) {
        let is_contested = writing.is_some_and(|writing| self.repeats.note(writing, now));
        let Some(object) = self.picture.objects.find(work).filter(|_| is_contested) else {
            return;
        };
        let message = format!(
            "another controller keeps reverting changes to {target}, so Operon writes it less often: \
             `kubectl get --show-managed-fields` shows who else writes it"
        );
        let event = Event::about(object, true, "WriteConflict", &message);
        // An event that cannot be recorded blocks nothing.
        drop(events::emit(&self.cluster, &event, now));
    }

    /// Judges an object whose name was taken. It is not a failure if the picture only had not shown it
    /// yet; an object that the picture never shows blocks its name.
    fn judge_taken(&mut self, live: Option<Object>, error: ClusterError) -> Outcome {
        let Some(live) = live else { return Outcome::Stale };
        let key = live.key();
        if self.picture.objects.find(&key).is_some() {
            return Outcome::Failed(error);
        }
        if !self.picture.covers(&live) {
            let message =
                format!("{key} already exists and is not managed by Operon: rename or delete it");
            return Outcome::Failed(ClusterError { kind: ErrorKind::AlreadyExists, message });
        }
        self.picture.take_answer(live, &mut self.touched);
        Outcome::Stale
    }
}

/// Names the object that could not be written, where the cluster does not.
fn naming(error: ClusterError, target: &ObjectKey) -> ClusterError {
    if error.message.contains(&target.name) {
        return error;
    }
    let message = format!("cannot write {target}: {}", error.message);
    ClusterError { message, ..error }
}
