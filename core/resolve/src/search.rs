//! Solves the parts of a space, and finds out why one has no answer.

use std::collections::HashMap;

use operon_sat::{
    Answer as Found, Budget as SearchBudget, Literal, Solver, minimise, minimise_refutation,
};

use crate::budget::{
    BYTES_FOR_A_MEMBER, BYTES_FOR_A_RULE, BYTES_FOR_AN_OPERATOR, Budget, STEPS_FOR_A_RULE, Spent,
};
use crate::conflict::Conflict;
use crate::encode::{encode, encode_guarded};
use crate::facts;
use crate::limits::Limits;
use crate::parts::SpacePart;
use crate::resolution::Failure;
use crate::space::{Forbidden, Node, NodeId, Rule, Space};

/// A search through the parts of a space, within one budget.
pub(crate) struct Search<'s, 'b> {
    space: &'s Space<'s>,
    budget: &'b mut Budget,
    /// For each node its place in the part that is being solved.
    places: Vec<u32>,
    /// Steps for finding out why one part has no answer.
    max_conflict_steps: u64,
    pub(crate) conflicts: u64,
    /// Steps spent on answers.
    pub(crate) steps: u64,
    /// Steps spent on finding out why parts have no answer.
    pub(crate) conflict_steps: u64,
}

/// How much of what is left of a budget the search of one part may take: what is left after a part
/// that is too hard must suffice for the others, and for saying why.
const SHARE_OF_A_PART: u64 = 2;

impl<'s, 'b> Search<'s, 'b> {
    pub(crate) fn new(
        space: &'s Space<'s>,
        budget: &'b mut Budget,
        max_conflict_steps: u64,
    ) -> Self {
        Self {
            space,
            budget,
            places: vec![0; space.nodes.len()],
            max_conflict_steps,
            conflicts: 0,
            steps: 0,
            conflict_steps: 0,
        }
    }

    /// Returns the nodes of the preferred answer of a part.
    pub(crate) fn solve(&mut self, part: &SpacePart) -> Result<Vec<NodeId>, Failure> {
        let Self { space, budget, places, .. } = self;
        budget.scope(|budget| {
            if let Err((spent, largest)) = charge(space, part, budget) {
                return Err(Failure::TooExpensive(space.expense(largest, None, spent, budget)));
            }
            let encoded = encode(space, part, places);
            let mut solver = Solver::new(&encoded.problem);
            let learnt_bytes = budget.bytes_left() / SHARE_OF_LESSONS;
            solver.limit_learnt_bytes(learnt_bytes);
            let share = budget.steps_left() / SHARE_OF_A_PART;
            let (found, steps) = budget.search(share, |steps| solver.prefer(&[], steps));
            self.steps += steps;
            self.conflicts += solver.statistics().conflicts;
            match found {
                Found::Satisfiable(solution) => {
                    let chosen = solution.chosen.iter();
                    Ok(chosen.filter_map(|&variable| encoded.node(variable)).collect())
                }
                Found::Spent => {
                    let contested = solver.most_contested();
                    let node = contested.and_then(|variable| encoded.node(variable));
                    let is_entry =
                        |node: &&NodeId| matches!(space.nodes[node.index()], Node::Entry { .. });
                    let node = node.or(part.nodes.iter().find(is_entry).copied());
                    let spent = budget.cut(Spent::Steps);
                    let expense = space.expense(node, None, spent, budget);
                    Err(Failure::TooExpensive(expense))
                }
                Found::Unsatisfiable(_) => {
                    // The guarded problem takes its place.
                    drop((solver, encoded));
                    let limits = *budget.limits();
                    let share = self.max_conflict_steps.min(budget.steps_left() / 2);
                    let mut search =
                        ConflictSearch { learnt_bytes, ..ConflictSearch::new(&limits) };
                    let (found, steps) =
                        budget.search(share, |steps| search.run(space, part, places, steps));
                    self.conflict_steps += steps;
                    if search.was_cut {
                        budget.cut(Spent::Bytes);
                    }
                    Err(Failure::Conflicts(found))
                }
            }
        })
    }
}

