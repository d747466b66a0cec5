//! What stands in the way of a bundle, as a tree of reasons that is cut where nobody reads on.

use operon_catalog::GroupVersionKind;
use operon_constraint::{Constraint, Requirement};
use operon_version::Version;

use super::{Clause, Surveyor};
use crate::conflict::Operator;
use crate::facts;
use crate::space::{Choice, Exclusive, Forbidden, FormulaId, List, Node, NodeId, Rule, Space};

/// How many needs a chain of reasons follows.
pub const MAX_CHAIN: usize = 4;

/// How many of those that could meet a need are told about; the others are counted.
pub const MAX_HINDRANCES: usize = 3;

/// Why a bundle cannot be installed.
///
/// It prints as a phrase that follows the name of the bundle, such as `needs API Kafka.v1
/// (kafka.io), which nothing here provides`.
#[derive(Debug, Clone)]
pub enum Obstacle {
    /// The bundle is marked with `olm.deprecated`.
    Deprecated,
    /// A property of the bundle is malformed.
    Malformed {
        /// What is wrong.
        error: String,
    },
    /// Upstream: the bundle lists an API twice and stands in its own way.
    ListedTwice {
        /// The API.
        api: GroupVersionKind,
    },
    /// The bundle excludes what it is itself.
    ExcludesItself {
        /// What it excludes.
        excluded: Constraint,
    },
    /// Nothing meets a need.
    Absent {
        /// The need.
        need: Constraint,
        /// What is there instead.
        absence: Absence,
    },
    /// What could meet a need cannot be installed either.
    Hindered {
        /// The need.
        need: Constraint,
        /// Those that could, the preferred ones first, one for each package.
        hindrances: Vec<Hindrance>,
        /// How many more packages could.
        more: usize,
    },
    /// Upstream: a malformed bundle would be looked at, and that stops the whole namespace.
    Stopped {
        /// The malformed bundle.
        operator: Operator,
        /// What is wrong with it.
        error: String,
    },
    /// What the bundle brings with it cannot be together.
    Clash {
        /// The bundle that was asked about; others of its package may clash for the same reasons.
        operator: Operator,
        /// What cannot hold together; none when it was not found within the limits of work.
        clauses: Vec<Clause>,
    },
    /// The chain of reasons goes on, and is cut here.
    Deeper,
}

/// What is there instead of what is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// Nothing here provides the API; another catalog or the cluster may.
    Api,
    /// No catalog here has the package.
    Package,
    /// The package is here in other versions only, the oldest first.
    Versions(Vec<String>),
    /// Bundles fit that no channel offers, such as skipped ones; the names of the first of them.
    NotOffered(Vec<String>),
    /// Nothing here fits.
    Nothing,
}

/// One that could meet a need, and what stands in its way.
#[derive(Debug, Clone)]
pub struct Hindrance {
    /// The package; empty for a way to meet a need that has parts.
    pub package: String,
    /// The preferred bundle of the package, as it is to be named; empty for a way.
    pub name: String,
    /// What stands in its way.
    pub obstacle: Obstacle,
}

impl Obstacle {
    /// Tells whether an API that nothing here provides is what is missing, so that another catalog
    /// or the cluster itself may remove the obstacle.
    pub fn is_missing_api(&self) -> bool {
        match self {
            Obstacle::Absent { absence, .. } => *absence == Absence::Api,
            Obstacle::Hindered { hindrances, .. } => {
                hindrances.iter().any(|hindrance| hindrance.obstacle.is_missing_api())
            }
            Obstacle::Deprecated
            | Obstacle::Malformed { .. }
            | Obstacle::ListedTwice { .. }
            | Obstacle::ExcludesItself { .. }
            | Obstacle::Stopped { .. }
            | Obstacle::Clash { .. }
            | Obstacle::Deeper => false,
        }
    }
}

