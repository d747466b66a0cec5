//! How far the impossible spreads by itself: what is forbidden, what needs nothing but that, and so
//! on.
//!
//! Nothing is searched here. What is left after this may still be impossible, because of what
//! cannot be together; but what real catalogs lack is found here, and the first reason found is
//! one with the shortest chain.

use std::collections::{BTreeMap, VecDeque};

use crate::semantics::FailureScope;
use crate::space::{Forbidden, List, NodeId, Rule, Space};

/// Which nodes are impossible, and why.
#[derive(Debug)]
pub(super) struct Spread {
    /// For each node the rule that makes it impossible.
    causes: Vec<Option<u32>>,
    /// Upstream: for each node the rule about a malformed bundle among those that would be looked at
    /// for it, which stops the whole namespace.
    stoppers: Vec<Option<u32>>,
    /// For each node whether it needs and excludes nothing.
    is_free: Vec<bool>,
}

impl Spread {
    pub(super) fn new(space: &Space<'_>, failures: FailureScope) -> Self {
        let links = Links::new(space);
        let causes = causes(space, &links);
        let stoppers = match failures {
            FailureScope::Part => Vec::new(),
            FailureScope::Namespace => stoppers(space, &links),
        };
        let mut is_free = vec![true; space.nodes.len()];
        for rule in &space.rules {
            if let Rule::Choose { trigger, .. } | Rule::Exclude { trigger, .. } = rule {
                is_free[trigger.index()] = false;
            }
        }
        Self { causes, stoppers, is_free }
    }

    /// Returns the number of the rule that makes a node impossible.
    pub(super) fn cause(&self, node: NodeId) -> Option<usize> {
        self.causes[node.index()].map(|rule| rule as usize)
    }

    /// Tells whether a node that is not impossible can be there alone.
    pub(super) fn is_free(&self, node: NodeId) -> bool {
        self.is_free[node.index()]
    }

    /// Returns the number of the rule about a malformed bundle that stops every resolution that looks
    /// at the node.
    pub(super) fn stopper(&self, node: NodeId) -> Option<usize> {
        self.stoppers.get(node.index()).copied().flatten().map(|rule| rule as usize)
    }
}

/// Which lists a node is in, and what the lists are for.
struct Links {
    lists: Vec<Linked>,
    /// The lists of all nodes, one node after the other, as often as they contain it.
    memberships: Vec<u32>,
    /// Where the lists of each node begin in `memberships`, and at last its end.
    starts: Vec<u32>,
}

struct Linked {
    length: u32,
    /// Triggers that need one of the list, and the numbers of the rules that say so.
    needed_by: Vec<(NodeId, u32)>,
}

impl Links {
    fn new(space: &Space<'_>) -> Self {
        let mut numbers: BTreeMap<List, u32> = BTreeMap::new();
        let mut lists: Vec<Linked> = Vec::new();
        for (number, rule) in space.rules.iter().enumerate() {
            let Rule::Choose { trigger, list, .. } = rule else { continue };
            let list_number = *numbers.entry(*list).or_insert_with(|| {
                let length = space.list(*list).len() as u32;
                lists.push(Linked { length, needed_by: Vec::new() });
                lists.len() as u32 - 1
            });
            lists[list_number as usize].needed_by.push((*trigger, number as u32));
        }
        let mut starts = vec![0_u32; space.nodes.len() + 1];
        for list in numbers.keys() {
            for node in space.list(*list) {
                starts[node.index() + 1] += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut memberships = vec![0; starts.last().map_or(0, |&end| end as usize)];
        for (list, number) in &numbers {
            for node in space.list(*list) {
                memberships[next[node.index()] as usize] = *number;
                next[node.index()] += 1;
            }
        }
        Self { lists, memberships, starts }
    }

    fn lists_with(&self, node: NodeId) -> &[u32] {
        let (start, end) = (self.starts[node.index()], self.starts[node.index() + 1]);
        &self.memberships[start as usize..end as usize]
    }
}

/// Finds the nodes that are impossible, those with short chains of reasons before the others.
fn causes(space: &Space<'_>, links: &Links) -> Vec<Option<u32>> {
    let mut causes: Vec<Option<u32>> = vec![None; space.nodes.len()];
    let mut queue: VecDeque<NodeId> = VecDeque::new();
    let mut rule_out = |queue: &mut VecDeque<NodeId>, node: NodeId, rule: u32| {
        if causes[node.index()].is_none() {
            causes[node.index()] = Some(rule);
            queue.push_back(node);
        }
    };
    for (number, rule) in space.rules.iter().enumerate() {
        if let Some(node) = ruled_out(space, rule) {
            rule_out(&mut queue, node, number as u32);
        }
        if let Rule::AtMostOne { list, .. } = rule {
            for pair in space.list(*list).windows(2).filter(|pair| pair[0] == pair[1]) {
                rule_out(&mut queue, pair[0], number as u32);
            }
        }
    }
    let mut open: Vec<u32> = links.lists.iter().map(|list| list.length).collect();
    while let Some(node) = queue.pop_front() {
        for &list in links.lists_with(node) {
            open[list as usize] -= 1;
            if open[list as usize] == 0 {
                for &(trigger, rule) in &links.lists[list as usize].needed_by {
                    rule_out(&mut queue, trigger, rule);
                }
            }
        }
    }
    causes
}

/// Returns the node that a rule makes impossible whatever else there is.
fn ruled_out(space: &Space<'_>, rule: &Rule) -> Option<NodeId> {
    match rule {
        Rule::Forbid { node, .. } => Some(*node),
        Rule::Choose { trigger, list, .. } if space.list(*list).is_empty() => Some(*trigger),
        Rule::Exclude { trigger, list, .. } if space.list(*list).contains(trigger) => {
            Some(*trigger)
        }
        Rule::Root(_)
        | Rule::Choose { .. }
        | Rule::Exclude { .. }
        | Rule::Update { .. }
        | Rule::AtMostOne { .. } => None,
    }
}

/// Finds the nodes for which a malformed bundle would be looked at.
fn stoppers(space: &Space<'_>, links: &Links) -> Vec<Option<u32>> {
    let mut stoppers: Vec<Option<u32>> = vec![None; space.nodes.len()];
    let mut queue: VecDeque<NodeId> = VecDeque::new();
    for (number, rule) in space.rules.iter().enumerate() {
        if let Rule::Forbid { node, why: Forbidden::Malformed(_) } = rule
            && stoppers[node.index()].is_none()
        {
            stoppers[node.index()] = Some(number as u32);
            queue.push_back(*node);
        }
    }
    let mut is_told = vec![false; links.lists.len()];
    while let Some(node) = queue.pop_front() {
        for &list in links.lists_with(node) {
            if std::mem::replace(&mut is_told[list as usize], true) {
                continue;
            }
            for &(trigger, _) in &links.lists[list as usize].needed_by {
                if stoppers[trigger.index()].is_none() {
                    stoppers[trigger.index()] = stoppers[node.index()];
                    queue.push_back(trigger);
                }
            }
        }
    }
    stoppers
}
