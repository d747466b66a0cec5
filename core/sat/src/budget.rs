//! The amount of work a search may do.
//!
//! Work is counted in steps and never in seconds, so that the same question always ends the same way.

/// Limits the work of one or several searches.
///
/// A step is one assignment, one constraint looked at because of an assignment, or one literal
/// analysed after a conflict. A modern core does some tens of millions of steps per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    steps: u64,
    spent: u64,
}

impl Budget {
    /// Allows the given number of steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Budget { steps, spent: 0 }
    }

    /// Returns the number of steps that are left.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.steps.saturating_sub(self.spent)
    }

    /// Returns the number of steps done so far; the last piece of work may exceed the limit a little.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Takes the steps out of the budget and returns `true` if something is left.
    ///
    /// Callers use it for work of their own that is part of the same question.
    pub fn spend(&mut self, steps: u64) -> bool {
        self.spent = self.spent.saturating_add(steps);
        self.spent < self.steps
    }
}
