//! Doing what a verdict says.
//!
//! Effects are done in order. When one fails, what else was to be done for the same work is left out:
//! the next decision sees why.

use std::collections::BTreeSet;

use operon_install::certificate_secret;
use operon_kinds::names;
use operon_lifecycle::{Action, Authority, Effect, ErrorKind, Event, Failure, Guard, Timing};
use operon_object::{Object, ObjectKey, Timestamp};

use crate::{Catalogs, Cluster, ClusterError, Deed, Driver, events, repeats::Writing};

/// What came of an effect.
enum Done {
    /// Something was written.
    Wrote,
    /// Nothing had to be written.
    Nothing,
    /// The world is not as it was seen; the next decision will know.
    Stale,
}

/// What came of a verdict.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// How much was tried.
    pub(crate) tried: usize,
    /// How much was written.
    pub(crate) written: usize,
    /// When what failed may be tried again.
    pub(crate) wake: Option<Timestamp>,
    /// What was tried, in order.
    pub(crate) deeds: Vec<Deed>,
}

/// What is remembered while a verdict is carried out.
#[derive(Debug, Default)]
struct Attempt {
    executed: Executed,
    /// The works of which something failed.
    abandoned: BTreeSet<ObjectKey>,
    /// The objects of which guards are known to hold.
    holding: BTreeSet<ObjectKey>,
    /// The objects that were written: what was decided for them rests on how they were before.
    written: BTreeSet<ObjectKey>,
}

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Does what is to be done for a namespace, as far as it may be tried now.
    pub(crate) fn execute(
        &mut self,
        namespace: &str,
        effects: Vec<Effect>,
        now: Timestamp,
    ) -> Executed {
        let mut attempt = Attempt::default();
        let (late, effects): (Vec<Effect>, Vec<Effect>) =
            effects.into_iter().partition(|effect| effect.timing == Timing::AtRest);
        for effect in effects {
            self.attempt(namespace, effect, now, &mut attempt);
        }
        if attempt.executed.tried == 0 {
            for effect in late {
                self.attempt(namespace, effect, now, &mut attempt);
            }
        } else if !late.is_empty() {
            self.touched.touch_namespace(namespace);
        }
        attempt.executed
    }

    fn attempt(
        &mut self,
        namespace: &str,
        Effect { action, work, guards, authority, timing: _ }: Effect,
        now: Timestamp,
        attempt: &mut Attempt,
    ) {
        let Attempt { executed, abandoned, holding, written } = attempt;
        if abandoned.contains(&work) {
            return;
        }
        let target = action.target();
        let writing = Writing::of(&action, self.picture.objects.find(&work));
        if let Some(next) = self.pause(target.as_ref(), &work, writing.as_ref(), now) {
            executed.wake = Some(executed.wake.map_or(next, |wake| wake.min(next)));
            abandoned.insert(work);
            return;
        }
        executed.tried += 1;
        let verb = action.verb();
        let rests_on_the_past = match &action {
            Action::Update(object) | Action::UpdateStatus(object) => {
                written.contains(&object.key())
            }
            _ => false,
        };
        if rests_on_the_past {
            // The cluster would refuse it; the next decision knows how the object is now.
            self.touched.touch_namespace(namespace);
            abandoned.insert(work);
            return;
        }
        let done = match self.hold(&guards, holding) {
            Ok(true) => self.act(action, &authority, now),
            Ok(false) => Ok(Done::Stale),
            Err(error) => Err(error),
        };
        if let Some(target) = &target {
            let refusal = match &done {
                Ok(Done::Wrote | Done::Nothing) => None,
                Ok(Done::Stale) => Some("something had changed meanwhile".to_owned()),
                Err(error) => Some(error.message.clone()),
            };
            let (target, work) = (target.clone(), work.clone());
            executed.deeds.push(Deed { verb, target, work, refusal });
        }
        match done {
            Ok(done @ (Done::Wrote | Done::Nothing)) => {
                let has_written = matches!(done, Done::Wrote);
                executed.written += usize::from(has_written);
                if let Some(target) = target {
                    self.failures.forgive(&target);
                    if has_written {
                        self.remember(writing, &target, &work, now);
                        written.insert(target);
                    }
                }
            }
            Ok(Done::Stale) => {
                self.touched.touch_namespace(namespace);
                let target = target.unwrap_or_else(|| work.clone());
                if self.repeats.note_stale(&target, &work, now) {
                    let message = format!("{target} had changed meanwhile, again and again");
                    let error = ClusterError { kind: ErrorKind::Conflict, message };
                    self.failures.note(target, work.clone(), error.into(), now);
                }
                abandoned.insert(work);
            }
            Err(error) => {
                self.touched.touch_namespace(namespace);
                let target = target.unwrap_or_else(|| work.clone());
                let error = naming(error, &target);
                self.failures.note(target, work.clone(), error.into(), now);
                abandoned.insert(work);
            }
        }
    }

    /// Returns until when something is not tried. Whatever was decided, what fails, and what somebody takes
    /// back, is not tried again at full speed.
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

    /// Remembers what was written. Where somebody takes it back again and again, people are told.
    fn remember(
        &mut self,
        writing: Option<Writing>,
        target: &ObjectKey,
        work: &ObjectKey,
        now: Timestamp,
    ) {
        let is_to_be_told = writing.is_some_and(|writing| self.repeats.note(writing, now));
        let Some(object) = self.picture.objects.find(work).filter(|_| is_to_be_told) else {
            return;
        };
        let message = format!(
            "somebody takes back again and again what Operon writes to {target}, so it is written less \
             often: `kubectl get --show-managed-fields` says who else writes it"
        );
        // No work waits for it that people are told.
        drop(events::emit(&self.cluster, &Event::about(object, true, "TakenBack", &message), now));
    }

    /// Asks the cluster whether guards hold; each object is asked for once.
    fn hold(
        &self,
        guards: &[Guard],
        holding: &mut BTreeSet<ObjectKey>,
    ) -> Result<bool, ClusterError> {
        for guard in guards {
            let key = match guard {
                Guard::Absent(key) | Guard::NotForeign(key, _) => key.clone(),
                Guard::Unchanged(object) | Guard::Alive(object) => object.key(),
            };
            if holding.contains(&key) {
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

    fn act(
        &mut self,
        action: Action,
        authority: &Authority,
        now: Timestamp,
    ) -> Result<Done, ClusterError> {
        match action {
            Action::Create(object) => match self.with_authority(authority, |by| by.create(&object))
            {
                Err(error) if error.kind == ErrorKind::AlreadyExists => self.taken(&object, error),
                // There is no such kind, or no such namespace: that does not pass by looking again.
                Err(error) if error.kind == ErrorKind::NotFound => Err(error),
                answer => self.wrote(answer),
            },
            Action::Update(object) => {
                self.wrote(self.with_authority(authority, |by| by.update(&object)))
            }
            Action::UpdateStatus(object) => {
                self.wrote(self.with_authority(authority, |by| by.update_status(&object)))
            }
            Action::Apply(object) => match self.with_authority(authority, |by| by.apply(&object)) {
                Ok(object) => {
                    self.picture.take_answer(object, &mut self.touched);
                    Ok(Done::Wrote)
                }
                Err(error) if error.kind == ErrorKind::Conflict => Ok(Done::Stale),
                Err(error) => Err(error),
            },
            Action::Delete { key, uid } => {
                match self.with_authority(authority, |by| by.delete(&key, &uid)) {
                    Ok(()) => Ok(Done::Wrote),
                    Err(error) => stale_or(error),
                }
            }
            Action::DeleteUnchanged(object) => {
                match self.with_authority(authority, |by| by.delete_unchanged(&object)) {
                    Ok(()) => Ok(Done::Wrote),
                    Err(error) => stale_or(error),
                }
            }
            Action::Emit(event) => {
                // People are told as well as can be: no work waits for it.
                match events::emit(&self.cluster, &event, now) {
                    Ok(()) => Ok(Done::Wrote),
                    Err(_) => Ok(Done::Nothing),
                }
            }
            Action::Unpack(key) => {
                self.ask(key, now);
                Ok(Done::Nothing)
            }
            Action::Certify(request) => {
                let (certificate, rotate) = self.catalogs.certify(&request, now)?;
                let mut secret =
                    certificate_secret(&request.operator, &request.deployment, &certificate);
                secret.set_annotation(names::ROTATE_ANNOTATION, &rotate.to_string());
                let object = self.with_authority(authority, |by| by.apply(&secret))?;
                self.picture.take_answer(object, &mut self.touched);
                Ok(Done::Wrote)
            }
            Action::Watch(kind) => {
                self.picture.watch(&self.cluster, kind, &mut self.touched)?;
                Ok(Done::Nothing)
            }
        }
    }

    /// Finds out whose a name is that was to be used. Only what the picture has not shown yet is no
    /// failure: it should not be made again when it is seen, and cannot be made where it never is.
    fn taken(&mut self, object: &Object, error: ClusterError) -> Result<Done, ClusterError> {
        let key = object.key();
        if self.picture.objects.find(&key).is_some() {
            return Err(error);
        }
        match self.cluster.get(&key)? {
            Some(live) if !self.picture.covers(&live) => Err(ClusterError {
                kind: ErrorKind::AlreadyExists,
                message: format!(
                    "{key} exists already and is none of Operon's: rename or delete it"
                ),
            }),
            live => {
                live.into_iter().for_each(|live| self.picture.take_answer(live, &mut self.touched));
                Ok(Done::Stale)
            }
        }
    }

    /// Runs `write` with the permissions of an authority, and never with others.
    fn with_authority<T>(
        &self,
        authority: &Authority,
        write: impl FnOnce(&dyn Cluster) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        match authority {
            Authority::Controller => write(&self.cluster),
            Authority::Account(account) => write(&*self.cluster.impersonating(account)?),
            Authority::Unknown(reason) => {
                Err(ClusterError { kind: ErrorKind::Forbidden, message: reason.clone() })
            }
        }
    }

    fn wrote(&mut self, answer: Result<Object, ClusterError>) -> Result<Done, ClusterError> {
        match answer {
            Ok(object) => {
                self.picture.take_answer(object, &mut self.touched);
                Ok(Done::Wrote)
            }
            Err(error) => stale_or(error),
        }
    }
}

/// Says what it was that could not be written, where the cluster does not.
fn naming(error: ClusterError, target: &ObjectKey) -> ClusterError {
    if error.message.contains(&target.name) {
        return error;
    }
    let message = format!("{target} cannot be written: {}", error.message);
    ClusterError { message, ..error }
}

/// What is there already, gone already or changed meanwhile is no failure.
fn stale_or(error: ClusterError) -> Result<Done, ClusterError> {
    match error.kind {
        ErrorKind::AlreadyExists | ErrorKind::Conflict | ErrorKind::NotFound => Ok(Done::Stale),
        ErrorKind::Forbidden | ErrorKind::Invalid | ErrorKind::Unavailable | ErrorKind::Other => {
            Err(error)
        }
    }
}
