//! A clock that goes on by itself and can be moved forward.
//!
//! Scenarios let hours pass. The engine is told the time of this clock; the cluster keeps its own, so
//! only what the engine and the pods' [probes](crate::Probes) wait for comes sooner.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use operon_object::Timestamp;
use operon_sim::BEGINNING;

/// A clock; clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    begun: Instant,
    skipped: Arc<Mutex<Duration>>,
}

impl Clock {
    /// Begins when every simulation does.
    pub fn new() -> Self {
        Self { begun: Instant::now(), skipped: Arc::default() }
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        let skipped = *self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        BEGINNING.after(self.begun.elapsed() + skipped)
    }

    /// Moves on to a time, unless it has passed.
    pub fn move_to(&self, time: Timestamp) {
        let ahead = time.since(self.now());
        *self.skipped.lock().unwrap_or_else(PoisonError::into_inner) += ahead;
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}
