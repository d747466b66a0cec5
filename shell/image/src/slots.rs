//! Bounds for work that takes much memory.

use std::{
    collections::BTreeSet,
    sync::{Condvar, Mutex, PoisonError},
};

use crate::workers::{FetchKey, FetchLimits, FetchQueue};

/// Limits how many threads do some work at the same time; the others wait.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A slot that is taken. Dropping it frees the slot.
#[derive(Debug)]
#[must_use]
pub(crate) struct Slot<'s>(&'s Slots);

impl Slots {
    /// Creates so many slots.
    pub(crate) const fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a free slot and takes it.
    pub(crate) fn take(&self) -> Slot<'_> {
        // The count is right whatever happened to another holder of the lock.
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

/// Limits how many threads do some work at the same time. A namespace has one slot at most, and namespaces take
/// turns.
#[derive(Debug)]
pub(crate) struct FairSlots {
    state: Mutex<FairState>,
    changed: Condvar,
}

#[derive(Debug)]
struct FairState {
    /// The threads that wait, by number.
    queue: FetchQueue<u64>,
    /// Those that got a slot and did not notice yet.
    admitted: BTreeSet<u64>,
    next_number: u64,
}

/// A slot of a namespace. Dropping it frees the slot.
#[derive(Debug)]
#[must_use]
pub(crate) struct FairSlot<'s> {
    slots: &'s FairSlots,
    key: FetchKey,
}

impl FairSlots {
    /// Creates so many slots.
    pub(crate) fn new(count: usize) -> Self {
        let limits = FetchLimits { total: count, namespace: 1, namespace_host: 1, host: count };
        let queue = FetchQueue::new(limits);
        let state = Mutex::new(FairState { queue, admitted: BTreeSet::new(), next_number: 0 });
        Self { state, changed: Condvar::new() }
    }

    /// Waits for the turn of a namespace, and takes a slot.
    pub(crate) fn take(&self, namespace: &str) -> FairSlot<'_> {
        let key = FetchKey { namespace: namespace.to_owned(), host: String::new() };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.next_number;
        state.next_number += 1;
        state.queue.push(key.clone(), number);
        self.admit(&mut state);
        let is_waiting = |state: &mut FairState| !state.admitted.contains(&number);
        let waited = self.changed.wait_while(state, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).admitted.remove(&number);
        FairSlot { slots: self, key }
    }

    fn admit(&self, state: &mut FairState) {
        while let Some((_, number)) = state.queue.next() {
            state.admitted.insert(number);
        }
        self.changed.notify_all();
    }
}

impl Drop for FairSlot<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.queue.finish(&self.key);
        self.slots.admit(&mut state);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering},
            mpsc,
        },
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn slots_limit_concurrent_work() {
        let slots = Slots::new(2);
        let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _slot = slots.take();
                        most.fetch_max(
                            working.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        thread::yield_now();
                        working.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(*slots.free.lock().unwrap(), 2);
    }

    /// A namespace with many threads has one slot, another one gets the second, and a third one waits for one turn of
    /// each.
    #[test]
    fn fair_slots_take_turns_between_namespaces() {
        // Threads that still wait when a claim fails end with the test program.
        let slots: &'static FairSlots = Box::leak(Box::new(FairSlots::new(2)));
        let (write, begun) = mpsc::channel();
        let mut count = 0;
        let mut wait_for = |namespace: &'static str| {
            let write = write.clone();
            thread::spawn(move || {
                let slot = slots.take(namespace);
                write.send((namespace, slot)).unwrap();
            });
            count += 1;
            while slots.state.lock().unwrap().next_number < count {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let next = || begun.recv_timeout(Duration::from_secs(60)).unwrap();
        (0..5).for_each(|_| wait_for("greedy"));
        let (first, greedy_slot) = next();
        assert_eq!(first, "greedy");
        let is_nothing = begun.recv_timeout(Duration::from_millis(50)).is_err();
        assert!(is_nothing, "the second slot is not for the same namespace");
        (0..3).for_each(|_| wait_for("other"));
        let (second, other_slot) = next();
        assert_eq!(second, "other");
        wait_for("late");
        drop(greedy_slot);
        let (third, greedy_slot) = next();
        assert_eq!(third, "greedy");
        drop(greedy_slot);
        let (fourth, late_slot) = next();
        assert_eq!(fourth, "late", "a namespace has one turn before the others");
        drop((other_slot, late_slot));
        let mut rest: Vec<&str> = (0..5).map(|_| next().0).collect();
        rest.sort_unstable();
        assert_eq!(rest, ["greedy", "greedy", "greedy", "other", "other"]);
        assert!(slots.state.lock().unwrap().admitted.is_empty());
    }
}
