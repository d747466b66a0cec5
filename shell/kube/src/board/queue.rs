//! What happened and was not acknowledged yet, in the order in which it was heard.
//!
//! What is acknowledged is forgotten; so is everything when it becomes too much, and then everybody has
//! to list again.

use std::collections::VecDeque;

use operon_driver::{Change, Interest};

/// How many changes may wait. A loop that is so far behind is faster when it lists again.
pub const QUEUE_LIMIT: usize = 20_000;

/// How large the changes that wait may be altogether, as text.
pub const QUEUE_BYTES_LIMIT: usize = 64 << 20;

/// What waits to be told.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// The number of the next change.
    next: u64,
    /// What happened before this number is not known any more.
    forgotten: u64,
    /// What happened before this number was told.
    told: u64,
    overflows: u64,
}

/// A change, and for which interest it was heard.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) interest: Interest,
    pub(super) change: Change,
    bytes: usize,
}

impl Queue {
    /// Adds a change, or forgets everything where that is too much.
    pub(super) fn push(&mut self, interest: &Interest, change: Change, bytes: usize) {
        let number = self.next;
        self.next += 1;
        if self.entries.len() >= QUEUE_LIMIT || self.bytes + bytes > QUEUE_BYTES_LIMIT {
            self.entries.clear();
            self.bytes = 0;
            self.forgotten = self.next;
            self.overflows += 1;
            return;
        }
        self.bytes += bytes;
        self.entries.push_back(Entry { number, interest: interest.clone(), change, bytes });
    }

    /// Returns a point that lies after all points that were given out.
    pub(super) fn advance(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the point that has been reached.
    pub(super) fn point(&self) -> u64 {
        self.next
    }

    /// Tells whether everything since a point is known.
    pub(super) fn knows(&self, point: u64) -> bool {
        (self.forgotten..=self.next).contains(&point)
    }

    /// Forgets what lies before a point.
    pub(super) fn acknowledge(&mut self, point: u64) {
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.number < point) {
            self.bytes -= entry.bytes;
            self.forgotten = entry.number + 1;
        }
    }

    /// Returns what waits, oldest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Notes that everything was told.
    pub(super) fn note_told(&mut self) {
        self.told = self.next;
    }

    /// Tells whether something happened that was not told, be it that it was forgotten.
    pub(super) fn has_news(&self) -> bool {
        self.entries.back().is_some_and(|entry| entry.number >= self.told)
            || self.forgotten > self.told
    }

    /// Counts what waits.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Counts how often it was too much.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows
    }
}
