//! A bound for work that takes much memory.

use std::sync::{Condvar, Mutex, PoisonError};

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

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
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
}
