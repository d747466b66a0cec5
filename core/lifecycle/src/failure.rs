//! What could not be done, and when it may be tried again.
//!
//! Failures are remembered by the driver between worlds; forgetting them, as after a restart, only
//! means that something is tried once more.

use std::{collections::BTreeMap, time::Duration};

use operon_object::{ObjectKey, Timestamp};

/// The longest time between two attempts.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest time between two attempts where a right is missing: nobody tells when one is given, and
/// whoever gave it is looking on.
const LONGEST_PAUSE_WITHOUT_RIGHTS: Duration = Duration::from_secs(5);
/// How many attempts follow each other so closely, about five minutes of them: after that nobody looks on.
const QUICK_ATTEMPTS_WITHOUT_RIGHTS: u32 = 60;
/// The time between the first and the second attempt; it doubles from there.
pub const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// What could not be done, by the object it was to be done to and the work it was to be done for: two plans
/// may want the same object, and each has to know why it does not get it.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    by_target: BTreeMap<(ObjectKey, ObjectKey), Failure>,
}

/// An effect that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The object whose work it was.
    pub work: ObjectKey,
    /// What was answered.
    pub error: EffectError,
    /// Since when it has failed. Waiting for a permission does not count towards other failures, nor they
    /// towards it.
    pub since: Timestamp,
    /// When it failed last.
    pub last: Timestamp,
    /// How often it failed in a row.
    pub count: u32,
}

/// Why an effect failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectError {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// The cluster's words.
    pub message: String,
}

/// The sorts of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The right to do it is missing.
    Forbidden,
    /// The kind, or the namespace, is not there.
    NotFound,
    /// It is there already.
    AlreadyExists,
    /// The object is not well-formed.
    Invalid,
    /// Something else changed the object meanwhile.
    Conflict,
    /// The cluster does not answer.
    Unavailable,
    /// Anything else.
    Other,
}

impl Failures {
    /// Notes that an effect failed.
    pub fn note(&mut self, target: ObjectKey, work: ObjectKey, error: EffectError, now: Timestamp) {
        let key = (target, work.clone());
        let before = self.by_target.get(&key);
        let count = before.map_or(0, |failure| failure.count);
        let is_forbidden = |kind| kind == ErrorKind::Forbidden;
        let same =
            before.filter(|failure| is_forbidden(failure.error.kind) == is_forbidden(error.kind));
        let since = same.map_or(now, |failure| failure.since);
        let failure = Failure { work, error, since, last: now, count: count.saturating_add(1) };
        self.by_target.insert(key, failure);
    }

    /// Returns `true` if an effect on an object failed.
    pub fn has_target(&self, target: &ObjectKey) -> bool {
        self.by_target.keys().any(|(failed, _)| failed == target)
    }

    /// Notes that an effect succeeded.
    pub fn forgive(&mut self, target: &ObjectKey) {
        self.by_target.retain(|(failed, _), _| failed != target);
    }

    /// Forgets the failures that are not wanted any more.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&Failure) -> bool) {
        self.by_target.retain(|_, failure| is_wanted(failure));
    }

    /// Returns the failure of an object's work on an object.
    pub fn of(&self, target: &ObjectKey, work: &ObjectKey) -> Option<&Failure> {
        self.by_target.get(&(target.clone(), work.clone()))
    }

    /// Returns all failures, sorted by target.
    pub fn all(&self) -> impl Iterator<Item = (&ObjectKey, &Failure)> {
        self.by_target.iter().map(|((target, _), failure)| (target, failure))
    }

    /// Returns the failures of an object's work, sorted by target.
    pub fn of_work(&self, work: &ObjectKey) -> impl Iterator<Item = (&ObjectKey, &Failure)> {
        self.all().filter(move |(_, failure)| failure.work == *work)
    }

    /// Tells whether nothing failed.
    pub fn is_empty(&self) -> bool {
        self.by_target.is_empty()
    }
}

impl Failure {
    /// Returns when it may be tried again.
    pub fn next_attempt(&self) -> Timestamp {
        let doublings = self.count.saturating_sub(1).min(10);
        let longest = match self.error.kind {
            ErrorKind::Forbidden if self.count <= QUICK_ATTEMPTS_WITHOUT_RIGHTS => {
                LONGEST_PAUSE_WITHOUT_RIGHTS
            }
            ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Invalid
            | ErrorKind::Conflict
            | ErrorKind::Unavailable
            | ErrorKind::Other => LONGEST_PAUSE,
        };
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(longest);
        self.last.after(pause)
    }
}

#[cfg(test)]
mod tests {
    use operon_object::known;

    use super::*;

    #[test]
    fn waiting_for_permission_does_not_count_as_failing() {
        let work = known::INSTALL_PLAN.key("shop", "plan");
        let target = known::CLUSTER_ROLE.key("", "role");
        let mut failures = Failures::default();
        let mut since = |kind, milliseconds| {
            let error = EffectError { kind, message: String::new() };
            let now = Timestamp::from_milliseconds(milliseconds);
            failures.note(target.clone(), work.clone(), error, now);
            failures.of(&target, &work).unwrap().since.milliseconds()
        };
        let story = [
            (ErrorKind::Forbidden, 1, 1),
            (ErrorKind::Forbidden, 90_000, 1),
            (ErrorKind::Unavailable, 91_000, 91_000),
            (ErrorKind::Other, 92_000, 91_000),
            (ErrorKind::Forbidden, 93_000, 93_000),
        ];
        for (kind, now, expected) in story {
            assert_eq!(since(kind, now), expected, "{kind:?} at {now}");
        }
    }

    #[test]
    fn what_is_refused_is_asked_for_less_and_less() {
        let pause = |kind, count| {
            let failure = Failure {
                work: known::INSTALL_PLAN.key("shop", "plan"),
                error: EffectError { kind, message: String::new() },
                since: Timestamp::from_milliseconds(0),
                last: Timestamp::from_milliseconds(0),
                count,
            };
            failure.next_attempt().since(failure.last)
        };
        for kind in [ErrorKind::Forbidden, ErrorKind::Invalid] {
            let pauses: Vec<Duration> = (1..200).map(|count| pause(kind, count)).collect();
            assert_eq!(pauses[0], FIRST_PAUSE);
            assert!(pauses.is_sorted(), "{pauses:?}");
            assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
        }
        let quick =
            (1..=QUICK_ATTEMPTS_WITHOUT_RIGHTS).map(|count| pause(ErrorKind::Forbidden, count));
        assert!(quick.clone().all(|pause| pause <= LONGEST_PAUSE_WITHOUT_RIGHTS));
        assert!(quick.sum::<Duration>() > Duration::from_secs(240));
        assert!(pause(ErrorKind::Invalid, 20) > LONGEST_PAUSE_WITHOUT_RIGHTS);
    }
}
