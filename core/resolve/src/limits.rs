//! How much work a decision may be.

use crate::budget::Spent;

/// Bounds of the work of one decision; each ends with a clear answer.
///
/// A decision is a resolution and everything that is asked about its outcome: explanations and the
/// ways out that are tried. Its parts draw on the same steps, see [`Budget`](crate::Budget).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the whole decision: reading and matching, rules, search, explanations.
    pub steps: u64,
    /// Bytes that the decision may hold at once, as it estimates them.
    pub bytes: u64,
    /// Steps spent on finding out why there is no answer, for each part.
    pub conflict_steps: u64,
    /// Independent conflicts that are looked for in each part.
    pub conflicts: usize,
}

/// Steps of a decision: one to two seconds of work, so that one namespace never keeps the others
/// waiting for long. Fifty Subscriptions on the community catalog take some hundred thousand.
pub const DEFAULT_STEPS: u64 = 40_000_000;

/// Bytes of a decision: all packages of the community catalog at once take a tenth of it, and a
/// controller with 512 MiB survives it.
pub const DEFAULT_BYTES: u64 = 192 * 1024 * 1024;

/// Steps for finding out why there is no answer: some tenths of a second of work.
pub const DEFAULT_CONFLICT_STEPS: u64 = 3_000_000;

/// Conflicts that people can take in at once.
pub const DEFAULT_CONFLICTS: usize = 8;

impl Limits {
    /// Returns the limit that was reached when a decision ran out of something.
    pub(crate) fn of(&self, spent: Spent) -> u64 {
        match spent {
            Spent::Steps => self.steps,
            Spent::Bytes => self.bytes,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: DEFAULT_STEPS,
            bytes: DEFAULT_BYTES,
            conflict_steps: DEFAULT_CONFLICT_STEPS,
            conflicts: DEFAULT_CONFLICTS,
        }
    }
}
