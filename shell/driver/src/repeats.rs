//! What was written and had to be written again.
//!
//! Whoever writes the same thing again is fighting with somebody who takes it back. The first time that is
//! put right at once; then longer and longer is waited, so that a fight costs the cluster little. It does
//! not say who the other one is.

use std::{collections::BTreeMap, time::Duration};

use operon_lifecycle::{Action, LONGEST_PAUSE};
use operon_object::{Object, ObjectKey, Timestamp, Value};

/// How long is waited when something was taken back for the second time; it doubles from there. An operator
/// whose rights are taken away is written about several times, so a fight costs more than one write.
const FIRST_TRUCE: Duration = Duration::from_secs(2);

/// How long peace has to last until a fight is forgotten.
const MEMORY: Duration = LONGEST_PAUSE.saturating_mul(2);

/// How often something is put right before people are told. The first time may be a slip of the hand, and
/// the second its correction.
const REPEATS_UNTIL_TOLD: u32 = 3;

/// How often in a row a write may find that something has changed meanwhile, without a pause: whoever looks
/// again is right the next time, or the time after that.
const STALE_LIMIT: u32 = 8;

/// What a write leaves on an object for the cluster alone.
const MARKS_OF_THE_CLUSTER: [&str; 3] = ["resourceVersion", "generation", "managedFields"];

/// The last writes, by object and by what sort of write it was.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    by_target: BTreeMap<(ObjectKey, &'static str), Repeat>,
    /// How often in a row something had changed when it was to be written, and when last; by what it was and
    /// what for.
    stale: BTreeMap<(ObjectKey, ObjectKey), (u32, Timestamp)>,
}

/// The last write of a sort.
#[derive(Debug)]
struct Repeat {
    content: Value,
    occasion: String,
    last: Timestamp,
    /// How often in a row the same was written, besides the first time.
    count: u32,
}

impl Repeat {
    /// Tells whether a write says the same as the last one, on the same occasion.
    fn is_of(&self, writing: &Writing) -> bool {
        self.occasion == writing.occasion && is_same_save_for_times(&self.content, &writing.content)
    }
}

/// A write that is about to happen.
#[derive(Debug)]
pub(crate) struct Writing {
    key: (ObjectKey, &'static str),
    content: Value,
    /// The identity of what it is written for. Whoever installs the same operator again and again gives an
    /// occasion each time, and takes nothing back.
    occasion: String,
}

impl Writing {
    /// Sees what an action would write for a work, if it is something that others could take back.
    pub(crate) fn of(action: &Action, work: Option<&Object>) -> Option<Self> {
        let (object, content) = match action {
            Action::UpdateStatus(object) => (object, object.status().clone()),
            Action::Create(object) | Action::Update(object) | Action::Apply(object) => {
                (object, without_marks(object))
            }
            Action::Delete { .. }
            | Action::DeleteUnchanged(_)
            | Action::Emit(_)
            | Action::Unpack(_)
            | Action::Certify(_)
            | Action::Watch(_) => return None,
        };
        let key = object.key();
        // What is written for its own sake and was deleted has no identity: that is taking back, too.
        let is_for_itself = |work: &Object| work.key() == key;
        let occasion = match work {
            Some(work) if !is_for_itself(work) => work.uid().to_owned(),
            _ => object.uid().to_owned(),
        };
        Some(Self { key: (key, action.verb()), content, occasion })
    }
}

fn without_marks(object: &Object) -> Value {
    let mut object = object.clone();
    let metadata = object.metadata_mut();
    for mark in MARKS_OF_THE_CLUSTER {
        metadata.remove(mark);
    }
    object.into_value()
}

impl Repeats {
    /// Returns when something may be written, if that is later than now.
    pub(crate) fn hold_off(&self, writing: &Writing, now: Timestamp) -> Option<Timestamp> {
        let repeat = self.by_target.get(&writing.key)?;
        let doublings = repeat.count.checked_sub(1).filter(|_| repeat.is_of(writing))?;
        let pause = FIRST_TRUCE.saturating_mul(1 << doublings.min(10)).min(LONGEST_PAUSE);
        Some(repeat.last.after(pause)).filter(|next| now < *next)
    }

    /// Notes that something was written; tells whether people should now hear of a fight.
    pub(crate) fn note(&mut self, writing: Writing, now: Timestamp) -> bool {
        let before = self.by_target.get(&writing.key).filter(|repeat| repeat.is_of(&writing));
        let count = before.map_or(0, |repeat| repeat.count.saturating_add(1));
        let Writing { key, content, occasion } = writing;
        self.stale.retain(|(target, _), _| *target != key.0);
        self.by_target.insert(key, Repeat { content, occasion, last: now, count });
        count == REPEATS_UNTIL_TOLD
    }

    /// Notes that something had changed meanwhile; tells whether that was so too often.
    pub(crate) fn note_stale(
        &mut self,
        target: &ObjectKey,
        work: &ObjectKey,
        now: Timestamp,
    ) -> bool {
        let (count, last) = self.stale.entry((target.clone(), work.clone())).or_insert((0, now));
        (*count, *last) = (count.saturating_add(1), now);
        *count > STALE_LIMIT
    }

