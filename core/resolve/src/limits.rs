//! How much work a resolution may be.

/// Bounds of the work; each ends with a clear answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the search for an answer, over all parts.
    pub search_steps: u64,
    /// Steps spent on finding out why there is no answer, for each part.
    pub conflict_steps: u64,
    /// Independent conflicts that are looked for in each part.
    pub conflicts: usize,
}

/// Steps of a search: ten seconds to a minute of work; fifty Subscriptions on the community catalog
/// take some thousand.
pub const DEFAULT_SEARCH_STEPS: u64 = 400_000_000;

/// Steps for finding out why there is no answer: some tenths of a second of work.
pub const DEFAULT_CONFLICT_STEPS: u64 = 3_000_000;

/// Conflicts that people can take in at once.
pub const DEFAULT_CONFLICTS: usize = 8;

impl Default for Limits {
    fn default() -> Self {
        Self {
            search_steps: DEFAULT_SEARCH_STEPS,
            conflict_steps: DEFAULT_CONFLICT_STEPS,
            conflicts: DEFAULT_CONFLICTS,
        }
    }
}
