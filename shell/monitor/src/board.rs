//! The board: what a controller last said about itself.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What a controller last said about itself.
#[derive(Debug)]
pub struct Board {
    said: Mutex<Said>,
    /// How long a controller may say nothing before it counts as stuck.
    patience: Duration,
}

#[derive(Debug)]
struct Said {
    beat: Instant,
    readiness: Readiness,
    metrics: String,
}

/// Whether a controller does its work, or could at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It does, or waits to take over; the sentence says which.
    Ready(String),
    /// It does not yet; the sentence says why.
    NotReady(String),
}

impl Board {
    /// Begins a board of somebody who says something at least this often.
    pub fn new(patience: Duration) -> Self {
        let said = Said {
            beat: Instant::now(),
            readiness: Readiness::NotReady("it has only begun".to_owned()),
            metrics: String::new(),
        };
        Self { said: Mutex::new(said), patience }
    }

    /// Says that the work goes on.
    pub fn beat(&self) {
        self.change(|said| said.beat = Instant::now());
    }

    /// Says whether the work is done; that is a sign of life, too.
    pub fn show_readiness(&self, readiness: Readiness) {
        self.change(|said| {
            said.readiness = readiness;
            said.beat = Instant::now();
        });
    }

    /// Shows metrics, as [`crate::exposition()`] writes them.
    pub fn show_metrics(&self, text: String) {
        self.change(|said| said.metrics = text);
    }

    /// Returns why it counts as stuck, if it does.
    pub(crate) fn stuck(&self) -> Option<String> {
        let silent = self.change(|said| said.beat.elapsed());
        (silent > self.patience).then(|| format!("nothing was done for {} s", silent.as_secs()))
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.change(|said| said.readiness.clone())
    }

    pub(crate) fn metrics(&self) -> String {
        self.change(|said| said.metrics.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Said) -> T) -> T {
        // What is behind the lock is whole values: nothing in it is half said.
        change(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
