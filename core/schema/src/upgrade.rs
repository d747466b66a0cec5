//! Whether a CRD may take the place of the one on the cluster.
//!
//! Everything that speaks against it is told at once, each finding under a name by which people can
//! waive it. What is done about the findings is not decided here.

mod finding;
mod plan;
mod upstream;

use std::collections::{BTreeMap, BTreeSet};

use operon_object::Object;

use self::plan::Plan;
use crate::{Conversion, DefinitionFault, Schema, SchemaFault, definition};

pub use self::{
    finding::{Finding, FindingKind, Severity},
    upstream::{UpstreamText, upstream_text},
};

/// Everything that speaks against a change of a CRD.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpgradeReport {
    /// The findings: first what is wrong by version and object, then removed versions.
    pub findings: Vec<Finding>,
}

impl UpgradeReport {
    /// Returns the findings that forbid the change, without those that were waived by name.
    pub fn blocking(&self, waived: &BTreeSet<String>) -> Vec<&Finding> {
        let is_blocking = |finding: &&Finding| {
            finding.severity == Severity::Blocks && !waived.contains(&finding.name())
        };
        self.findings.iter().filter(is_blocking).collect()
    }
}

/// Names the versions whose objects must be listed before [`check_upgrade`] can tell anything.
pub fn versions_to_list(old: &Object, new: &Object) -> Result<Vec<String>, DefinitionFault> {
    let plan = Plan::make(old, new).map_err(|(_, fault)| fault)?;
    Ok(plan.schemas.into_keys().collect())
}

/// Tells what speaks against putting a new CRD into the place of the old one.
///
/// `existing` holds for each version the objects that a list in that version gives, or why there is
/// no list. Every version that is served before and after must be there.
pub fn check_upgrade(
    old: &Object,
    new: &Object,
    existing: &BTreeMap<String, Result<Vec<Object>, String>>,
) -> UpgradeReport {
    let plan = match Plan::make(old, new) {
        Ok(plan) => plan,
        Err((of, fault)) => {
            let kind = FindingKind::DefinitionUnreadable { of, fault };
            return UpgradeReport { findings: vec![Finding { kind, severity: Severity::Blocks }] };
        }
    };
    let mut report = UpgradeReport::default();
    // Upstream: in the old form a webhook excuses nothing.
    let invalid_object = match definition::conversion(new) {
        Conversion::Webhook if !plan.is_beta => Severity::Warns,
        Conversion::Webhook | Conversion::None => Severity::Blocks,
    };
    for (version, schema) in &plan.schemas {
        let kinds = check_version(version, schema.as_ref(), existing.get(version));
        report.findings.extend(kinds.into_iter().map(|kind| {
            let is_excusable = matches!(kind, FindingKind::ObjectInvalid { .. });
            let severity = if is_excusable { invalid_object } else { Severity::Blocks };
            Finding { kind, severity }
        }));
    }
    for version in plan.removed_stored_versions {
        let kind = FindingKind::StoredVersionRemoved { version };
        report.findings.push(Finding { kind, severity: Severity::Blocks });
    }
    for (version, is_still_listed) in plan.removed_served_versions {
        let kind = FindingKind::ServedVersionRemoved { version, is_still_listed };
        report.findings.push(Finding { kind, severity: Severity::Notes });
    }
    report
}

/// Judges the objects of one version by the new schema.
fn check_version(
    version: &str,
    schema: Option<&operon_object::Value>,
    listing: Option<&Result<Vec<Object>, String>>,
) -> Vec<FindingKind> {
    let version = version.to_owned();
    let schema = match schema {
        Some(schema) => Schema::read(schema),
        None => {
            Err(SchemaFault::new("", "is missing, but every version of a v1 CRD must have one"))
        }
    };
    let schema = match schema {
        Ok(schema) => schema,
        Err(fault) => return vec![FindingKind::SchemaUnreadable { version, fault }],
    };
    let objects = match listing {
        Some(Ok(objects)) => objects,
        Some(Err(reason)) => {
            return vec![FindingKind::ListingFailed { version, reason: reason.clone() }];
        }
        None => {
            let reason = "the objects were not listed".to_owned();
            return vec![FindingKind::ListingFailed { version, reason }];
        }
    };
    let judge = |object: &Object| {
        let errors = schema.validate(object.value());
        let (kind, key, version) = (object.api_kind(), object.key(), version.clone());
        errors.into_iter().map(move |error| FindingKind::ObjectInvalid {
            version: version.clone(),
            object: key.clone(),
            api_version: kind.version.clone(),
            error,
        })
    };
    objects.iter().flat_map(judge).collect()
}
