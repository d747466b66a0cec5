//! Who provides what is required, and who requires what is provided, in one catalog.
//!
//! Only single needs are matched with single bundles. Which of several providers a resolver would
//! choose is its own business.

use std::{cmp::Reverse, collections::BTreeMap};

use operon_catalog::{Api, Bundle, BundleId, Catalog, Package, PackageId};
use operon_constraint::{
    CompileBudget, Constraint, Dialect, Requirement, StatedRequirement, requirements,
};
use operon_version::VersionRange;

use crate::{catalog::cells::counted, output::Json};

/// Limits the steps for compiling the rules of all constraints that one command looks at: one to two
/// seconds, and hundreds of times what those of the community catalog take.
const MAX_COMPILE_STEPS: u64 = 40_000_000;

/// Limits the bytes that these rules hold, as it does for a decision of the resolver.
const MAX_COMPILE_BYTES: u64 = 192 * 1024 * 1024;

/// Bundles of one package, the newest first.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) package: Package<'a>,
    pub(super) bundles: Vec<Bundle<'a>>,
}

/// What meets a need.
#[derive(Debug)]
pub(super) enum Matches<'a> {
    /// These bundles; none when the catalog cannot meet the need.
    Bundles(Vec<Group<'a>>),
    /// Nothing can, because it cannot be read.
    Malformed(String),
    /// This is not looked up one bundle at a time.
    NotAsked,
}

/// Bundles of one package that require the same things.
pub(super) struct Requirer<'a> {
    pub(super) group: Group<'a>,
    /// What they require, of all that they could.
    pub(super) needs: Vec<Requirement>,
}

impl Group<'_> {
    fn sort(&mut self) {
        self.bundles.sort_by_key(|bundle| (Reverse(bundle.version_rank()), bundle.id()));
        self.bundles.dedup_by_key(|bundle| bundle.id());
    }

    /// Returns a line such as `etcd: 3 bundles, newest etcdoperator.v0.9.4`.
    pub(super) fn sentence(&self) -> String {
        let newest = self.bundles.first().map(|bundle| bundle.name()).unwrap_or_default();
        match self.bundles.len() {
            1 => format!("{}: {newest}", self.package.name()),
            count => {
                format!("{}: {}, newest {newest}", self.package.name(), counted(count, "bundle"))
            }
        }
    }

    pub(super) fn value(&self) -> Json {
        Json::Object(vec![
            ("package", Json::text(self.package.name())),
            ("bundles", Json::texts(self.bundles.iter().map(|bundle| bundle.name()))),
        ])
    }
}

/// Groups bundles by package in the order of names; within a package the newest comes first.
pub(super) fn grouped<'a>(bundles: impl Iterator<Item = Bundle<'a>>) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<PackageId, Group<'a>> = BTreeMap::new();
    for bundle in bundles {
        let package = bundle.package();
        let group = groups.entry(package.id()).or_insert(Group { package, bundles: Vec::new() });
        group.bundles.push(bundle);
    }
    let mut groups: Vec<Group<'a>> = groups.into_values().collect();
    groups.iter_mut().for_each(Group::sort);
    groups
}

/// Allows what reading the requirements of one command may take.
pub(in crate::catalog) fn compile_budget() -> CompileBudget {
    CompileBudget::new(MAX_COMPILE_STEPS, MAX_COMPILE_BYTES)
}

/// Returns what a bundle requires: APIs, then packages, then the rest.
pub(in crate::catalog) fn requirements_of(
    bundle: Bundle<'_>,
    budget: &mut CompileBudget,
) -> Vec<StatedRequirement> {
    let properties = bundle.properties().map(|property| (property.kind, property.value));
    let mut found = requirements(properties, Dialect::Documented, budget);
    found.sort_by_key(|stated| match stated.property_type.as_str() {
        "olm.gvk.required" => 0,
        "olm.package.required" => 1,
        _ => 2,
    });
    found
}

