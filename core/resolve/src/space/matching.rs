//! Which bundles of a catalog match a constraint, and in which order they are preferred.
//!
//! Indexes answer for what they can; only rules and compounds look at the properties of bundles,
//! and of as few of them as possible.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use operon_catalog::{Bundle, BundleId, Catalog, ChannelId, EntryId, Package};
use operon_constraint::{
    Candidate, Constraint, PropertiesDigest, Property, Requirement, WantedProperty, matches_with,
};

use super::SourceIndex;
use crate::budget::{Budget, Spent};

/// How much of the bytes of a decision the texts of properties may have that are kept read; read, they take a
/// few times as much. The community catalog without bodies has less than fits. Of a larger one, some are read
/// again.
const SHARE_OF_TEXTS: u64 = 16;

/// How much of the bytes of a decision is set aside for properties that are kept read.
pub(super) const SHARE_OF_PROPERTIES: u64 = 4;

/// Properties of the bundles of all catalogs, read once.
#[derive(Debug, Default)]
pub(super) struct PropertyMemo {
    by_bundle: HashMap<(SourceIndex, BundleId), Remembered>,
    bytes: u64,
}

/// The properties of a bundle.
#[derive(Debug)]
struct Remembered {
    digest: PropertiesDigest,
    bytes: u64,
    /// Read when they are needed: an answer that is kept needs the digest alone.
    properties: OnceCell<Vec<Property>>,
}

impl Remembered {
    fn properties(&self, bundle: Bundle<'_>) -> &[Property] {
        self.properties.get_or_init(|| {
            let properties = bundle.properties();
            properties.map(|property| Property::from_text(property.kind, property.value)).collect()
        })
    }
}

impl PropertyMemo {
    fn of(
        &mut self,
        source: SourceIndex,
        bundle: Bundle<'_>,
        budget: &mut Budget,
    ) -> Result<&Remembered, Spent> {
        if self.bytes > budget.limits().bytes / SHARE_OF_TEXTS {
            self.by_bundle.clear();
            self.bytes = 0;
        }
        let remembered = self.by_bundle.entry((source, bundle.id())).or_insert_with(|| {
            let properties = bundle.properties().map(|property| (property.kind, property.value));
            let lengths = properties.clone().map(|(kind, value)| (kind.len() + value.len()) as u64);
            let bytes = lengths.sum();
            self.bytes += bytes;
            Remembered { digest: budget.digest(properties), bytes, properties: OnceCell::new() }
        });
        // Charged each time, so that it does not matter what is kept.
        budget.spend(1 + remembered.bytes / 64)?;
        Ok(remembered)
    }
}

/// Returns the bundles that match a constraint, in order.
pub(super) fn matching_bundles(
    source: SourceIndex,
    catalog: &Catalog,
    constraint: &Constraint,
    memo: &mut PropertyMemo,
    budget: &mut Budget,
) -> Result<Vec<BundleId>, Spent> {
    if let Some(bundles) = indexed(catalog, &constraint.requirement, budget)? {
        return Ok(bundles);
    }
    let candidates = match candidates(catalog, &constraint.requirement, budget)? {
        Some(bundles) => bundles,
        None => catalog.bundles().map(Bundle::id).collect(),
    };
    let mut matching = Vec::new();
    for id in candidates {
        let bundle = catalog.bundle_by_id(id);
        let remembered = memo.of(source, bundle, budget)?;
        let is_match = match &constraint.requirement {
            Requirement::Cel(rule) => budget.evaluate(rule, remembered.digest, || {
                Cow::Borrowed(remembered.properties(bundle))
            })?,
            _ => {
                let version = bundle.version();
                let candidate = Candidate {
                    name: bundle.name(),
                    package: bundle.package().name(),
                    version: version.as_ref(),
                    properties: remembered.properties(bundle),
                };
                budget.spend(candidate.properties.len() as u64)?;
                matches_with(constraint, &candidate, |rule| {
                    budget.evaluate(rule, remembered.digest, || Cow::Borrowed(candidate.properties))
                })?
            }
        };
        if is_match {
            matching.push(id);
        }
    }
    Ok(matching)
}

/// Returns bundles among which all matches are, if there is a quick way to know.
fn candidates(
    catalog: &Catalog,
    requirement: &Requirement,
    budget: &mut Budget,
) -> Result<Option<Vec<BundleId>>, Spent> {
    match requirement {
        Requirement::All(parts) => {
            let mut fewest: Option<Vec<BundleId>> = None;
            for part in parts.iter() {
                let found = superset(catalog, &part.requirement, budget)?;
                if let Some(found) = found
                    && fewest.as_ref().is_none_or(|fewest| found.len() < fewest.len())
                {
                    fewest = Some(found);
                }
            }
            Ok(fewest)
        }
        Requirement::Any(parts) => {
            let mut all = Vec::new();
            for part in parts.iter() {
                match superset(catalog, &part.requirement, budget)? {
                    Some(found) => all.extend(found),
                    None => return Ok(None),
                }
            }
            Ok(Some(sorted(all)))
        }
        Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)
        | Requirement::Cel(_)
        | Requirement::Not(_) => superset(catalog, requirement, budget),
    }
}

/// Answers from the catalog's indexes, if they can answer.
fn indexed(
    catalog: &Catalog,
    requirement: &Requirement,
    budget: &mut Budget,
) -> Result<Option<Vec<BundleId>>, Spent> {
    let bundles: Vec<BundleId> = match requirement {
        Requirement::Gvk(api) => {
            let api = catalog.api(api);
            api.into_iter().flat_map(|api| api.providers().map(Bundle::id)).collect()
        }
        Requirement::Package { name, range } => {
            let bundles = catalog.package(name).into_iter().flat_map(Package::bundles);
            let intervals = 1 + range.intervals().len() as u64 / 8;
            budget.spend(bundles.clone().count() as u64 * intervals)?;
            bundles
                .filter(|bundle| bundle.version().is_some_and(|version| range.contains(&version)))
                .map(Bundle::id)
                .collect()
        }
        Requirement::Label(label) => catalog.with_label(label).map(Bundle::id).collect(),
        Requirement::Cel(_) | Requirement::All(_) | Requirement::Any(_) | Requirement::Not(_) => {
            return Ok(None);
        }
    };
    budget.spend(bundles.len() as u64)?;
    Ok(Some(sorted(bundles)))
}

/// Returns bundles among which all matches are, if there is a quick way to know.
fn superset(
    catalog: &Catalog,
    requirement: &Requirement,
    budget: &mut Budget,
) -> Result<Option<Vec<BundleId>>, Spent> {
    match requirement {
        Requirement::Cel(rule) => {
            let Some(wanted) = rule.program().wanted_property() else { return Ok(None) };
            let found = having(catalog, &wanted);
            budget.spend(found.len() as u64 + u64::from(catalog.counts().apis) / 4)?;
            Ok(Some(sorted(found)))
        }
        Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)
        | Requirement::All(_)
        | Requirement::Any(_)
        | Requirement::Not(_) => indexed(catalog, requirement, budget),
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
    budget: &mut Budget,
) -> Result<Vec<(EntryId, BundleId)>, Spent> {
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
        let order = catalog.channel_by_id(channel).order();
        budget.spend(1 + order.len() as u64)?;
        for entry in order {
            if let Some(bundle) = entry.bundle()
                && bundles.binary_search(&bundle.id()).is_ok()
            {
                entries.push((entry.id(), bundle.id()));
            }
        }
    }
    Ok(entries)
}

/// How many channels are looked back at to avoid listing one again.
const NEAR_CHANNELS: usize = 8;
