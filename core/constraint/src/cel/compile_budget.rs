//! What compiling rules may take, before any of them is evaluated.

use super::limit::{Limit, MAX_CHECK_STEPS};

/// Limits what several rules together may take to compile.
///
/// Each rule has limits of its own, but a constraint may have hundreds of rules.
#[derive(Clone, Debug)]
pub struct CompileBudget {
    max_steps: u64,
    max_bytes: u64,
    steps: u64,
    bytes: u64,
    exhausted: Option<Exhausted>,
}

/// Names what a budget had too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The steps of type checking and of compiling patterns.
    Steps,
    /// The bytes that compiled patterns hold.
    Bytes,
}

impl CompileBudget {
    /// Allows steps and bytes.
    pub fn new(max_steps: u64, max_bytes: u64) -> Self {
        Self { max_steps, max_bytes, steps: 0, bytes: 0, exhausted: None }
    }

    /// Allows every rule what the limits of a rule allow.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, u64::MAX)
    }

    /// Returns the steps spent so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the bytes that are held by what was compiled.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns what was too little. What was compiled then is incomplete, and its faults say nothing.
    pub fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted
    }

    /// Returns the steps that type checking one rule may take.
    pub(super) fn check_steps(&self) -> usize {
        let left = self.max_steps.saturating_sub(self.steps);
        usize::try_from(left).unwrap_or(usize::MAX).min(MAX_CHECK_STEPS)
    }

    /// Charges the steps of type checking one rule, which was allowed fewer than a rule may take if it was
    /// cut short.
    pub(super) fn charge_check(&mut self, steps: usize, is_cut_short: bool) {
        let is_own_limit = self.check_steps() == MAX_CHECK_STEPS;
        self.steps = self.steps.saturating_add(steps as u64).min(self.max_steps);
        if is_cut_short && !is_own_limit {
            self.exhausted = Some(Exhausted::Steps);
        }
    }

    /// Spends steps, as many as there are.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Limit> {
        let spent = self.steps.saturating_add(steps);
        self.steps = spent.min(self.max_steps);
        if spent > self.max_steps {
            self.exhausted = Some(Exhausted::Steps);
            return Err(Limit::CheckSteps);
        }
        Ok(())
    }

    /// Takes bytes; returns `false` if there are too few.
    pub(super) fn occupy(&mut self, bytes: u64) -> bool {
        let held = self.bytes.saturating_add(bytes);
        if held > self.max_bytes {
            self.exhausted = Some(Exhausted::Bytes);
            return false;
        }
        self.bytes = held;
        true
    }
}
