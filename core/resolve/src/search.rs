//! Solves the parts of a space, and finds out why one has no answer.

use std::collections::HashMap;

use operon_sat::{Answer as Found, Budget, Literal, Solver, minimise, minimise_refutation};

use crate::conflict::Conflict;
use crate::encode::{encode, encode_guarded};
use crate::facts;
use crate::limits::Limits;
use crate::parts::SpacePart;
use crate::resolution::Failure;
use crate::space::{Forbidden, NodeId, Rule, Space};

/// A search through the parts of a space, within one budget.
pub(crate) struct Search<'s> {
    space: &'s Space<'s>,
    limits: &'s Limits,
    budget: Budget,
    /// For each node its place in the part that is being solved.
    places: Vec<u32>,
    pub(crate) conflicts: u64,
    /// Steps spent on finding out why parts have no answer.
    pub(crate) conflict_steps: u64,
}

impl<'s> Search<'s> {
    pub(crate) fn new(space: &'s Space<'s>, limits: &'s Limits) -> Self {
        let budget = Budget::new(limits.search_steps);
        Self {
            space,
            limits,
            budget,
            places: vec![0; space.nodes.len()],
            conflicts: 0,
            conflict_steps: 0,
        }
    }

    /// Returns how many steps were taken.
    pub(crate) fn steps(&self) -> u64 {
        self.budget.spent()
    }

    /// Returns the nodes of the preferred answer of a part.
    pub(crate) fn solve(&mut self, part: &SpacePart) -> Result<Vec<NodeId>, Failure> {
        let encoded = encode(self.space, part, &mut self.places);
        let mut solver = Solver::new(&encoded.problem);
        let found = solver.prefer(&[], &mut self.budget);
        self.conflicts += solver.statistics().conflicts;
        match found {
            Found::Satisfiable(solution) => {
                Ok(solution.chosen.iter().filter_map(|&variable| encoded.node(variable)).collect())
            }
            Found::Spent => Err(Failure::Spent { steps: self.limits.search_steps }),
            Found::Unsatisfiable(_) => {
                let mut budget = Budget::new(self.limits.conflict_steps);
                let found = conflicts(self.space, part, &mut self.places, self.limits, &mut budget);
                self.conflict_steps += budget.spent();
                Err(Failure::Conflicts(found))
            }
        }
    }
}

/// Finds minimal sets of facts that cannot hold together, each about other roots.
fn conflicts(
    space: &Space<'_>,
    part: &SpacePart,
    places: &mut [u32],
    limits: &Limits,
    budget: &mut Budget,
) -> Vec<Conflict> {
    let rules = telling_rules(space, part);
    let encoded = encode_guarded(space, part, &rules, places);
    let mut solver = Solver::new(&encoded.problem);
    let mut assumptions = encoded.assumptions();
    let mut found = Vec::new();
    while found.len() < limits.conflicts {
        let Some((core, minimal)) = core(space, &mut solver, &assumptions, budget) else {
            break;
        };
        let mut core: Vec<usize> = core.iter().map(|&literal| encoded.rule(literal)).collect();
        core.sort_unstable();
        let roots: Vec<usize> = core
            .iter()
            .copied()
            .filter(|&rule| matches!(space.rules[rule], Rule::Root(_)))
            .collect();
        found.push(facts::conflict(space, &core, minimal));
        if roots.is_empty() {
            break;
        }
        assumptions.retain(|&literal| !roots.contains(&encoded.rule(literal)));
    }
    if found.is_empty() {
        // The budget was spent: what cannot hold together is known, but not why.
        let is_root = |rule: &usize| matches!(space.rules[*rule], Rule::Root(_));
        let roots: Vec<usize> = rules.iter().copied().filter(is_root).collect();
        found.push(facts::conflict(space, &roots, false));
    }
    // What is simplest to understand comes first.
    found.sort_by_key(|conflict| conflict.facts.len());
    found
}

/// Returns rules that cannot hold together, and whether none of them can be left out.
fn core(
    space: &Space<'_>,
    solver: &mut Solver,
    assumptions: &[Literal],
    budget: &mut Budget,
) -> Option<(Vec<Literal>, bool)> {
    // Upstream: rules that contradict each other without any search are told as they are met, although
    // a search might show that some of them do not matter.
    if space.semantics.tell_as_upstream
        && let Some(core) = solver.refute(assumptions)
    {
        let minimised = minimise_refutation(solver, core, budget);
        return Some((minimised.literals, minimised.minimal));
    }
    match solver.satisfy(assumptions, budget) {
        Found::Unsatisfiable(core) => {
            let minimised = minimise(solver, core, budget);
            Some((minimised.literals, minimised.minimal))
        }
        Found::Satisfiable(_) | Found::Spent => None,
    }
}

/// Returns the rules that a conflict may speak of. Upstream: of several reasons why one bundle
/// cannot be used, the last one is told.
fn telling_rules(space: &Space<'_>, part: &SpacePart) -> Vec<usize> {
    let mut last: HashMap<NodeId, usize> = HashMap::new();
    let forbidden = |rule: &Rule| match rule {
        Rule::Forbid { node, why: Forbidden::Deprecated | Forbidden::Malformed(_) } => Some(*node),
        Rule::Choose { trigger, list, .. } if space.list(*list).is_empty() => Some(*trigger),
        _ => None,
    };
    for &rule in &part.rules {
        if let Some(node) = forbidden(&space.rules[rule]) {
            last.insert(node, rule);
        }
    }
    part.rules
        .iter()
        .copied()
        .filter(|&rule| forbidden(&space.rules[rule]).is_none_or(|node| last[&node] == rule))
        .collect()
}