/// Finds the bundles that meet a requirement.
pub(super) fn matches<'a>(catalog: &'a Catalog, requirement: &Requirement) -> Matches<'a> {
    Matches::Bundles(match requirement {
        Requirement::Gvk(api) => grouped(catalog.api(api).into_iter().flat_map(Api::providers)),
        Requirement::Package { name, range } => {
            let bundles = catalog.package(name).into_iter().flat_map(Package::bundles);
            grouped(bundles.filter(|bundle| is_in(*bundle, range)))
        }
        Requirement::Label(label) => {
            let ids: Vec<BundleId> = catalog.with_label(label).map(Bundle::id).collect();
            grouped(ids.into_iter().map(|id| catalog.bundle_by_id(id)))
        }
        Requirement::Cel(_) | Requirement::All(_) | Requirement::Any(_) | Requirement::Not(_) => {
            return Matches::NotAsked;
        }
    })
}

/// Finds the bundles of other packages that one of these bundles, all of one package, can serve.
pub(super) fn requirers<'a>(
    catalog: &'a Catalog,
    package: Package<'a>,
    served: &[Bundle<'a>],
) -> Vec<Requirer<'a>> {
    let mut provided: BTreeMap<(&str, &str, &str), Api<'a>> = BTreeMap::new();
    for api in served.iter().flat_map(|bundle| bundle.provided_apis()) {
        provided.insert((api.group(), api.kind(), api.version()), api);
    }
    let mut candidates: BTreeMap<BundleId, Bundle<'a>> = BTreeMap::new();
    let by_api = provided.values().flat_map(|api| api.requirers());
    let by_package = catalog.requiring_package(package.name());
    let by_constraint = catalog.with_property_type("olm.constraint");
    for bundle in by_api.chain(by_package).chain(by_constraint) {
        if bundle.package().id() != package.id() {
            candidates.insert(bundle.id(), bundle);
        }
    }
    let is_served = |need: &Requirement| match need {
        Requirement::Gvk(api) => {
            provided.contains_key(&(api.group.as_str(), api.kind.as_str(), api.version.as_str()))
        }
        Requirement::Package { name, range } => {
            name == package.name() && served.iter().any(|bundle| is_in(*bundle, range))
        }
        Requirement::Label(_)
        | Requirement::Cel(_)
        | Requirement::All(_)
        | Requirement::Any(_)
        | Requirement::Not(_) => false,
    };
    let mut budget = compile_budget();
    let mut needs_of: BTreeMap<BundleId, BTreeMap<String, Requirement>> = BTreeMap::new();
    for (id, bundle) in &candidates {
        let required = requirements_of(*bundle, &mut budget);
        let constraints = required.iter().filter_map(|stated| stated.constraint.as_ref().ok());
        let served = constraints.flat_map(Constraint::leaves);
        let needs: BTreeMap<String, Requirement> = served
            .map(|leaf| &leaf.requirement)
            .filter(|need| is_served(need))
            .map(|need| (need.heading(), need.clone()))
            .collect();
        if !needs.is_empty() {
            needs_of.insert(*id, needs);
        }
    }
    told_together(&candidates, needs_of)
}

/// Tells of bundles of one package that require the same at once.
fn told_together<'a>(
    bundles: &BTreeMap<BundleId, Bundle<'a>>,
    needs_of: BTreeMap<BundleId, BTreeMap<String, Requirement>>,
) -> Vec<Requirer<'a>> {
    let mut alike: BTreeMap<(PackageId, Vec<String>), Requirer<'a>> = BTreeMap::new();
    for (id, needs) in needs_of {
        let bundle = bundles[&id];
        let package = bundle.package();
        let requirer = || Requirer {
            group: Group { package, bundles: Vec::new() },
            needs: needs.values().cloned().collect(),
        };
        let key = (package.id(), needs.keys().cloned().collect());
        alike.entry(key).or_insert_with(requirer).group.bundles.push(bundle);
    }
    let mut requirers: Vec<Requirer<'a>> = alike.into_values().collect();
    for requirer in &mut requirers {
        requirer.group.sort();
    }
    requirers
}

fn is_in(bundle: Bundle<'_>, range: &VersionRange) -> bool {
    bundle.version().is_some_and(|version| range.contains(&version))
}
