//! The space of a resolution: every operator that could be in the answer, and the rules between
//! them.
//!
//! Built once from the universe and the requests: installed operators, what requests may choose
//! from, and everything that could meet a need of those. Nothing is decided here.

mod adopt;
mod build;
mod costliest;
mod exclusive;
mod failures;
mod formula;
mod installed;
mod matching;
mod needs;
mod options;
mod sources;
mod whole;

use operon_catalog::{BundleId, EntryId, GroupVersionKind};

pub(crate) use self::{
    build::build,
    formula::{Formula, FormulaId},
    installed::InstalledOperator,
    sources::{ReadySource, SourceIndex},
    whole::{updates_of, whole},
};
use crate::budget::{Budget, Spent};
use crate::conflict::Missing;
use crate::facts;
use crate::resolution::{Expense, Notice};
use crate::semantics::Semantics;
use crate::universe::{Request, Universe};

/// The number of a node: what a resolution decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a resolution decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// A request; its number in [`Space::requests`].
    Request(usize),
    /// A bundle in a channel of a catalog.
    Entry {
        /// The catalog.
        source: SourceIndex,
        /// The entry.
        entry: EntryId,
        /// The entry's bundle.
        bundle: BundleId,
    },
    /// An installed operator; its number in [`Space::installed`].
    Installed(usize),
    /// A way to meet a constraint with parts, on behalf of an operator.
    Way(NodeId),
}

/// Some nodes, in order of preference; a range of [`Space::lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct List {
    start: u32,
    end: u32,
}

/// Something that must hold between nodes.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    /// The node is in the answer: a request, or an operator that no request refers to.
    Root(NodeId),
    /// With the trigger, one of the listed nodes is in the answer, the first that can be.
    Choose { trigger: NodeId, list: List, why: Choice },
    /// The node is not in the answer.
    Forbid { node: NodeId, why: Forbidden },
    /// An update and the installed operator that it updates are not both in the answer.
    Update { update: NodeId, current: NodeId },
    /// With the trigger, none of the listed nodes is in the answer.
    Exclude { trigger: NodeId, list: List, formula: FormulaId },
    /// At most one of the listed nodes is in the answer; a node listed twice is not.
    AtMostOne { list: List, why: Exclusive },
}

/// Why something is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A request asks for it.
    Options(usize),
    /// An operator needs it.
    Need(FormulaId),
}

/// Why a node cannot be in the answer.
#[derive(Debug, Clone)]
pub(crate) enum Forbidden {
    /// The bundle is marked with `olm.deprecated`.
    Deprecated,
    /// A property of the bundle is malformed.
    Malformed(String),
    /// What the request names does not exist.
    NotFound(Missing),
}

/// What at most one operator may have.
#[derive(Debug, Clone)]
pub(crate) enum Exclusive {
    /// An API.
    Api(GroupVersionKind),
    /// A package.
    Package(String),
}

/// Everything that a resolution decides about.
#[derive(Debug)]
pub(crate) struct Space<'u> {
    pub(crate) universe: &'u Universe<'u>,
    /// The requests, ordered by name.
    pub(crate) requests: Vec<&'u Request>,
    pub(crate) semantics: Semantics,
    /// The catalogs that can be read, in the order of preference of no one in particular.
    pub(crate) sources: Vec<ReadySource<'u>>,
    /// The installed operators that count, ordered by name.
    pub(crate) installed: Vec<InstalledOperator<'u>>,
    /// For each request, the installed operator that belongs to it.
    pub(crate) currents: Vec<Option<usize>>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) formulas: Vec<Formula>,
    lists: Vec<NodeId>,
    pub(crate) notices: Vec<Notice>,
    /// Operators whose needs are not all known, because finding out is too expensive.
    pub(crate) unfinished: Vec<(NodeId, Expense)>,
}

impl Space<'_> {
    /// Describes what cost the most: an operator, and a need of it.
    pub(crate) fn expense(
        &self,
        node: Option<NodeId>,
        need: Option<FormulaId>,
        spent: Spent,
        budget: &Budget,
    ) -> Expense {
        Expense {
            bundle: node.map(|node| facts::operator(self, node).name).unwrap_or_default(),
            need: need
                .map(|need| self.formulas[need.index()].constraint.to_string())
                .unwrap_or_default(),
            spent,
            limit: budget.limits().of(spent),
        }
    }

    /// Counts the operators that a rule names.
    pub(crate) fn operators_named(&self, rule: usize) -> usize {
        match &self.rules[rule] {
            Rule::Root(_) | Rule::Forbid { .. } | Rule::Update { .. } => 1,
            Rule::Choose { list, .. }
            | Rule::Exclude { list, .. }
            | Rule::AtMostOne { list, .. } => self.list(*list).len() + 1,
        }
    }

    pub(crate) fn list(&self, list: List) -> &[NodeId] {
        &self.lists[list.start as usize..list.end as usize]
    }

    fn add_list(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend(nodes);
        List { start, end: self.lists.len() as u32 }
    }

    fn add_node(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        id
    }

    /// Returns the node of an installed operator: they come right after the requests.
    pub(crate) fn installed_node(&self, position: usize) -> NodeId {
        NodeId((self.requests.len() + position) as u32)
    }

    /// Returns the operator that a node speaks for: itself, or the one it is a way of.
    pub(crate) fn owner(&self, mut node: NodeId) -> NodeId {
        while let Node::Way(owner) = self.nodes[node.index()] {
            node = owner;
        }
        node
    }
}
