//! What a free search still has to fulfil: the wishes in force, the most contested first.
//!
//! A wish is a clause whose conditions hold: one of its positive literals must become true. Deciding only what
//! is asked for keeps the search away from variables nobody needs; asking for the most contested
//! first keeps it from building on sand. Truth values are not known here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The urgency of a wish, then the order of coming, then its clause.
type Entry = (u64, Reverse<u64>, u32);

#[derive(Debug)]
pub(crate) struct Demand {
    /// Wishes that may be unfulfilled.
    waiting: BinaryHeap<Entry>,
    /// By clause whether it is waiting or reopened.
    is_waiting: Vec<bool>,
    /// Wishes found fulfilled, in the order in which that was noticed.
    settled: Vec<u32>,
    /// Settled wishes whose fulfilment was taken back.
    reopened: Vec<u32>,
    /// How many sources of wishes have been looked at.
    pub(crate) scanned: usize,
    arrivals: u64,
    marks: Vec<Mark>,
}

/// The state before a level was opened.
#[derive(Clone, Copy, Debug)]
struct Mark {
    settled: usize,
    scanned: usize,
}

impl Demand {
    pub(crate) fn new(clauses: usize) -> Demand {
        Demand {
            waiting: BinaryHeap::new(),
            is_waiting: vec![false; clauses],
            settled: Vec::new(),
            reopened: Vec::new(),
            scanned: 0,
            arrivals: 0,
            marks: Vec::new(),
        }
    }

    /// Forgets all wishes.
    pub(crate) fn clear(&mut self) {
        let waiting = self.waiting.drain().map(|(_, _, clause)| clause);
        for clause in waiting.chain(self.reopened.drain(..)) {
            self.is_waiting[clause as usize] = false;
        }
        self.settled.clear();
        self.scanned = 0;
        self.arrivals = 0;
    }

    /// Adds a wish, unless it is waiting already.
    pub(crate) fn add(&mut self, clause: u32, urgency: impl Fn(u32) -> u64) {
        if !std::mem::replace(&mut self.is_waiting[clause as usize], true) {
            self.waiting.push((urgency(clause), Reverse(self.arrivals), clause));
            self.arrivals += 1;
        }
    }

    /// Lets the wishes whose fulfilment was taken back wait again.
    pub(crate) fn add_reopened(&mut self, urgency: impl Fn(u32) -> u64) {
        for clause in std::mem::take(&mut self.reopened) {
            self.is_waiting[clause as usize] = false;
            self.add(clause, &urgency);
        }
    }

    /// Sorts the waiting wishes by their present urgency.
    pub(crate) fn refresh(&mut self, urgency: impl Fn(u32) -> u64) {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting = waiting
            .into_iter()
            .map(|(_, arrival, clause)| (urgency(clause), arrival, clause))
            .collect();
    }

    /// Returns the most urgent wish, which goes on waiting.
    pub(crate) fn first(&self) -> Option<u32> {
        self.waiting.peek().map(|(_, _, clause)| *clause)
    }

    /// Takes out the most urgent wish; a fulfilled one waits again when the present level is taken back.
    pub(crate) fn remove_first(&mut self, is_fulfilled: bool) {
        if let Some((_, _, clause)) = self.waiting.pop() {
            self.is_waiting[clause as usize] = false;
            if is_fulfilled {
                self.settled.push(clause);
            }
        }
    }

    pub(crate) fn open_level(&mut self) {
        self.marks.push(Mark { settled: self.settled.len(), scanned: self.scanned });
    }

    /// Restores the state before the level above the given one was opened.
    pub(crate) fn close_levels(&mut self, level: usize) {
        let Some(mark) = self.marks.get(level).copied() else { return };
        self.marks.truncate(level);
        self.scanned = mark.scanned;
        for clause in self.settled.drain(mark.settled..) {
            if !std::mem::replace(&mut self.is_waiting[clause as usize], true) {
                self.reopened.push(clause);
            }
        }
    }
}