/// Charges what encoding a part takes; fails with the operator whose rules are the largest.
fn charge(
    space: &Space<'_>,
    part: &SpacePart,
    budget: &mut Budget,
) -> Result<(), (Spent, Option<NodeId>)> {
    let operators = part.nodes.len() as u64;
    let mut bytes = operators * BYTES_FOR_AN_OPERATOR;
    let mut members = 0;
    let mut largest: (usize, Option<NodeId>) = (0, None);
    for &rule in &part.rules {
        let (node, list) = match &space.rules[rule] {
            Rule::Root(node) | Rule::Forbid { node, .. } => (Some(*node), None),
            Rule::Update { update, .. } => (Some(*update), None),
            Rule::Choose { trigger, list, .. } => (Some(*trigger), Some(list)),
            Rule::Exclude { trigger, list, .. } => (Some(*trigger), Some(list)),
            Rule::AtMostOne { list, .. } => (space.list(*list).first().copied(), Some(list)),
        };
        let length = list.map_or(0, |list| space.list(*list).len());
        members += length as u64;
        bytes += BYTES_FOR_A_RULE
            + match &space.rules[rule] {
                // What must not be there becomes a rule for each.
                Rule::Exclude { .. } => length as u64 * BYTES_FOR_A_RULE,
                _ => length as u64 * BYTES_FOR_A_MEMBER,
            };
        if length > largest.0 {
            largest = (length, node);
        }
    }
    let steps = part.rules.len() as u64 * STEPS_FOR_A_RULE + members + operators;
    budget.occupy(bytes).and_then(|()| budget.spend(steps)).map_err(|spent| (spent, largest.1))
}

/// How much of the bytes that are left a search may keep as lessons from dead ends.
const SHARE_OF_LESSONS: u64 = 4;

/// What an operator holds that a fact names, in bytes: its name, its package and where it comes from.
const BYTES_FOR_A_NAMED_OPERATOR: u64 = 256;

/// How much of the bytes of a decision the facts of the conflicts of one part may hold. An explanation builds
/// indexes of them that take as much again. Two hundred thousand operators fit; with more, nobody could take
/// in why the requests cannot be fulfilled, and only that they cannot is reported.
const SHARE_OF_FACTS: u64 = 4;

/// Finds minimal sets of facts that cannot hold together, each about other roots.
struct ConflictSearch {
    max_conflicts: usize,
    /// How many operators all facts together may name.
    max_named: usize,
    learnt_bytes: u64,
    /// Whether facts were left out because they name too many operators.
    was_cut: bool,
}

impl ConflictSearch {
    fn new(limits: &Limits) -> Self {
        let named = limits.bytes / SHARE_OF_FACTS / BYTES_FOR_A_NAMED_OPERATOR;
        Self {
            max_conflicts: limits.conflicts,
            max_named: usize::try_from(named).unwrap_or(usize::MAX),
            learnt_bytes: u64::MAX,
            was_cut: false,
        }
    }

    fn run(
        &mut self,
        space: &Space<'_>,
        part: &SpacePart,
        places: &mut [u32],
        budget: &mut SearchBudget,
    ) -> Vec<Conflict> {
        let rules = telling_rules(space, part);
        let is_root = |rule: &usize| matches!(space.rules[*rule], Rule::Root(_));
        let encoded = encode_guarded(space, part, &rules, places);
        let mut solver = Solver::new(&encoded.problem);
        solver.limit_learnt_bytes(self.learnt_bytes);
        let mut assumptions = encoded.assumptions();
        let mut found = Vec::new();
        let mut named = 0;
        while found.len() < self.max_conflicts {
            let Some((core, minimal)) = core(space, &mut solver, &assumptions, budget) else {
                break;
            };
            let mut core: Vec<usize> = core.iter().map(|&literal| encoded.rule(literal)).collect();
            core.sort_unstable();
            let roots: Vec<usize> = core.iter().copied().filter(is_root).collect();
            named += core.iter().map(|&rule| space.operators_named(rule)).sum::<usize>();
            found.push(if named <= self.max_named {
                facts::conflict(space, &core, minimal)
            } else {
                self.was_cut = true;
                facts::conflict(space, &roots, false)
            });
            if roots.is_empty() {
                break;
            }
            assumptions.retain(|&literal| roots.binary_search(&encoded.rule(literal)).is_err());
        }
        if found.is_empty() {
            // The budget was spent: what cannot hold together is known, but not why.
            let roots: Vec<usize> = rules.iter().copied().filter(is_root).collect();
            found.push(facts::conflict(space, &roots, false));
        }
        // What is simplest to understand comes first.
        found.sort_by_key(|conflict| conflict.facts.len());
        found
    }
}

/// Returns rules that cannot hold together, and whether none of them can be left out.
fn core(
    space: &Space<'_>,
    solver: &mut Solver,
    assumptions: &[Literal],
    budget: &mut SearchBudget,
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
