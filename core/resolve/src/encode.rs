//! A part of a space as a problem for the search.

use operon_sat::{Literal, Problem, Variable};

use crate::parts::SpacePart;
use crate::space::{NodeId, Rule, Space};

/// A problem, and how its variables stand for nodes.
pub(crate) struct Encoded {
    pub(crate) problem: Problem,
    nodes: Vec<NodeId>,
    pub(crate) variables: Vec<Variable>,
    /// For a guarded problem: the guard of each rule, in the order of [`Encoded::guarded`].
    guards: Vec<Variable>,
    /// The numbers of the rules that have guards.
    guarded: Vec<usize>,
}

impl Encoded {
    /// Returns the node of a variable; none for a guard.
    pub(crate) fn node(&self, variable: Variable) -> Option<NodeId> {
        self.nodes.get(variable.index()).copied()
    }

    /// Returns the assumptions that all rules hold, in the order of rules.
    pub(crate) fn assumptions(&self) -> Vec<Literal> {
        self.guards.iter().map(|guard| guard.positive()).collect()
    }

    /// Returns the rule that an assumption speaks of.
    pub(crate) fn rule(&self, assumption: Literal) -> usize {
        self.guarded[assumption.variable().index() - self.nodes.len()]
    }
}

/// Encodes a part whose rules all hold.
pub(crate) fn encode(space: &Space<'_>, part: &SpacePart, places: &mut [u32]) -> Encoded {
    let mut encoded = begin(part, places);
    for &rule in &part.rules {
        add_rule(space, &mut encoded, &space.rules[rule], None, places);
    }
    encoded
}

/// Encodes a part so that each of the given rules holds only when it is assumed.
pub(crate) fn encode_guarded(
    space: &Space<'_>,
    part: &SpacePart,
    rules: &[usize],
    places: &mut [u32],
) -> Encoded {
    let mut encoded = begin(part, places);
    for &rule in rules {
        let guard = encoded.problem.variable();
        encoded.guards.push(guard);
        encoded.guarded.push(rule);
        add_rule(space, &mut encoded, &space.rules[rule], Some(guard), places);
    }
    encoded
}

fn begin(part: &SpacePart, places: &mut [u32]) -> Encoded {
    let mut problem = Problem::new();
    let mut variables = Vec::with_capacity(part.nodes.len());
    for (place, node) in part.nodes.iter().enumerate() {
        places[node.index()] = place as u32;
        variables.push(problem.variable());
    }
    let nodes = part.nodes.clone();
    Encoded { problem, nodes, variables, guards: Vec::new(), guarded: Vec::new() }
}

fn add_rule(
    space: &Space<'_>,
    encoded: &mut Encoded,
    rule: &Rule,
    guard: Option<Variable>,
    places: &[u32],
) {
    let Encoded { problem, variables, .. } = encoded;
    let variable = |node: &NodeId| variables[places[node.index()] as usize];
    let mut never_both = |left: Variable, right: Variable| {
        let mut clause = vec![left.negative(), right.negative()];
        clause.extend(guard.map(Variable::negative));
        problem.clause(&clause);
    };
    match rule {
        Rule::Forbid { node, .. } => never_both(variable(node), variable(node)),
        Rule::Update { update, current } => never_both(variable(update), variable(current)),
        Rule::Exclude { trigger, list, .. } => {
            for node in space.list(*list) {
                never_both(variable(trigger), variable(node));
            }
        }
        Rule::Root(node) => problem.choice(None, &[variable(node)], guard),
        Rule::Choose { trigger, list, .. } => {
            let candidates: Vec<Variable> = space.list(*list).iter().map(variable).collect();
            problem.choice(Some(variable(trigger)), &candidates, guard);
        }
        Rule::AtMostOne { list, .. } => {
            let members: Vec<Variable> = space.list(*list).iter().map(variable).collect();
            problem.at_most_one(&members, guard);
        }
    }
}
