//! The parts of a space that cannot influence each other.
//!
//! Two nodes are in one part when a chain of rules leads from one to the other. Solving the parts
//! one by one gives the answer that solving them together gives, and a failure in one says nothing
//! about the others.

use crate::semantics::FailureScope;
use crate::space::{Node, NodeId, Rule, Space};

/// A part of a space: numbers of nodes and rules, in order.
#[derive(Debug, Default)]
pub(crate) struct SpacePart {
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) rules: Vec<usize>,
}

/// Returns the parts of a space in the order of their first node.
pub(crate) fn parts(space: &Space<'_>) -> Vec<SpacePart> {
    if space.semantics.failures == FailureScope::Namespace {
        let nodes = (0..space.nodes.len() as u32).map(NodeId).collect();
        return vec![SpacePart { nodes, rules: (0..space.rules.len()).collect() }];
    }
    let mut groups = Groups::new(space.nodes.len());
    for rule in &space.rules {
        let first = first_node(space, rule);
        for node in nodes_of(space, rule) {
            groups.join(first, node);
        }
    }
    for (index, node) in space.nodes.iter().enumerate() {
        if let Node::Way(owner) = node {
            groups.join(*owner, NodeId(index as u32));
        }
    }
    let mut part_of_root = vec![usize::MAX; space.nodes.len()];
    let mut parts: Vec<SpacePart> = Vec::new();
    for index in 0..space.nodes.len() as u32 {
        let root = groups.root(index) as usize;
        if part_of_root[root] == usize::MAX {
            part_of_root[root] = parts.len();
            parts.push(SpacePart::default());
        }
        parts[part_of_root[root]].nodes.push(NodeId(index));
    }
    for (number, rule) in space.rules.iter().enumerate() {
        let root = groups.root(first_node(space, rule).0) as usize;
        parts[part_of_root[root]].rules.push(number);
    }
    parts
}

fn first_node(space: &Space<'_>, rule: &Rule) -> NodeId {
    match rule {
        Rule::Root(node) | Rule::Forbid { node, .. } => *node,
        Rule::Choose { trigger, .. } | Rule::Exclude { trigger, .. } => *trigger,
        Rule::Update { update, .. } => *update,
        Rule::AtMostOne { list, .. } => space.list(*list)[0],
    }
}

fn nodes_of<'s>(space: &'s Space<'_>, rule: &Rule) -> impl Iterator<Item = NodeId> + 's {
    let (list, extra) = match rule {
        Rule::Root(_) | Rule::Forbid { .. } => (None, None),
        Rule::Choose { list, .. } | Rule::Exclude { list, .. } | Rule::AtMostOne { list, .. } => {
            (Some(*list), None)
        }
        Rule::Update { current, .. } => (None, Some(*current)),
    };
    list.into_iter().flat_map(|list| space.list(list).iter().copied()).chain(extra)
}

/// Sets that grow together.
struct Groups {
    parents: Vec<u32>,
}

impl Groups {
    fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let parent = self.parents[node as usize];
            self.parents[node as usize] = self.parents[parent as usize];
            node = parent;
        }
        node
    }

    fn join(&mut self, left: NodeId, right: NodeId) {
        let (left, right) = (self.root(left.0), self.root(right.0));
        // The smaller number stays, so the first node of a part stands for it.
        self.parents[left.max(right) as usize] = left.min(right);
    }
}
