//! An operator of an answer as the checker sees it: its properties, read again.

use std::collections::{BTreeMap, BTreeSet};

use operon_constraint::{GroupVersionKind, Property, provided_apis, stated_packages};
use operon_version::Version;

use crate::resolution::Addition;
use crate::universe::{Installed, InstalledProperties, Request, Universe};

/// An operator that would run.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) part: usize,
    pub(super) name: String,
    /// The package that the catalog lists it in; empty for an installed one.
    pub(super) package: String,
    pub(super) version: Option<Version>,
    pub(super) properties: Vec<Property>,
    /// Types and texts of all properties.
    pub(super) texts: Vec<(String, String)>,
    pub(super) packages: Vec<String>,
    pub(super) apis: Vec<GroupVersionKind>,
    /// The APIs that an installed operator without an annotation requires.
    pub(super) required: Vec<GroupVersionKind>,
    pub(super) is_installed: bool,
}

/// Reads the bundles that an answer adds.
pub(super) fn additions(
    universe: &Universe<'_>,
    additions: &[Addition],
    part: usize,
) -> Vec<Member> {
    let mut members = Vec::new();
    for addition in additions {
        let bundle = universe.catalog(&addition.source).and_then(|catalog| {
            catalog
                .package(&addition.package)?
                .channel(&addition.channel)?
                .entry(&addition.name)?
                .bundle()
        });
        let Some(bundle) = bundle else { continue };
        let texts: Vec<(String, String)> = bundle
            .properties()
            .map(|property| (property.kind.to_owned(), property.value.to_owned()))
            .collect();
        let mut member = member(part, addition.name.clone(), bundle.version(), texts);
        member.package.clone_from(&addition.package);
        members.push(member);
    }
    members
}

/// Reads the installed operators of these names.
pub(super) fn installed<'n>(
    universe: &Universe<'_>,
    requests: &[Request],
    names: impl Iterator<Item = &'n str>,
    part: usize,
) -> Vec<Member> {
    let mut by_name: BTreeMap<&str, &Installed> = BTreeMap::new();
    for operator in &universe.installed {
        by_name.entry(&operator.name).or_insert(operator);
    }
    let find = |name: &str| by_name.get(name).copied();
    names.filter_map(find).map(|operator| installed_member(operator, part, requests)).collect()
}

/// Reads an installed operator.
pub(super) fn installed_member(operator: &Installed, part: usize, requests: &[Request]) -> Member {
    let texts = match &operator.properties {
        InstalledProperties::Annotated(properties) => properties.clone(),
        InstalledProperties::Derived { .. } | InstalledProperties::Unreadable(_) => Vec::new(),
    };
    let version = Some(operator.version.clone());
    let mut member = member(part, operator.name.clone(), version, texts);
    if let InstalledProperties::Derived { owned, required } = &operator.properties {
        member.apis.clone_from(owned);
        member.required.clone_from(required);
        // Requests that name an operator without an annotation say which package it is of.
        let named: BTreeSet<&str> = requests
            .iter()
            .filter(|request| request.installed_csv == operator.name)
            .map(|request| request.package.as_str())
            .filter(|package| !package.is_empty())
            .collect();
        if let (Some(package), 1) = (named.first(), named.len()) {
            let value =
                format!("{{\"packageName\":{package:?},\"version\":\"{}\"}}", operator.version);
            member.properties.push(Property::from_text("olm.package", value));
            member.packages.push((*package).to_owned());
        }
        for api in owned {
            let GroupVersionKind { group, version, kind } = api;
            let value =
                format!("{{\"group\":{group:?},\"version\":{version:?},\"kind\":{kind:?}}}");
            member.properties.push(Property::from_text("olm.gvk", value));
        }
    }
    member.is_installed = true;
    member
}

fn member(
    part: usize,
    name: String,
    version: Option<Version>,
    texts: Vec<(String, String)>,
) -> Member {
    let properties: Vec<Property> =
        texts.iter().map(|(kind, value)| Property::from_text(kind, value)).collect();
    Member {
        part,
        name,
        package: String::new(),
        version,
        packages: stated_packages(&properties).map(|[name, _]| name.to_owned()).collect(),
        apis: provided_apis(&properties).collect(),
        properties,
        texts,
        required: Vec::new(),
        is_installed: false,
    }
}
