//! The filters that all lists share, answered from the catalog's indexes.
//!
//! Filters of one kind that are given twice: packages and channels widen the choice, everything else
//! narrows it. A filter that meets nothing is no error; only a name that is misspelt is.

use std::collections::BTreeSet;

use clap::Args;
use operon_catalog::{Api, Bundle, BundleId, Catalog, Package, nearest};
use operon_constraint::{Constraint, Requirement};

use super::api_pattern::ApiPattern;
use crate::catalog::{
    find::find_package,
    show::relation::{compile_budget, requirements_of},
};

/// Which packages a list is about.
#[derive(Debug, Args)]
pub(super) struct PackageFilter {
    /// Only this package; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(super) package: Vec<String>,
}

/// What the bundles of a list have to provide, require or carry.
#[derive(Debug, Args)]
pub(super) struct BundleFilters {
    /// Only what provides this API; may be repeated
    #[arg(long, value_name = "KIND[.VERSION][.GROUP]")]
    provides: Vec<ApiPattern>,
    /// Only what requires this API, or this package; may be repeated
    #[arg(long, value_name = "KIND[.VERSION][.GROUP]|PACKAGE")]
    requires: Vec<String>,
    /// Only what has a property of this type; may be repeated
    #[arg(long, value_name = "TYPE")]
    property: Vec<String>,
    /// Only what has this olm.label; may be repeated
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
}

/// The bundles that meet every filter.
pub(super) struct Selection {
    /// `None` when nothing was asked for, so that everything is meant.
    chosen: Option<BTreeSet<BundleId>>,
}

impl PackageFilter {
    /// Returns the packages meant, in the order of their names.
    pub(super) fn packages<'a>(&self, catalog: &'a Catalog) -> anyhow::Result<Vec<Package<'a>>> {
        if self.package.is_empty() {
            return Ok(catalog.packages().collect());
        }
        let found: anyhow::Result<Vec<Package<'a>>> =
            self.package.iter().map(|name| find_package(catalog, name)).collect();
        let mut packages = found?;
        packages.sort_by_key(|package| package.id());
        packages.dedup_by_key(|package| package.id());
        Ok(packages)
    }
}

impl Selection {
    /// Tells whether the bundle meets every filter.
    pub(super) fn contains(&self, bundle: Bundle<'_>) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&bundle.id()))
    }

    /// Tells whether one of these bundles meets every filter, or there is no filter.
    pub(super) fn contains_any<'a>(&self, mut bundles: impl Iterator<Item = Bundle<'a>>) -> bool {
        self.chosen.is_none() || bundles.any(|bundle| self.contains(bundle))
    }

    /// Tells whether nothing was asked for.
    pub(super) fn is_everything(&self) -> bool {
        self.chosen.is_none()
    }
}

impl BundleFilters {
    /// Asks the indexes for the bundles that meet every filter.
    pub(super) fn select(&self, catalog: &Catalog) -> Selection {
        let mut sets: Vec<BTreeSet<BundleId>> = Vec::new();
        for pattern in &self.provides {
            sets.push(ids(pattern.find(catalog).into_iter().flat_map(Api::providers)));
        }
        for wanted in &self.requires {
            sets.push(requiring(catalog, wanted));
        }
        for kind in &self.property {
            sets.push(with_property(catalog, kind));
        }
        for label in &self.label {
            sets.push(ids(catalog.with_label(label)));
        }
        let narrow = |left: BTreeSet<BundleId>, right| left.intersection(&right).copied().collect();
        Selection { chosen: sets.into_iter().reduce(narrow) }
    }

    /// Returns what may explain an empty answer.
    pub(super) fn hints(&self, catalog: &Catalog) -> Vec<String> {
        let mut hints = Vec::new();
        for pattern in self.provides.iter().filter(|pattern| pattern.find(catalog).is_empty()) {
            let kind = pattern.kind();
            hints.push(match nearest(kind, catalog.apis().map(Api::kind)) {
                Some(near) if near != kind => {
                    format!("no bundle names the API `{kind}`; did you mean `{near}`?")
                }
                Some(_) => format!("the API `{kind}` exists here in other versions or groups only"),
                None => format!("no bundle names the API `{kind}`"),
            });
        }
        if self.property.iter().any(|kind| with_property(catalog, kind).is_empty()) {
            let known = catalog.property_types().collect::<Vec<_>>().join("`, `");
            hints.push(format!("the property types of this catalog are `{known}`"));
        }
        hints
    }
}

/// Tells whether the text contains the part asked for, in any case; everything does when none is.
pub(super) fn has_part(text: &str, part: Option<&str>) -> bool {
    part.is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
}

fn ids<'a>(bundles: impl Iterator<Item = Bundle<'a>>) -> BTreeSet<BundleId> {
    bundles.map(Bundle::id).collect()
}

/// What requires something says so in a property of its own or inside of a constraint.
fn requiring(catalog: &Catalog, wanted: &str) -> BTreeSet<BundleId> {
    let mut found = ids(catalog.requiring_package(wanted));
    let pattern: Option<ApiPattern> = wanted.parse().ok();
    if let Some(pattern) = &pattern {
        found.extend(ids(pattern.find(catalog).into_iter().flat_map(Api::requirers)));
    }
    let is_wanted = |need: &Constraint| match &need.requirement {
        Requirement::Gvk(api) => pattern
            .as_ref()
            .is_some_and(|pattern| pattern.names(&api.group, &api.version, &api.kind)),
        Requirement::Package { name, .. } => name == wanted,
        Requirement::Label(_)
        | Requirement::Cel(_)
        | Requirement::All(_)
        | Requirement::Any(_)
        | Requirement::Not(_) => false,
    };
    let mut budget = compile_budget();
    found.extend(ids(catalog.with_property_type("olm.constraint").filter(|bundle| {
        let required = requirements_of(*bundle, &mut budget);
        let constraints = required.iter().filter_map(|stated| stated.constraint.as_ref().ok());
        constraints.flat_map(Constraint::leaves).any(is_wanted)
    })));
    found
}

/// Bodies are not indexed as properties, but counted.
fn with_property(catalog: &Catalog, kind: &str) -> BTreeSet<BundleId> {
    match kind {
        "olm.bundle.object" => ids(catalog.bundles().filter(|bundle| bundle.object_count() > 0)),
        "olm.csv.metadata" => ids(catalog.bundles().filter(|bundle| bundle.metadata_count() > 0)),
        kind => ids(catalog.with_property_type(kind)),
    }
}
