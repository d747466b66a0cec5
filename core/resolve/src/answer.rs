//! From chosen nodes to an answer: what is added, what stays, and why each is there.

use std::collections::{BTreeMap, HashSet};

use crate::facts;
use crate::parts::SpacePart;
use crate::resolution::{Addition, Answer, Kept, Reason};
use crate::space::{Choice, Node, NodeId, Rule, Space};

/// Describes the chosen nodes of a part.
pub(crate) fn answer(space: &Space<'_>, part: &SpacePart, chosen: &[NodeId]) -> Answer {
    let set: HashSet<NodeId> = chosen.iter().copied().collect();
    let mut reasons = reasons(space, part, &set);
    let mut updates: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for &rule in &part.rules {
        if let Rule::Update { update, current } = space.rules[rule]
            && set.contains(&update)
        {
            updates.insert(update, current);
        }
    }
    let mut answer = Answer::default();
    for &node in chosen {
        let reasons = reasons.remove(&node).unwrap_or_default();
        match space.nodes[node.index()] {
            Node::Entry { .. } => {
                let current =
                    updates.get(&node).map(|&current| facts::operator(space, current).name);
                answer.additions.push(addition(space, node, current.unwrap_or_default(), reasons));
            }
            Node::Installed(position) => {
                let operator = &space.installed[position];
                answer.kept.push(Kept {
                    name: operator.installed.name.clone(),
                    package: operator.package.clone(),
                    version: operator.installed.version.to_string(),
                    reasons,
                });
            }
            Node::Request(_) | Node::Way(_) => {}
        }
    }
    answer.additions.sort_by(|left, right| order_key(left).cmp(&order_key(right)));
    answer.kept.sort_by(|left, right| left.name.cmp(&right.name));
    answer
}

fn order_key(addition: &Addition) -> [&str; 5] {
    let source = &addition.source;
    [&addition.package, &addition.name, &addition.channel, &source.namespace, &source.name]
}

fn addition(space: &Space<'_>, node: NodeId, updates: String, reasons: Vec<Reason>) -> Addition {
    let Node::Entry { source, entry: entry_id, bundle } = space.nodes[node.index()] else {
        unreachable!("bug: only entries of catalogs are added");
    };
    let source = &space.sources[source.index()];
    let (entry, bundle) = (source.catalog.entry_by_id(entry_id), source.bundle(bundle));
    let starts = |(number, request): (usize, &&crate::universe::Request)| {
        space.currents[number].is_none() && request.starting_csv == bundle.name()
    };
    let declared = entry.replaces().filter(|name| {
        space.semantics.replace_other_packages
            || !is_of_another_package(space, name, bundle.package().name())
    });
    Addition {
        name: bundle.name().to_owned(),
        package: bundle.package().name().to_owned(),
        channel: entry.channel().name().to_owned(),
        source: source.name.clone(),
        entry: entry_id,
        version: bundle.version_text().to_owned(),
        replaces: match updates.as_str() {
            "" => declared.unwrap_or_default().to_owned(),
            _ => updates.clone(),
        },
        updates,
        image: bundle.image().unwrap_or_default().to_owned(),
        is_starting: space.requests.iter().enumerate().any(starts),
        reasons,
    }
}

/// Returns `true` if an installed operator is not known to be of a package, so that the package must not
/// replace it: a catalog may name any operator in `replaces`.
fn is_of_another_package(space: &Space<'_>, name: &str, package: &str) -> bool {
    let mut installed = space.installed.iter();
    installed.any(|operator| operator.installed.name == name && operator.package != package)
}

/// Finds for each chosen operator which requests and which other operators of the answer want it.
fn reasons(
    space: &Space<'_>,
    part: &SpacePart,
    set: &HashSet<NodeId>,
) -> BTreeMap<NodeId, Vec<Reason>> {
    let mut reasons: BTreeMap<NodeId, Vec<Reason>> = BTreeMap::new();
    for &rule in &part.rules {
        match &space.rules[rule] {
            Rule::Root(node) if matches!(space.nodes[node.index()], Node::Installed(_)) => {
                reasons.entry(*node).or_default().push(Reason::Freestanding);
            }
            Rule::Choose { trigger, list, why } if set.contains(trigger) => {
                for node in space.list(*list).iter().filter(|node| set.contains(node)) {
                    let reason = match why {
                        Choice::Options(number) => {
                            Reason::Requested(space.requests[*number].name.clone())
                        }
                        Choice::Need(formula) => {
                            let formula = &space.formulas[formula.index()];
                            Reason::Needed {
                                by: facts::operator(space, *trigger).name,
                                requirement: formula.constraint.to_string(),
                                message: formula.message.clone().unwrap_or_default(),
                            }
                        }
                    };
                    reasons.entry(*node).or_default().push(reason);
                }
            }
            Rule::Root(_)
            | Rule::Choose { .. }
            | Rule::Forbid { .. }
            | Rule::Update { .. }
            | Rule::Exclude { .. }
            | Rule::AtMostOne { .. } => {}
        }
    }
    reasons.values_mut().for_each(keep_first);
    reasons
}

/// Keeps the first of equal reasons.
fn keep_first(reasons: &mut Vec<Reason>) {
    let is_first: Vec<bool> = {
        let mut seen = HashSet::new();
        reasons.iter().map(|reason| seen.insert(reason)).collect()
    };
    let mut is_first = is_first.into_iter();
    reasons.retain(|_| is_first.next().unwrap_or(false));
}
