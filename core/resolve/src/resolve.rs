//! The door of this room: from a universe and requests to a resolution.

use std::collections::{HashMap, HashSet};

use crate::answer;
use crate::budget::Budget;
use crate::check;
use crate::conflict::Conflict;
use crate::parts::{SpacePart, parts};
use crate::resolution::{Effort, Expense, Failure, Part, Resolution};
use crate::search::Search;
use crate::semantics::{FailureScope, Semantics};
use crate::space::{self, Node, NodeId, Rule, Space};
use crate::universe::{Request, Universe};

/// Finds the operators that should run next, or says why there is no such set.
///
/// What the budget does not suffice for is a failure of the parts that it concerns; parts that have
/// nothing to do with it get their answer.
pub fn resolve(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
) -> Resolution {
    let conflict_steps = budget.limits().conflict_steps;
    resolve_briefly(universe, requests, semantics, budget, conflict_steps)
}

/// Resolves with no more than these steps for finding out why a part has no answer.
pub(crate) fn resolve_briefly(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
    conflict_steps: u64,
) -> Resolution {
    budget.scope(|budget| {
        let space = match space::build(universe, requests, *semantics, budget) {
            Ok(space) => space,
            Err(failure) => return failed(universe, requests, failure),
        };
        let mut search = Search::new(&space, budget, conflict_steps);
        let unfinished: HashMap<NodeId, &Expense> =
            space.unfinished.iter().map(|(node, expense)| (*node, expense)).collect();
        let mut resolved = Vec::new();
        for part in parts(&space) {
            let expense = match unfinished.is_empty() {
                true => None,
                false => part.nodes.iter().find_map(|node| unfinished.get(node)),
            };
            match expense {
                Some(&expense) => {
                    let failure = Failure::TooExpensive(expense.clone());
                    push(&mut resolved, describe(&space, &part, Err(failure)));
                }
                None => resolve_part(&space, part, &mut search, &mut resolved),
            }
        }
        let effort = Effort {
            operators: space.nodes.len(),
            rules: space.rules.len(),
            steps: search.steps,
            conflicts: search.conflicts,
            conflict_steps: search.conflict_steps,
        };
        let mut resolution = Resolution { parts: resolved, notices: space.notices, effort };
        check::check(universe, requests, semantics, &mut resolution, budget);
        resolution
    })
}

/// Adds a part, unless there is nothing in it that anyone asked for or runs.
fn push(resolved: &mut Vec<Part>, part: Part) {
    if !part.requests.is_empty() || !part.installed.is_empty() {
        resolved.push(part);
    }
}

/// Resolves a part. Requests for something new that cannot be fulfilled become a part of their own, so
/// that what runs is looked after all the same.
fn resolve_part(
    space: &Space<'_>,
    mut part: SpacePart,
    search: &mut Search<'_, '_>,
    resolved: &mut Vec<Part>,
) {
    let mut put_off = SpacePart::default();
    let mut known = Vec::new();
    loop {
        match search.solve(&part) {
            Err(Failure::Conflicts(conflicts))
                if space.semantics.failures == FailureScope::Part =>
            {
                let new = new_requests(space, &part, &conflicts);
                known.extend(conflicts);
                if new.is_empty() {
                    let conflicts = std::mem::take(&mut known);
                    push(resolved, describe(space, &part, Err(Failure::Conflicts(conflicts))));
                    break;
                }
                let new: HashSet<NodeId> = new.into_iter().collect();
                part.nodes.retain(|node| !new.contains(node));
                part.rules.retain(|&rule| !is_about(space, rule, &new));
                let mut new: Vec<NodeId> = new.into_iter().collect();
                new.sort_unstable();
                put_off.nodes.extend(new);
            }
            result => {
                push(resolved, describe(space, &part, result));
                break;
            }
        }
    }
    if !known.is_empty() {
        push(resolved, describe(space, &put_off, Err(Failure::Conflicts(known))));
    }
}

fn failed(universe: &Universe<'_>, requests: &[Request], failure: Failure) -> Resolution {
    let mut names: Vec<String> = requests.iter().map(|request| request.name.clone()).collect();
    names.sort();
    let mut installed: Vec<String> =
        universe.installed.iter().map(|operator| operator.name.clone()).collect();
    installed.sort();
    let part = Part { requests: names, installed, result: Err(failure) };
    Resolution { parts: vec![part], notices: Vec::new(), effort: Effort::default() }
}

fn describe(space: &Space<'_>, part: &SpacePart, result: Result<Vec<NodeId>, Failure>) -> Part {
    let mut requests = Vec::new();
    let mut installed = Vec::new();
    for node in &part.nodes {
        match space.nodes[node.index()] {
            Node::Request(number) => requests.push(space.requests[number].name.clone()),
            Node::Installed(position) => {
                installed.push(space.installed[position].installed.name.clone());
            }
            Node::Entry { .. } | Node::Way(_) => {}
        }
    }
    Part { requests, installed, result: result.map(|chosen| answer::answer(space, part, &chosen)) }
}

/// Returns the nodes of requests that conflicts are about and that nothing is installed for.
fn new_requests(space: &Space<'_>, part: &SpacePart, conflicts: &[Conflict]) -> Vec<NodeId> {
    let concerned: HashSet<&String> =
        conflicts.iter().flat_map(|conflict| &conflict.requests).collect();
    let is_new = |node: &&NodeId| match space.nodes[node.index()] {
        Node::Request(number) => {
            space.currents[number].is_none() && concerned.contains(&space.requests[number].name)
        }
        Node::Entry { .. } | Node::Installed(_) | Node::Way(_) => false,
    };
    part.nodes.iter().filter(is_new).copied().collect()
}

/// Returns `true` if a rule says what a request wants or can have.
fn is_about(space: &Space<'_>, rule: usize, requests: &HashSet<NodeId>) -> bool {
    match &space.rules[rule] {
        Rule::Root(node) | Rule::Forbid { node, .. } => requests.contains(node),
        Rule::Choose { trigger, .. } | Rule::Exclude { trigger, .. } => requests.contains(trigger),
        Rule::Update { .. } | Rule::AtMostOne { .. } => false,
    }
}
