//! What cannot hold together, a few words each: facts of one package that say the same are one.

use std::collections::BTreeSet;

use operon_catalog::GroupVersionKind;
use operon_constraint::Constraint;

use crate::conflict::Operator;
use crate::facts;
use crate::space::{Choice, Exclusive, Forbidden, Node, NodeId, Rule, Space};

/// Something that holds, and cannot hold together with the others.
#[derive(Debug, Clone)]
pub enum Clause {
    /// Each of these bundles of a package needs something.
    Needs {
        /// The bundles.
        operators: Vec<Operator>,
        /// What they need.
        need: Constraint,
        /// Whether nothing at all meets the need.
        is_absent: bool,
    },
    /// Each of these bundles of a package excludes something.
    Excludes {
        /// The bundles.
        operators: Vec<Operator>,
        /// What they exclude.
        excluded: Constraint,
    },
    /// These bundles of a package are marked with `olm.deprecated`.
    Deprecated {
        /// The bundles.
        operators: Vec<Operator>,
    },
    /// These bundles of a package have a malformed property.
    Malformed {
        /// The bundles.
        operators: Vec<Operator>,
        /// What is wrong.
        error: String,
    },
    /// Only one operator may provide an API.
    OneProvider {
        /// The API.
        api: GroupVersionKind,
        /// The packages that play a part and provide it.
        packages: Vec<String>,
    },
    /// Only one operator may come from a package.
    OneVersion {
        /// The package.
        package: String,
    },
}

impl Clause {
    /// Describes rules that exclude an operator.
    pub(super) fn of_rules(space: &Space<'_>, operator: &Operator, rules: &[usize]) -> Vec<Self> {
        let mut involved: BTreeSet<String> = BTreeSet::from([operator.package.clone()]);
        for &rule in rules {
            if let Rule::Choose { list, .. } = &space.rules[rule] {
                involved.extend(packages(space, space.list(*list)));
            }
        }
        let mut clauses: Vec<Self> = Vec::new();
        for &rule in rules {
            let Some(clause) = Self::of_rule(space, &space.rules[rule], &involved) else {
                continue;
            };
            match clauses.iter_mut().find(|known| known.says_the_same(&clause)) {
                Some(known) => known.take_over(&clause),
                None => clauses.push(clause),
            }
        }
        clauses
    }

    fn of_rule(space: &Space<'_>, rule: &Rule, involved: &BTreeSet<String>) -> Option<Self> {
        let operators = |node: NodeId| vec![facts::operator(space, node)];
        match rule {
            Rule::Choose { trigger, list, why: Choice::Need(formula) } => Some(Self::Needs {
                operators: operators(*trigger),
                need: facts::worded(space, *formula),
                is_absent: space.list(*list).is_empty(),
            }),
            Rule::Exclude { trigger, formula, .. } => Some(Self::Excludes {
                operators: operators(*trigger),
                excluded: facts::worded(space, *formula),
            }),
            Rule::Forbid { node, why: Forbidden::Deprecated } => {
                Some(Self::Deprecated { operators: operators(*node) })
            }
            Rule::Forbid { node, why: Forbidden::Malformed(error) } => {
                Some(Self::Malformed { operators: operators(*node), error: error.clone() })
            }
            Rule::AtMostOne { list, why: Exclusive::Api(api) } => {
                let providing = packages(space, space.list(*list));
                let packages = providing.intersection(involved).cloned().collect();
                Some(Self::OneProvider { api: api.clone(), packages })
            }
            Rule::AtMostOne { why: Exclusive::Package(package), .. } => {
                Some(Self::OneVersion { package: package.clone() })
            }
            // These speak of requests, and a survey has none.
            Rule::Root(_)
            | Rule::Update { .. }
            | Rule::Choose { why: Choice::Options(_), .. }
            | Rule::Forbid { why: Forbidden::NotFound(_), .. } => None,
        }
    }

    /// Returns the bundles that it speaks of.
    pub fn operators(&self) -> &[Operator] {
        match self {
            Self::Needs { operators, .. }
            | Self::Excludes { operators, .. }
            | Self::Deprecated { operators }
            | Self::Malformed { operators, .. } => operators,
            Self::OneProvider { .. } | Self::OneVersion { .. } => &[],
        }
    }

    /// Returns what it says, as a phrase that follows the names of the bundles, if there are any.
    pub fn phrase(&self) -> String {
        match self {
            Self::Needs { need, is_absent: false, .. } => format!("needs {need}"),
            Self::Needs { need, is_absent: true, .. } => {
                format!("needs {need}, which is not here")
            }
            Self::Excludes { excluded, .. } => format!("excludes {excluded}"),
            Self::Deprecated { .. } => {
                "is marked as one that must not be installed (olm.deprecated)".to_owned()
            }
            Self::Malformed { error, .. } => format!("has a malformed property: {error}"),
            Self::OneProvider { api, packages } if packages.len() > 1 => {
                format!("only one of {} can provide API {api}", packages.join(", "))
            }
            Self::OneProvider { api, .. } => {
                format!("only one operator can provide API {api}")
            }
            Self::OneVersion { package } => format!("there can be only one version of {package}"),
        }
    }

    fn says_the_same(&self, other: &Self) -> bool {
        let package = |clause: &Self| clause.operators().first().map(|known| known.package.clone());
        package(self) == package(other) && self.phrase() == other.phrase()
    }

    fn take_over(&mut self, other: &Self) {
        match self {
            Self::Needs { operators, .. }
            | Self::Excludes { operators, .. }
            | Self::Deprecated { operators }
            | Self::Malformed { operators, .. } => {
                // A bundle that several channels list is named once.
                for operator in other.operators() {
                    if !operators.iter().any(|known| known.name == operator.name) {
                        operators.push(operator.clone());
                    }
                }
            }
            Self::OneProvider { .. } | Self::OneVersion { .. } => {}
        }
    }
}

fn packages(space: &Space<'_>, nodes: &[NodeId]) -> BTreeSet<String> {
    let bundles = nodes.iter().filter_map(|node| match space.nodes[node.index()] {
        Node::Entry { source, bundle, .. } => {
            Some(space.sources[source.index()].catalog.bundle_by_id(bundle))
        }
        Node::Installed(_) | Node::Request(_) | Node::Way(_) => None,
    });
    bundles.map(|bundle| bundle.package().name().to_owned()).collect()
}
