//! Which operator and which need of it cost the most while a space is built.

use super::{FormulaId, NodeId};
use crate::budget::{Budget, Spent};

/// The needs that cost the most steps and the most bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Costliest {
    steps: Cost,
    bytes: Cost,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    amount: u64,
    node: Option<NodeId>,
    need: Option<FormulaId>,
}

/// What a budget had left at some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    steps: u64,
    bytes: u64,
}

impl Mark {
    pub(super) fn of(budget: &Budget) -> Self {
        Self { steps: budget.steps_left(), bytes: budget.bytes_left() }
    }
}

impl Costliest {
    /// Begins with an operator, and a need of it if there is one.
    pub(super) fn new(node: NodeId, need: Option<FormulaId>) -> Self {
        let cost = Cost { amount: 0, node: Some(node), need };
        Self { steps: cost, bytes: cost }
    }

    /// Counts an operator, which stands out only while no need does.
    pub(super) fn note_operator(&mut self, node: NodeId) {
        if self.steps.node.is_none() {
            *self = Self::new(node, None);
        }
    }

    /// Counts what a need took since the mark.
    pub(super) fn note_need(
        &mut self,
        node: NodeId,
        need: FormulaId,
        since: Mark,
        budget: &Budget,
    ) {
        let now = Mark::of(budget);
        let cost = |amount| Cost { amount, node: Some(node), need: Some(need) };
        self.steps = self.steps.max(cost(since.steps.saturating_sub(now.steps)));
        self.bytes = self.bytes.max(cost(since.bytes.saturating_sub(now.bytes)));
    }

    /// Returns what cost more, of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self { steps: self.steps.max(other.steps), bytes: self.bytes.max(other.bytes) }
    }

    /// Returns the operator and the need that cost the most of what ran out.
    pub(super) fn of(&self, spent: Spent) -> (Option<NodeId>, Option<FormulaId>) {
        let Cost { node, need, amount: _ } = match spent {
            Spent::Steps => self.steps,
            Spent::Bytes => self.bytes,
        };
        (node, need)
    }
}

impl Cost {
    /// Returns the higher cost. Of equals the first is returned, unless it concerns no operator.
    fn max(self, other: Self) -> Self {
        if other.amount > self.amount || self.node.is_none() { other } else { self }
    }
}
