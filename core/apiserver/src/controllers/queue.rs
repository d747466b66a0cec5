//! Work that is due, and work that will be.
//!
//! Each piece of work is in the queue once, however often it was put there.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::Timestamp;

use super::{Next, Work};

/// What to do now and later.
#[derive(Debug, Default)]
pub(super) struct Queue {
    now: BTreeSet<Work>,
    later: BTreeSet<(Timestamp, Work)>,
    times: BTreeMap<Work, Timestamp>,
}

impl Queue {
    pub(super) fn add(&mut self, work: Work) {
        self.now.insert(work);
    }

    /// Returns what is due, in the order of work.
    pub(super) fn due(&self, now: Timestamp) -> impl Iterator<Item = &Work> {
        let timed = self.later.iter().take_while(move |(time, _)| *time <= now);
        // Work that is both due by a change and by time comes once.
        let timed = timed.map(|(_, work)| work).filter(|work| !self.now.contains(work));
        self.now.iter().chain(timed)
    }

    /// Notes when to look at work that was handled.
    pub(super) fn settle(&mut self, work: Work, next: Next) {
        if let Some(time) = self.times.remove(&work) {
            self.later.remove(&(time, work.clone()));
        }
        match next {
            Next::Done => {
                self.now.remove(&work);
            }
            Next::Again => {
                self.now.insert(work);
            }
            Next::At(time) => {
                self.now.remove(&work);
                self.times.insert(work.clone(), time);
                self.later.insert((time, work));
            }
        }
    }

    pub(super) fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        if !self.now.is_empty() {
            return Some(now);
        }
        self.later.first().map(|(time, _)| (*time).max(now))
    }
}