    /// Forgets what lies long enough in the past.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        self.stale.retain(|_, (_, last)| now < last.after(MEMORY));
        self.by_target.retain(|_, repeat| now < repeat.last.after(MEMORY));
    }
}

/// Tells whether two values say the same, save for when.
fn is_same_save_for_times(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one == other || (is_time(one) && is_time(other)),
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other.iter())
                    .all(|(one, other)| is_same_save_for_times(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one.iter().zip(other.iter()).all(|((name, one), (other_name, other))| {
                    name == other_name && is_same_save_for_times(one, other)
                })
        }
        (one, other) => one == other,
    }
}

fn is_time(text: &str) -> bool {
    Timestamp::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::default().after(Duration::from_secs(seconds))
    }

    fn apply(replicas: i64) -> Action {
        let mut object = Object::new("apps/v1", "Deployment", "harbour", "beacon");
        object.set(&["spec", "replicas"], replicas);
        Action::Apply(object)
    }

    fn status(time: &str) -> Action {
        let mut object = Object::new("apps/v1", "Deployment", "harbour", "beacon");
        object.set(&["metadata", "resourceVersion"], time);
        object.set(&["status", "lastUpdated"], time);
        Action::UpdateStatus(object)
    }

    /// Somebody takes back at once whatever is written, for a while; returns how often it was written.
    fn fight(repeats: &mut Repeats, action: impl Fn() -> Action, milliseconds: u64) -> usize {
        let begin = at(1000);
        let is_written = |millisecond: &u64| {
            let now = begin.after(Duration::from_millis(*millisecond));
            let writing = Writing::of(&action(), None).expect("bug: a write");
            let may_write = repeats.hold_off(&writing, now).is_none();
            if may_write {
                repeats.note(writing, now);
            }
            may_write
        };
        (0..milliseconds).filter(is_written).count()
    }

    #[test]
    fn what_is_taken_back_at_once_is_written_less_and_less_often() {
        let mut repeats = Repeats::default();
        // Twice at once, and then after 2 and 4 seconds.
        assert_eq!(fight(&mut repeats, || apply(1), 10_000), 4);
        // After half a minute it is 30 seconds each.
        assert_eq!(fight(&mut Repeats::default(), || apply(1), 600_000), 6 + 18);
    }

    #[test]
    fn a_fight_over_a_status_is_one_although_its_times_change() {
        let mut repeats = Repeats::default();
        let second = std::cell::Cell::new(0);
        let action = || {
            second.set((second.get() + 1) % 60);
            status(&format!("2026-11-16T10:00:{:02}Z", second.get()))
        };
        assert_eq!(fight(&mut repeats, action, 10_000), 4);
    }

    #[test]
    fn something_new_is_written_at_once_and_peace_makes_forget() {
        let mut repeats = Repeats::default();
        fight(&mut repeats, || apply(1), 10_000);
        let writing = |replicas| Writing::of(&apply(replicas), None).expect("bug: a write");
        assert!(repeats.hold_off(&writing(1), at(1010)).is_some());
        assert!(repeats.hold_off(&writing(2), at(1010)).is_none());
        repeats.forget(at(1030));
        assert!(repeats.hold_off(&writing(1), at(1010)).is_some());
        repeats.forget(at(1100));
        assert!(repeats.hold_off(&writing(1), at(1010)).is_none());
    }
    #[test]
    fn every_occasion_is_a_new_one() {
        let mut repeats = Repeats::default();
        let plan = |uid: &str| {
            let mut plan =
                Object::new("operators.coreos.com/v1alpha1", "InstallPlan", "harbour", "i");
            plan.set(&["metadata", "uid"], uid);
            plan
        };
        for uid in ["1", "2", "3", "4"] {
            let writing = Writing::of(&apply(1), Some(&plan(uid))).expect("bug: a write");
            assert_eq!(repeats.hold_off(&writing, at(1000)), None, "{uid}");
            repeats.note(writing, at(1000));
        }
        for is_held in [false, true] {
            let writing = Writing::of(&apply(1), Some(&plan("4"))).expect("bug: a write");
            assert_eq!(repeats.hold_off(&writing, at(1000)).is_some(), is_held);
            repeats.note(writing, at(1000));
        }
    }

    #[test]
    fn what_has_always_changed_is_paused_until_it_is_written() {
        let mut repeats = Repeats::default();
        let writing = Writing::of(&apply(1), None).expect("bug: a write");
        let (target, work) = (writing.key.0.clone(), ObjectKey::clone(&writing.key.0));
        let tell = |repeats: &mut Repeats| {
            (0..=STALE_LIMIT).filter(|_| repeats.note_stale(&target, &work, at(1000))).count()
        };
        assert_eq!(tell(&mut repeats), 1);
        repeats.note(writing, at(1000));
        assert_eq!(tell(&mut repeats), 1);
        repeats.forget(at(1100));
        assert!(repeats.stale.is_empty());
    }
}
