//! Uniqueness: one operator per package, one provider per API.

use std::collections::{BTreeMap, HashMap};

use operon_catalog::GroupVersionKind;
use operon_constraint::{provided_apis, stated_packages};

use super::{Exclusive, Node, NodeId, Rule, Space};
use crate::semantics::ConstraintReading;

/// Adds the rules of uniqueness over all operators of the space.
pub(super) fn add_rules(space: &mut Space<'_>) {
    let packages = members_by_package(space);
    let apis = members_by_api(space);
    let mut package_rules = Vec::new();
    let mut home: HashMap<NodeId, u32> = HashMap::new();
    for (number, (package, members)) in packages.into_iter().enumerate() {
        if members.len() < 2 {
            continue;
        }
        for &member in &members {
            home.insert(member, number as u32);
        }
        let list = space.add_list(members);
        package_rules.push(Rule::AtMostOne { list, why: Exclusive::Package(package) });
    }
    // Of two rules that say the same, the one that comes first is told.
    let tells_packages = space.semantics.constraints == ConstraintReading::WholeSet;
    if tells_packages {
        space.rules.append(&mut package_rules);
    }
    for (api, mut members) in apis {
        members.sort_unstable();
        // Upstream: an operator that lists an API twice stands in its own way.
        if space.semantics.constraints == ConstraintReading::WholeSet {
            members.dedup();
        }
        let is_twice = members.windows(2).any(|pair| pair[0] == pair[1]);
        let first = members.first().and_then(|member| home.get(member));
        let same_package =
            first.is_some() && members.iter().all(|member| home.get(member) == first);
        // Where all providers are of one package, the rule of the package says it already.
        if members.len() < 2 || (same_package && !is_twice) {
            continue;
        }
        let list = space.add_list(members);
        space.rules.push(Rule::AtMostOne { list, why: Exclusive::Api(api) });
    }
    space.rules.append(&mut package_rules);
}

fn members_by_package(space: &Space<'_>) -> BTreeMap<String, Vec<NodeId>> {
    let mut members: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    let mut by_source: Vec<HashMap<u32, Vec<NodeId>>> = Vec::new();
    by_source.resize_with(space.sources.len(), HashMap::new);
    for (index, node) in space.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        match *node {
            Node::Entry { source, bundle, .. } => {
                let package = space.sources[source.index()].bundle(bundle).package().id();
                by_source[source.index()].entry(package.0).or_default().push(id);
            }
            Node::Installed(position) => {
                for [package, _] in stated_packages(&space.installed[position].properties) {
                    members.entry(package.to_owned()).or_default().push(id);
                }
            }
            Node::Request(_) | Node::Way(_) => {}
        }
    }
    for (index, packages) in by_source.into_iter().enumerate() {
        for (package, nodes) in packages {
            let id = operon_catalog::PackageId(package);
            let name = space.sources[index].catalog.package_by_id(id).name();
            members.entry(name.to_owned()).or_default().extend(nodes);
        }
    }
    for nodes in members.values_mut() {
        nodes.sort_unstable();
        nodes.dedup();
    }
    members
}

fn members_by_api(space: &Space<'_>) -> BTreeMap<GroupVersionKind, Vec<NodeId>> {
    let mut members: BTreeMap<GroupVersionKind, Vec<NodeId>> = BTreeMap::new();
    let mut by_source: Vec<HashMap<u32, Vec<NodeId>>> = Vec::new();
    by_source.resize_with(space.sources.len(), HashMap::new);
    for (index, node) in space.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        match *node {
            Node::Entry { source, bundle, .. } => {
                for api in space.sources[source.index()].bundle(bundle).provided_apis() {
                    by_source[source.index()].entry(api.id().0).or_default().push(id);
                }
            }
            Node::Installed(position) => {
                for api in provided_apis(&space.installed[position].properties) {
                    members.entry(api).or_default().push(id);
                }
            }
            Node::Request(_) | Node::Way(_) => {}
        }
    }
    for (index, apis) in by_source.into_iter().enumerate() {
        for (api, nodes) in apis {
            let name = space.sources[index].catalog.api_by_id(operon_catalog::ApiId(api)).name();
            members.entry(name).or_default().extend(nodes);
        }
    }
    members
}
