//! Uniqueness: one operator per package, one provider per API.

use std::collections::{BTreeMap, HashMap};

use operon_catalog::{ApiId, Bundle, Catalog, GroupVersionKind, PackageId};
use operon_constraint::{Property, provided_apis, stated_packages};

use super::{Exclusive, Node, NodeId, Rule, Space};
use crate::budget::{BYTES_FOR_A_MEMBER, Budget, Spent};

/// Adds the rules of uniqueness over all operators of the space.
pub(super) fn add_rules(space: &mut Space<'_>, budget: &mut Budget) -> Result<(), Spent> {
    let packages = members_by_package(space, budget)?;
    let apis = members_by_api(space, budget)?;
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
    if !space.semantics.tell_as_upstream {
        space.rules.append(&mut package_rules);
    }
    for (api, mut members) in apis {
        members.sort_unstable();
        // Upstream: an operator that lists an API twice stands in its own way.
        if !space.semantics.repeated_api_clashes {
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
    Ok(())
}

fn members_by_package(
    space: &Space<'_>,
    budget: &mut Budget,
) -> Result<BTreeMap<String, Vec<NodeId>>, Spent> {
    let mut members = members_by(
        space,
        budget,
        |bundle, note| note(bundle.package().id().0),
        |catalog, package| catalog.package_by_id(PackageId(package)).name().to_owned(),
        |properties| stated_packages(properties).map(|[name, _]| name.to_owned()).collect(),
    )?;
    for nodes in members.values_mut() {
        nodes.sort_unstable();
        nodes.dedup();
    }
    Ok(members)
}

fn members_by_api(
    space: &Space<'_>,
    budget: &mut Budget,
) -> Result<BTreeMap<GroupVersionKind, Vec<NodeId>>, Spent> {
    members_by(
        space,
        budget,
        |bundle, note| bundle.provided_apis().for_each(|api| note(api.id().0)),
        |catalog, api| catalog.api_by_id(ApiId(api)).name(),
        |properties| provided_apis(properties).collect(),
    )
}

/// Finds who has what. Things of catalogs are numbers until all are found, so that names are compared
/// once for each thing and not once for each bundle.
fn members_by<Name: Ord>(
    space: &Space<'_>,
    budget: &mut Budget,
    numbers: impl Fn(Bundle<'_>, &mut dyn FnMut(u32)),
    name: impl Fn(&Catalog, u32) -> Name,
    names: impl Fn(&[Property]) -> Vec<Name>,
) -> Result<BTreeMap<Name, Vec<NodeId>>, Spent> {
    let mut members: BTreeMap<Name, Vec<NodeId>> = BTreeMap::new();
    let mut by_source: Vec<HashMap<u32, Vec<NodeId>>> = Vec::new();
    by_source.resize_with(space.sources.len(), HashMap::new);
    for (index, node) in space.nodes.iter().enumerate() {
        let id = NodeId(index as u32);
        match *node {
            Node::Entry { source, bundle, .. } => {
                let found = &mut by_source[source.index()];
                let mut count = 0;
                numbers(space.sources[source.index()].bundle(bundle), &mut |number| {
                    found.entry(number).or_default().push(id);
                    count += 1;
                });
                budget.spend(1 + count)?;
                budget.occupy(count * BYTES_FOR_A_MEMBER)?;
            }
            Node::Installed(position) => {
                for name in names(&space.installed[position].properties) {
                    members.entry(name).or_default().push(id);
                }
            }
            Node::Request(_) | Node::Way(_) => {}
        }
    }
    for (source, found) in space.sources.iter().zip(by_source) {
        for (number, nodes) in found {
            members.entry(name(source.catalog, number)).or_default().extend(nodes);
        }
    }
    Ok(members)
}