impl Surveyor<'_> {
    /// Describes what makes a node impossible without any search, if something does.
    pub(super) fn plain_obstacle(&self, node: NodeId) -> Option<Obstacle> {
        if let Some(stopper) = self.spread.stopper(node) {
            return Some(self.stopped(node, stopper));
        }
        self.spread.cause(node).map(|rule| self.obstacle_of_rule(rule, 0))
    }

    fn stopped(&self, node: NodeId, stopper: usize) -> Obstacle {
        match &self.space.rules[stopper] {
            Rule::Forbid { node: malformed, why: Forbidden::Malformed(error) }
                if *malformed != node =>
            {
                let operator = facts::operator(&self.space, *malformed);
                Obstacle::Stopped { operator, error: error.clone() }
            }
            _ => self.obstacle_of_rule(stopper, 0),
        }
    }

    /// The recursion through hindrances is bounded by [`MAX_CHAIN`].
    fn obstacle_of_rule(&self, rule: usize, depth: usize) -> Obstacle {
        let space = &self.space;
        match &space.rules[rule] {
            Rule::Forbid { why: Forbidden::Malformed(error), .. } => {
                Obstacle::Malformed { error: error.clone() }
            }
            Rule::Choose { list, why: Choice::Need(formula), .. } => {
                self.unmet(*list, *formula, depth)
            }
            Rule::Exclude { formula, .. } => {
                Obstacle::ExcludesItself { excluded: facts::worded(space, *formula) }
            }
            Rule::AtMostOne { why: Exclusive::Api(api), .. } => {
                Obstacle::ListedTwice { api: api.clone() }
            }
            // A space without requests has no other rules that make something impossible.
            Rule::Forbid { why: Forbidden::Deprecated | Forbidden::NotFound(_), .. }
            | Rule::Choose { why: Choice::Options(_), .. }
            | Rule::AtMostOne { why: Exclusive::Package(_), .. }
            | Rule::Root(_)
            | Rule::Update { .. } => Obstacle::Deprecated,
        }
    }

    fn unmet(&self, list: List, formula: FormulaId, depth: usize) -> Obstacle {
        let space = &self.space;
        let need = facts::worded(space, formula);
        let candidates = space.list(list);
        if candidates.is_empty() {
            let absence = absence(space, &need.requirement);
            return Obstacle::Absent { need, absence };
        }
        if depth + 1 >= MAX_CHAIN {
            let hindrances = vec![];
            return Obstacle::Hindered { need, hindrances, more: packages(space, candidates) };
        }
        let mut hindrances: Vec<Hindrance> = Vec::new();
        for &node in candidates {
            let (package, name) = match space.nodes[node.index()] {
                Node::Way(_) => (String::new(), String::new()),
                Node::Entry { .. } | Node::Installed(_) | Node::Request(_) => {
                    let operator = facts::operator(space, node);
                    (operator.package, operator.name)
                }
            };
            let is_known = hindrances.iter().any(|known| known.package == package);
            if is_known && !package.is_empty() {
                continue;
            }
            let cause = self.spread.cause(node);
            let obstacle =
                cause.map_or(Obstacle::Deeper, |rule| self.obstacle_of_rule(rule, depth + 1));
            hindrances.push(Hindrance { package, name, obstacle });
            if hindrances.len() == MAX_HINDRANCES {
                break;
            }
        }
        let told = hindrances.iter().filter(|hindrance| !hindrance.package.is_empty()).count();
        let more = packages(space, candidates).saturating_sub(told);
        Obstacle::Hindered { need, hindrances, more }
    }
}

/// Counts the packages that nodes come from.
fn packages(space: &Space<'_>, nodes: &[NodeId]) -> usize {
    let mut names: Vec<&str> = nodes
        .iter()
        .filter_map(|node| match space.nodes[node.index()] {
            Node::Entry { source, bundle, .. } => {
                Some(space.sources[source.index()].catalog.bundle_by_id(bundle).package().name())
            }
            Node::Installed(_) | Node::Request(_) | Node::Way(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

/// Finds out what is there instead of what is required.
fn absence(space: &Space<'_>, requirement: &Requirement) -> Absence {
    let catalogs = space.sources.iter().map(|source| source.catalog);
    match requirement {
        Requirement::Gvk(api) => {
            let providers: Vec<String> = catalogs
                .filter_map(|catalog| catalog.api(api))
                .flat_map(|api| api.providers().map(|bundle| bundle.name().to_owned()))
                .take(MAX_HINDRANCES)
                .collect();
            if providers.is_empty() { Absence::Api } else { Absence::NotOffered(providers) }
        }
        Requirement::Package { name, range } => {
            let bundles = catalogs
                .filter_map(|catalog| catalog.package(name))
                .flat_map(|package| package.bundles());
            let mut fitting = Vec::new();
            let mut others: Vec<(Option<Version>, String)> = Vec::new();
            for bundle in bundles {
                let version = bundle.version();
                if version.as_ref().is_some_and(|version| range.contains(version)) {
                    fitting.push(bundle.name().to_owned());
                }
                others.push((version, bundle.version_text().to_owned()));
            }
            if !fitting.is_empty() {
                fitting.truncate(MAX_HINDRANCES);
                return Absence::NotOffered(fitting);
            }
            if others.is_empty() {
                return Absence::Package;
            }
            others.sort();
            others.dedup();
            Absence::Versions(others.into_iter().map(|(_, text)| text).collect())
        }
        Requirement::Label(_)
        | Requirement::Cel(_)
        | Requirement::All(_)
        | Requirement::Any(_)
        | Requirement::Not(_) => Absence::Nothing,
    }
}
