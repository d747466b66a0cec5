//! What one decision may spend, and what it has spent.
//!
//! Work is counted in steps and bytes and never in seconds, so that the same question always ends
//! the same way. A step is about thirty nanoseconds of work.

use std::borrow::Cow;

use operon_constraint::cel::{CelError, CompileBudget, Exhausted, Limit, MAX_EVALUATION_STEPS};
use operon_constraint::{
    CachedAnswer, CelRule, ConstraintCache, ConstraintError, Dialect, ParsedConstraint,
    PropertiesDigest, Property, parse_property_within,
};

use crate::limits::Limits;

/// What looking at an operator for the first time costs, in steps.
pub(crate) const STEPS_FOR_AN_OPERATOR: u64 = 30;

/// What a rule between operators costs, in steps: it is built, encoded and indexed.
pub(crate) const STEPS_FOR_A_RULE: u64 = 10;

/// What an operator holds, in bytes: its node, its variable, and its place in indexes.
pub(crate) const BYTES_FOR_AN_OPERATOR: u64 = 200;

/// What a rule holds, in bytes: itself, its clause, and its places in indexes.
pub(crate) const BYTES_FOR_A_RULE: u64 = 120;

/// What an operator in the list of a rule holds, in bytes: in the rule, in the clause and in indexes.
pub(crate) const BYTES_FOR_A_MEMBER: u64 = 24;

/// What of a budget ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// The steps.
    Steps,
    /// The bytes.
    Bytes,
}

/// What one decision may spend.
///
/// One value is meant for one decision: hand the same one to [`resolve`](crate::resolve) and then
/// to [`explain`](crate::explain()) for every conflict.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps_left: u64,
    bytes_left: u64,
    was_cut: bool,
    cache: ConstraintCache,
}

/// What a character of a need with rules holds, in bytes: most rules have a node for every three of them.
const BYTES_FOR_A_CHARACTER_OF_A_RULE: u64 = 32;

/// What a character of another need holds, in bytes: it is kept as text, and as what it says.
const BYTES_FOR_A_CHARACTER: u64 = 4;

/// Steps and bytes that are set aside.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(crate) struct Held {
    steps: u64,
    bytes: u64,
}

impl Budget {
    /// Allows what limits say.
    pub fn new(limits: &Limits) -> Self {
        Self::with_cache(limits, ConstraintCache::new())
    }

    /// Allows what limits say, and uses answers of rules that earlier decisions kept.
    ///
    /// A cached answer costs the steps of its evaluation, so outcomes do not depend on the cache.
    pub fn with_cache(limits: &Limits, cache: ConstraintCache) -> Self {
        Self {
            limits: *limits,
            steps_left: limits.steps,
            bytes_left: limits.bytes,
            was_cut: false,
            cache,
        }
    }

    /// Returns `true` if some work was left out for lack of steps or bytes, so that larger limits may
    /// give another outcome.
    ///
    /// Work on one request is allowed a share of the budget only, so steps may be left all the same.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Returns the steps that were spent.
    pub fn steps_spent(&self) -> u64 {
        self.limits.steps - self.steps_left
    }

    /// Returns the limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the steps that are left.
    pub fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Returns the bytes that are left.
    pub(crate) fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Charges steps for an answer that an earlier decision found when its budget was cut.
    pub fn charge_cut(&mut self, steps: u64) {
        self.steps_left = self.steps_left.saturating_sub(steps);
        self.was_cut = true;
    }

    /// Remembers that some work is left out.
    pub(crate) fn cut(&mut self, spent: Spent) -> Spent {
        self.was_cut = true;
        spent
    }

