//! Who would have met a need: the list that an answer was chosen from.

use crate::budget::Budget;
use crate::conflict::Operator;
use crate::facts;
use crate::semantics::Semantics;
use crate::space::{self, Choice, Rule};
use crate::universe::{Request, Universe};

/// Returns the operators that would meet a need of an operator, the preferred one first.
///
/// The operator is named as in [`Reason::Needed`](crate::Reason::Needed), and so is the need.
pub fn candidates(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
    operator: &str,
    need: &str,
) -> Vec<Operator> {
    let space = budget.scope(|budget| space::build(universe, requests, *semantics, budget));
    let Ok(space) = space else { return Vec::new() };
    let found = space.rules.iter().find_map(|rule| match rule {
        Rule::Choose { trigger, list, why: Choice::Need(formula) }
            if facts::operator(&space, *trigger).name == operator
                && space.formulas[formula.index()].constraint.to_string() == need =>
        {
            Some(*list)
        }
        _ => None,
    });
    let nodes = found.map(|list| space.list(list)).unwrap_or_default();
    nodes.iter().map(|&node| facts::operator(&space, node)).collect()
}
