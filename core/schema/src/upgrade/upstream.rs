//! What OLM says about a change of a CRD, letter for letter.
//!
//! OLM tells one problem where the report tells all. Of several that it would find in random order
//! the first by name is told; where it crashes, our own explanation stands.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, quote};

use super::{Finding, FindingKind, Severity, check_upgrade, finding::path};

/// The texts of OLM's checks and of its step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamText {
    /// Whether the existing objects fit the new schemas.
    pub compat: Result<(), String>,
    /// Whether all versions in storage stay known.
    pub storage: Result<(), String>,
    /// The status of the step, or why it failed.
    pub step: Result<&'static str, String>,
    /// The messages of the warnings (reason `CRDValidation`) that are recorded.
    pub events: Vec<String>,
}

/// Returns what OLM says when a new CRD shall take the place of the old one.
pub fn upstream_text(
    old: &Object,
    new: &Object,
    existing: &BTreeMap<String, Result<Vec<Object>, String>>,
) -> UpstreamText {
    let report = check_upgrade(old, new, existing);
    let findings = &report.findings;
    let compat = compat(findings);
    let storage = storage(findings);
    let name = quote(new.name());
    let mut events = Vec::new();
    let step = if old.name() != new.name() {
        // Another name is another CRD: nothing is replaced.
        Ok("WaitingForApi")
    } else {
        let is_excused = findings.first().is_some_and(|first| first.severity == Severity::Warns);
        let validated = match &compat {
            Err(text) if is_excused => {
                events.push(warning(&name, text));
                Ok(())
            }
            Err(text) => Err(format!(
                "error validating existing CRs against new CRD's schema for {name}: {text}"
            )),
            Ok(()) => Ok(()),
        };
        validated
            .and_then(|()| {
                storage.clone().map_err(|text| format!("risk of data loss updating {name}: {text}"))
            })
            .map(|()| "Present")
    };
    UpstreamText { compat, storage, step, events }
}

/// Tells the first problem with existing objects.
fn compat(findings: &[Finding]) -> Result<(), String> {
    let Some(first) = findings.first() else { return Ok(()) };
    match &first.kind {
        FindingKind::ListingFailed { reason, .. } => Err(reason.clone()),
        FindingKind::SchemaUnreadable { version, fault } => {
            Err(format!("error creating validator for schema version {version}: {fault}"))
        }
        FindingKind::DefinitionUnreadable { fault, .. } => Err(fault.to_string()),
        FindingKind::ObjectInvalid { version, object, api_version, .. } => {
            let errors = findings.iter().filter_map(|finding| {
                let FindingKind::ObjectInvalid { version: in_version, object: of, error, .. } =
                    &finding.kind
                else {
                    return None;
                };
                (in_version == version && of == object).then_some(error)
            });
            let mut told = BTreeSet::new();
            let texts = errors
                .map(|error| match error.field.as_str() {
                    // Upstream: the object itself is called `[]`.
                    "" => format!("[]: {}", error.body()),
                    field => format!("[].{field}: {}", error.body()),
                })
                .filter(|text| told.insert(text.clone()))
                .collect::<Vec<_>>();
            let list = match texts.as_slice() {
                [single] => single.clone(),
                several => format!("[{}]", several.join(", ")),
            };
            let kind =
                format!("{}/{api_version}, Kind={}", object.kind.group(), object.kind.name());
            let object = quote(&path(object));
            Err(format!(
                "error validating {kind} {object}: updated validation is too restrictive: {list}"
            ))
        }
        FindingKind::StoredVersionRemoved { .. } | FindingKind::ServedVersionRemoved { .. } => {
            Ok(())
        }
    }
}

fn storage(findings: &[Finding]) -> Result<(), String> {
    let removed = findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::StoredVersionRemoved { version } => Some(version),
        FindingKind::DefinitionUnreadable { .. }
        | FindingKind::SchemaUnreadable { .. }
        | FindingKind::ListingFailed { .. }
        | FindingKind::ObjectInvalid { .. }
        | FindingKind::ServedVersionRemoved { .. } => None,
    });
    match removed {
        Some(version) => Err(format!(
            "new CRD removes version {version} that is listed as a stored version on the existing CRD"
        )),
        None => Ok(()),
    }
}

fn warning(name: &str, text: &str) -> String {
    format!(
        "Validation of existing CRs against the new CRD's schema failed, but a webhook conversion \
         strategy was specified in the new CRD.\nThe new webhook will only start after the bundle is \
         upgraded, so we must assume that it will successfully convert existing CRs to a format that \
         would have passed validation.\n\nCRD: {name}\nValidation Error: {text}\n"
    )
}
