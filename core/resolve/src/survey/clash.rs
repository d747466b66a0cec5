//! Why something is impossible that no single need explains: the rules that cannot hold together.

use std::collections::{HashMap, HashSet};

use operon_sat::{Budget, Literal, Solver, Variable, minimise};

use super::{Clause, Obstacle, Surveyor};
use crate::encode::{Encoded, encode_guarded};
use crate::facts;
use crate::parts::SpacePart;
use crate::space::{Node, NodeId, Rule, SourceIndex, Space};

/// A contradiction of more rules than this is told without reasons: nobody would read them.
const MAX_RULES: usize = 64;

/// What was found out about contradictions of a package: bundles that need and provide the same
/// things clash for the same reasons.
#[derive(Debug, Default)]
pub(super) struct ClashMemo<'u> {
    known: HashMap<(SourceIndex, Telling<'u>), Obstacle>,
}

/// The properties of a bundle that can play a part: types and values.
type Telling<'u> = Vec<(&'u str, &'u str)>;

impl<'u> ClashMemo<'u> {
    /// Describes what stands in the way of a node that a search found to be impossible; the rules
    /// that cannot hold together are asked for where they are not known.
    pub(super) fn obstacle(
        &mut self,
        surveyor: &Surveyor<'u>,
        node: NodeId,
        rules: impl FnOnce() -> Vec<usize>,
    ) -> Obstacle {
        let Node::Entry { source, bundle, .. } = surveyor.space.nodes[node.index()] else {
            return Obstacle::Deeper;
        };
        let catalog = surveyor.space.sources[source.index()].catalog;
        let properties = catalog.bundle_by_id(bundle).properties();
        let telling: Telling<'u> = properties
            .filter(|property| property.kind != "olm.package")
            .map(|property| (property.kind, property.value))
            .collect();
        let obstacle = self.known.entry((source, telling)).or_insert_with(|| {
            let operator = facts::operator(&surveyor.space, node);
            let clauses = Clause::of_rules(&surveyor.space, &operator, &rules());
            Obstacle::Clash { operator, clauses }
        });
        obstacle.clone()
    }
}

/// A part of the space whose rules can be left out one by one.
pub(super) struct Guarded {
    encoded: Encoded,
    solver: Solver,
    assumptions: Vec<Literal>,
    /// For each node the places of the rules that it triggers, among the rules of the part.
    triggered: HashMap<NodeId, Vec<usize>>,
    /// For each node the places of the rules of uniqueness that name it.
    groups: HashMap<NodeId, Vec<usize>>,
}

/// How many steps looking for reasons takes for each rule that can matter, at least: a search
/// that the budget cannot finish is not begun.
const STEPS_FOR_A_RULE: u64 = 32;

impl Guarded {
    pub(super) fn new(space: &Space<'_>, part: &SpacePart, places: &mut [u32]) -> Self {
        let encoded = encode_guarded(space, part, &part.rules, places);
        let solver = Solver::new(&encoded.problem);
        let assumptions = encoded.assumptions();
        let mut triggered: HashMap<NodeId, Vec<usize>> = HashMap::new();
        let mut groups: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (place, &rule) in part.rules.iter().enumerate() {
            let node = match &space.rules[rule] {
                Rule::Root(node) | Rule::Forbid { node, .. } => *node,
                Rule::Choose { trigger, .. } | Rule::Exclude { trigger, .. } => *trigger,
                Rule::Update { update, .. } => *update,
                Rule::AtMostOne { list, .. } => {
                    for member in space.list(*list) {
                        groups.entry(*member).or_default().push(place);
                    }
                    continue;
                }
            };
            triggered.entry(node).or_default().push(place);
        }
        Self { encoded, solver, assumptions, triggered, groups }
    }

    /// Returns a minimal set of rules that exclude a node; none when the budget ends first.
    pub(super) fn rules_against(
        &mut self,
        space: &Space<'_>,
        part: &SpacePart,
        node: NodeId,
        variable: Variable,
        budget: &mut Budget,
    ) -> Vec<usize> {
        let Some(closure) = self.closure(space, part, node, budget) else { return Vec::new() };
        let mut assumed = vec![variable.positive()];
        assumed.extend(closure.iter().map(|&rule| self.assumptions[rule]));
        let minimised = minimise(&mut self.solver, assumed, budget);
        if !minimised.minimal || minimised.literals.len() > MAX_RULES {
            return Vec::new();
        }
        let rules = minimised.literals.iter();
        rules
            .filter(|literal| self.encoded.node(literal.variable()).is_none())
            .map(|&literal| self.encoded.rule(literal))
            .collect()
    }

    /// Returns the places of the rules that can matter for a node, in order: those of everything
    /// that could be there because of it, and uniqueness among these. Returns none when they are
    /// more than the budget suffices for.
    fn closure(
        &self,
        space: &Space<'_>,
        part: &SpacePart,
        node: NodeId,
        budget: &mut Budget,
    ) -> Option<Vec<usize>> {
        let most = usize::try_from(budget.remaining() / STEPS_FOR_A_RULE).unwrap_or(usize::MAX);
        let mut reached: HashSet<NodeId> = HashSet::from([node]);
        let mut open = vec![node];
        let mut places = Vec::new();
        // How many of those that a rule of uniqueness names are reached.
        let mut rivals: HashMap<usize, usize> = HashMap::new();
        while let Some(node) = open.pop() {
            for &place in self.triggered.get(&node).into_iter().flatten() {
                places.push(place);
                if let Rule::Choose { list, .. } = &space.rules[part.rules[place]] {
                    let fresh = space.list(*list).iter().filter(|&&next| reached.insert(next));
                    open.extend(fresh);
                }
            }
            for &place in self.groups.get(&node).into_iter().flatten() {
                let count = rivals.entry(place).or_default();
                *count += 1;
                if *count == 2 {
                    places.push(place);
                }
            }
            if reached.len() + places.len() > most {
                budget.spend(most as u64);
                return None;
            }
        }
        budget.spend((reached.len() + places.len()) as u64);
        places.sort_unstable();
        Some(places)
    }
}
