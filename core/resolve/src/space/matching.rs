//! Which bundles of a catalog match a constraint, and in which order they are preferred.
//!
//! Indexes answer for what they can; only rules and compounds look at the properties of bundles,
//! and of as few of them as possible.

use std::collections::HashMap;

use operon_catalog::{Bundle, BundleId, Catalog, ChannelId, EntryId, Package};
use operon_constraint::{Candidate, Constraint, Property, Requirement, WantedProperty, matches};

/// Properties of bundles, read once.
#[derive(Debug, Default)]
pub(super) struct PropertyMemo {
    by_bundle: HashMap<BundleId, Vec<Property>>,
}

impl PropertyMemo {
    fn of(&mut self, bundle: Bundle<'_>) -> &[Property] {
        self.by_bundle.entry(bundle.id()).or_insert_with(|| {
            bundle
                .properties()
                .map(|property| Property::from_text(property.kind, property.value))
                .collect()
        })
    }
}

/// Returns the bundles that match a constraint, in order.
pub(super) fn matching_bundles(
    catalog: &Catalog,
    constraint: &Constraint,
    memo: &mut PropertyMemo,
) -> Vec<BundleId> {
    if let Some(bundles) = indexed(catalog, &constraint.requirement) {
        return bundles;
    }
    let superset = match &constraint.requirement {
        Requirement::All(parts) => parts
            .iter()
            .filter_map(|part| superset(catalog, &part.requirement))
            .min_by_key(Vec::len),
        Requirement::Any(parts) => {
            let parts: Option<Vec<Vec<BundleId>>> =
                parts.iter().map(|part| superset(catalog, &part.requirement)).collect();
            parts.map(|parts| sorted(parts.into_iter().flatten().collect()))
        }
        Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)
        | Requirement::Cel(_)
        | Requirement::Not(_) => superset(catalog, &constraint.requirement),
    };
    let mut fits = |bundle: Bundle<'_>| {
        let version = bundle.version();
        let candidate = Candidate {
            name: bundle.name(),
            package: bundle.package().name(),
            version: version.as_ref(),
            properties: memo.of(bundle),
        };
        matches(constraint, &candidate)
    };
    match superset {
        Some(bundles) => {
            bundles.into_iter().filter(|&bundle| fits(catalog.bundle_by_id(bundle))).collect()
        }
        None => catalog.bundles().filter(|&bundle| fits(bundle)).map(Bundle::id).collect(),
    }
}

/// Answers from the catalog's indexes, if they can answer.
fn indexed(catalog: &Catalog, requirement: &Requirement) -> Option<Vec<BundleId>> {
    let bundles = match requirement {
        Requirement::Gvk(api) => {
            let api = catalog.api(api);
            api.into_iter().flat_map(|api| api.providers().map(Bundle::id)).collect()
        }
        Requirement::Package { name, range } => {
            let bundles = catalog.package(name).into_iter().flat_map(Package::bundles);
            bundles
                .filter(|bundle| bundle.version().is_some_and(|version| range.contains(&version)))
                .map(Bundle::id)
                .collect()
        }
        Requirement::Label(label) => catalog.with_label(label).map(Bundle::id).collect(),
        Requirement::Cel(_) | Requirement::All(_) | Requirement::Any(_) | Requirement::Not(_) => {
            return None;
        }
    };
    Some(sorted(bundles))
}

/// Returns bundles among which all matches are, if there is a quick way to know.
fn superset(catalog: &Catalog, requirement: &Requirement) -> Option<Vec<BundleId>> {
    match requirement {
        Requirement::Cel(rule) => {
            let wanted = rule.program().wanted_property()?;
            Some(sorted(having(catalog, &wanted)))
        }
        Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)
        | Requirement::All(_)
        | Requirement::Any(_)
        | Requirement::Not(_) => indexed(catalog, requirement),
    }
}

/// Returns all bundles that may have a property, and as few others as the indexes allow.
fn having(catalog: &Catalog, wanted: &WantedProperty) -> Vec<BundleId> {
    let field = |name: &str| {
        wanted.fields.iter().find(|(field, _)| field == name).map(|(_, text)| text.as_str())
    };
    match wanted.property_type.as_str() {
        "olm.package" if let Some(name) = field("packageName") => {
            catalog.package(name).into_iter().flat_map(Package::bundles).map(Bundle::id).collect()
        }
        "olm.gvk" if let Some(kind) = field("kind") => catalog
            .apis()
            .filter(|api| api.kind() == kind)
            .flat_map(|api| api.providers().map(Bundle::id))
            .collect(),
        "olm.label" if let Some(label) = field("label") => {
            catalog.with_label(label).map(Bundle::id).collect()
        }
        kind => catalog.with_property_type(kind).map(Bundle::id).collect(),
    }
}

fn sorted(mut bundles: Vec<BundleId>) -> Vec<BundleId> {
    bundles.sort_unstable();
    bundles.dedup();
    bundles
}

/// Returns the channel entries of bundles in order of preference: default channels first, then by
/// package and channel, from the head of each channel down. Skipped entries are left out.
pub(super) fn preferred_entries(
    catalog: &Catalog,
    bundles: &[BundleId],
) -> Vec<(EntryId, BundleId)> {
    let mut channels: Vec<(bool, ChannelId)> = Vec::new();
    for &bundle in bundles {
        for entry in catalog.bundle_by_id(bundle).entries() {
            let id = entry.channel().id();
            // Bundles of one package come one after the other, so most repetitions are near.
            if !channels.iter().rev().take(NEAR_CHANNELS).any(|(_, seen)| *seen == id) {
                channels.push((!entry.channel().is_default(), id));
            }
        }
    }
    channels.sort_unstable();
    channels.dedup();
    let mut entries = Vec::new();
    for (_, channel) in channels {
        for entry in catalog.channel_by_id(channel).order() {
            if let Some(bundle) = entry.bundle()
                && bundles.binary_search(&bundle.id()).is_ok()
            {
                entries.push((entry.id(), bundle.id()));
            }
        }
    }
    entries
}

/// How many channels are looked back at to avoid listing one again.
const NEAR_CHANNELS: usize = 8;
