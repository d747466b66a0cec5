//! Pauses between attempts: each longer than the one before, and never the same for two programs.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

/// The pause before a request is sent again.
pub const FIRST_REPEAT: Duration = Duration::from_millis(100);
/// The longest pause between two attempts of one request: the caller waits.
pub const LONGEST_REPEAT: Duration = Duration::from_secs(2);
/// The pause before a broken watch is begun again.
pub const FIRST_RECONNECT: Duration = Duration::from_millis(100);
/// The longest pause before a broken watch is begun again: an API server that comes back is noticed
/// within it.
pub const LONGEST_RECONNECT: Duration = Duration::from_secs(10);

/// The longest pause before a kind that is not there is looked for again; its definition is noticed at
/// once when it comes.
pub const LONGEST_ABSENCE: Duration = Duration::from_secs(30);

/// A series of pauses.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Returns the next pause: between a half and the whole of twice the last one.
    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        spread(pause / 2, pause)
    }

    /// Begins with the first pause again.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Chooses a time between two, so that programs that began together do not go on together.
pub(crate) fn spread(least: Duration, most: Duration) -> Duration {
    // A new state of the standard library's hashes is seeded by chance.
    let chance = RandomState::new().hash_one(()) >> 11;
    let share = chance as f64 / (1_u64 << 53) as f64;
    least + most.saturating_sub(least).mul_f64(share)
}
