//! The door of this room: from a universe and requests to a resolution.

use crate::answer;
use crate::check;
use crate::conflict::Conflict;
use crate::limits::Limits;
use crate::parts::{SpacePart, parts};
use crate::resolution::{Effort, Failure, Part, Resolution};
use crate::search::Search;
use crate::semantics::{FailureScope, Semantics};
use crate::space::{self, Node, NodeId, Rule, Space};
use crate::universe::{Request, Universe};

/// Finds the operators that should run next, or says why there is no such set.
pub fn resolve(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    limits: &Limits,
) -> Resolution {
    let space = match space::build(universe, requests, *semantics) {
        Ok(space) => space,
        Err(error) => return failed(universe, requests, error),
    };
    let mut search = Search::new(&space, limits);
    let mut resolved = Vec::new();
    for part in parts(&space) {
        resolve_part(&space, part, &mut search, &mut resolved);
    }
    let effort = Effort {
        operators: space.nodes.len(),
        rules: space.rules.len(),
        steps: search.steps(),
        conflicts: search.conflicts,
        conflict_steps: search.conflict_steps,
    };
    let mut resolution = Resolution { parts: resolved, notices: space.notices, effort };
    check::check(universe, requests, semantics, &mut resolution);
    resolution
}

/// Resolves a part. Requests for something new that cannot be fulfilled become a part of their own, so
/// that what runs is looked after all the same.
fn resolve_part(
    space: &Space<'_>,
    mut part: SpacePart,
    search: &mut Search<'_>,
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
                    resolved.push(describe(space, &part, Err(Failure::Conflicts(conflicts))));
                    break;
                }
                part.nodes.retain(|node| !new.contains(node));
                part.rules.retain(|&rule| !is_about(space, rule, &new));
                put_off.nodes.extend(new);
            }
            result => {
                resolved.push(describe(space, &part, result));
                break;
            }
        }
    }
    if !known.is_empty() {
        resolved.push(describe(space, &put_off, Err(Failure::Conflicts(known))));
    }
    resolved.retain(|part| !part.requests.is_empty() || !part.installed.is_empty());
}

fn failed(universe: &Universe<'_>, requests: &[Request], error: String) -> Resolution {
    let mut names: Vec<String> = requests.iter().map(|request| request.name.clone()).collect();
    names.sort();
    let mut installed: Vec<String> =
        universe.installed.iter().map(|operator| operator.name.clone()).collect();
    installed.sort();
    let part = Part { requests: names, installed, result: Err(Failure::Error(error)) };
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
    let is_new = |node: &&NodeId| match space.nodes[node.index()] {
        Node::Request(number) => {
            let name = &space.requests[number].name;
            space.currents[number].is_none()
                && conflicts.iter().any(|conflict| conflict.requests.contains(name))
        }
        Node::Entry { .. } | Node::Installed(_) | Node::Way(_) => false,
    };
    part.nodes.iter().filter(is_new).copied().collect()
}

/// Tells whether a rule says what a request wants or can have.
fn is_about(space: &Space<'_>, rule: usize, requests: &[NodeId]) -> bool {
    match &space.rules[rule] {
        Rule::Root(node) | Rule::Forbid { node, .. } => requests.contains(node),
        Rule::Choose { trigger, .. } | Rule::Exclude { trigger, .. } => requests.contains(trigger),
        Rule::Update { .. } | Rule::AtMostOne { .. } => false,
    }
}
