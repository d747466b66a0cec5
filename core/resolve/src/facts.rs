//! From rules of a space to facts about operators.

use crate::conflict::{Conflict, Fact, Operator};
use crate::space::{Choice, Exclusive, Forbidden, List, Node, NodeId, Rule, Space};

/// Describes rules that cannot hold together.
pub(crate) fn conflict(space: &Space<'_>, rules: &[usize], minimal: bool) -> Conflict {
    let facts: Vec<Fact> = rules.iter().map(|&rule| fact(space, &space.rules[rule])).collect();
    let mut requests: Vec<String> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Wanted { request } => Some(request.clone()),
            _ => None,
        })
        .collect();
    requests.sort();
    Conflict { facts, minimal, requests }
}

/// Describes a node that is an operator, or the operator that it speaks for.
pub(crate) fn operator(space: &Space<'_>, node: NodeId) -> Operator {
    match space.nodes[space.owner(node).index()] {
        Node::Entry { source, entry, bundle } => {
            let source = &space.sources[source.index()];
            let bundle = source.catalog.bundle_by_id(bundle);
            Operator {
                source: Some(source.name.clone()),
                package: bundle.package().name().to_owned(),
                channel: source.catalog.entry_by_id(entry).channel().name().to_owned(),
                name: bundle.name().to_owned(),
                version: bundle.version_text().to_owned(),
                way: way(space, node),
            }
        }
        Node::Installed(position) => {
            let operator = &space.installed[position];
            Operator {
                source: None,
                package: operator.package.clone(),
                channel: String::new(),
                name: operator.installed.name.clone(),
                version: operator.installed.version.to_string(),
                way: way(space, node),
            }
        }
        Node::Request(_) | Node::Way(_) => Operator {
            source: None,
            package: String::new(),
            channel: String::new(),
            name: String::new(),
            version: String::new(),
            way: 0,
        },
    }
}

fn way(space: &Space<'_>, node: NodeId) -> u32 {
    match space.nodes[node.index()] {
        Node::Way(_) => node.0,
        Node::Request(_) | Node::Entry { .. } | Node::Installed(_) => 0,
    }
}

fn operators(space: &Space<'_>, list: List) -> Vec<Operator> {
    space.list(list).iter().map(|&node| operator(space, node)).collect()
}

fn fact(space: &Space<'_>, rule: &Rule) -> Fact {
    match rule {
        Rule::Root(node) => match space.nodes[node.index()] {
            Node::Request(number) => Fact::Wanted { request: request_name(space, number) },
            Node::Entry { .. } | Node::Installed(_) | Node::Way(_) => {
                Fact::Freestanding { operator: operator(space, *node) }
            }
        },
        Rule::Choose { list, why: Choice::Options(number), .. } => Fact::Options {
            request: request_name(space, *number),
            package: space.requests[*number].package.clone(),
            options: operators(space, *list),
        },
        Rule::Choose { trigger, list, why: Choice::Need(formula) } => Fact::Needs {
            operator: operator(space, *trigger),
            constraint: worded(space, *formula),
            candidates: operators(space, *list),
        },
        Rule::Forbid { node, why: Forbidden::Deprecated } => {
            Fact::Deprecated { operator: operator(space, *node) }
        }
        Rule::Forbid { node, why: Forbidden::Malformed(error) } => {
            Fact::Malformed { operator: operator(space, *node), error: error.clone() }
        }
        Rule::Forbid { node, why: Forbidden::NotFound(missing) } => Fact::NotFound {
            request: match space.nodes[node.index()] {
                Node::Request(number) => request_name(space, number),
                Node::Entry { .. } | Node::Installed(_) | Node::Way(_) => String::new(),
            },
            missing: missing.clone(),
        },
        Rule::Update { update, current } => {
            Fact::Updates { operator: operator(space, *update), current: operator(space, *current) }
        }
        Rule::Exclude { trigger, list, formula } => Fact::Excludes {
            operator: operator(space, *trigger),
            constraint: worded(space, *formula),
            excluded: operators(space, *list),
        },
        Rule::AtMostOne { list, why: Exclusive::Api(api) } => {
            Fact::OneProvider { api: api.clone(), providers: operators(space, *list) }
        }
        Rule::AtMostOne { list, why: Exclusive::Package(package) } => {
            Fact::OnePerPackage { package: package.clone(), members: operators(space, *list) }
        }
    }
}

/// A need with the author's words, which may stand at what it is part of.
pub(crate) fn worded(
    space: &Space<'_>,
    formula: crate::space::FormulaId,
) -> operon_constraint::Constraint {
    let formula = &space.formulas[formula.index()];
    let mut constraint = formula.constraint.clone();
    if constraint.failure_message.as_ref().is_none_or(String::is_empty) {
        constraint.failure_message.clone_from(&formula.message);
    }
    constraint
}

fn request_name(space: &Space<'_>, number: usize) -> String {
    space.requests[number].name.clone()
}