    /// Spends steps.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Spent> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                self.steps_left = 0;
                Err(self.cut(Spent::Steps))
            }
        }
    }

    /// Takes bytes, which are given back by the end of [`Budget::scope`].
    pub(crate) fn occupy(&mut self, bytes: u64) -> Result<(), Spent> {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(self.cut(Spent::Bytes)),
        }
    }

    /// Does some work and gives back the bytes that it took.
    pub(crate) fn scope<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.bytes_left;
        let result = work(self);
        self.bytes_left = bytes;
        result
    }

    /// Does some work with no more than these steps of what is left.
    pub(crate) fn within<T>(&mut self, steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let held = self.hold_back_beyond(steps);
        let result = work(self);
        self.give_back(held);
        result
    }

    /// Sets all steps aside but these; they are added again by [`Budget::give_back`].
    pub(crate) fn hold_back_beyond(&mut self, steps: u64) -> Held {
        self.hold_back(Held { steps: self.steps_left.saturating_sub(steps), bytes: 0 })
    }

    /// Sets all steps and bytes aside but one part in `share`; they are added again by
    /// [`Budget::give_back`].
    pub(crate) fn hold_back_all_but(&mut self, share: u64) -> Held {
        self.hold_back(Held {
            steps: self.steps_left - self.steps_left / share,
            bytes: self.bytes_left - self.bytes_left / share,
        })
    }

    fn hold_back(&mut self, held: Held) -> Held {
        self.steps_left -= held.steps;
        self.bytes_left -= held.bytes;
        held
    }

    /// Adds again what was set aside.
    pub(crate) fn give_back(&mut self, held: Held) {
        self.steps_left += held.steps;
        self.bytes_left += held.bytes;
    }

    /// Charges the steps of a search, which is allowed the rest of the budget.
    pub(crate) fn search<T>(
        &mut self,
        steps: u64,
        work: impl FnOnce(&mut operon_sat::Budget) -> T,
    ) -> (T, u64) {
        let mut budget = operon_sat::Budget::new(steps.min(self.steps_left));
        let result = work(&mut budget);
        self.steps_left = self.steps_left.saturating_sub(budget.spent());
        self.was_cut |= budget.remaining() == 0;
        (result, budget.spent())
    }

    /// Reads a property that may state a need, and charges what reading it takes. What was read holds bytes.
    pub(crate) fn read_need(
        &mut self,
        kind: &str,
        value: &str,
        dialect: Dialect,
    ) -> Result<Result<Option<ParsedConstraint>, ConstraintError>, Spent> {
        self.spend(value.len() as u64)?;
        let bytes_for_a_character = match kind {
            "olm.constraint" => BYTES_FOR_A_CHARACTER_OF_A_RULE,
            _ => BYTES_FOR_A_CHARACTER,
        };
        self.occupy(value.len() as u64 * bytes_for_a_character)?;
        let mut compiling = CompileBudget::new(self.steps_left, self.bytes_left);
        let parsed = parse_property_within(kind, value, dialect, &mut compiling);
        self.spend(compiling.steps())?;
        self.occupy(compiling.bytes())?;
        match compiling.exhausted() {
            None => Ok(parsed),
            Some(Exhausted::Steps) => Err(self.cut(Spent::Steps)),
            Some(Exhausted::Bytes) => Err(self.cut(Spent::Bytes)),
        }
    }

    /// Returns the digest of properties for [`Budget::evaluate`].
    pub(crate) fn digest<'p>(
        &self,
        properties: impl Iterator<Item = (&'p str, &'p str)>,
    ) -> PropertiesDigest {
        self.cache.digest(properties)
    }

    /// Returns `true` if properties fulfil a rule; a rule without an answer is not fulfilled.
    ///
    /// The properties are asked for only where the answer is not known.
    pub(crate) fn evaluate<'p>(
        &mut self,
        rule: &CelRule,
        digest: PropertiesDigest,
        properties: impl FnOnce() -> Cow<'p, [Property]>,
    ) -> Result<bool, Spent> {
        if let Some(CachedAnswer { is_fulfilled, steps }) = self.cache.get(rule.text(), digest) {
            self.spend(u64::from(steps))?;
            return Ok(is_fulfilled);
        }
        let before = self.steps_left;
        let is_fulfilled = self.evaluate_again(rule, &properties())?;
        let steps = u32::try_from(before - self.steps_left).unwrap_or(u32::MAX);
        self.cache.insert(rule.text(), digest, CachedAnswer { is_fulfilled, steps });
        Ok(is_fulfilled)
    }

    /// Returns `true` if properties fulfil a rule, without a look at answers that are kept.
    pub(crate) fn evaluate_again(
        &mut self,
        rule: &CelRule,
        properties: &[Property],
    ) -> Result<bool, Spent> {
        let allowed = usize::try_from(self.steps_left).unwrap_or(usize::MAX);
        let (answer, steps) = rule.program().evaluate_within(properties, allowed);
        let is_cut_short = matches!(answer, Err(CelError::Limit(Limit::EvaluationSteps)))
            && allowed < MAX_EVALUATION_STEPS;
        self.spend(steps as u64)?;
        if is_cut_short { Err(self.cut(Spent::Steps)) } else { Ok(matches!(answer, Ok(true))) }
    }
}
