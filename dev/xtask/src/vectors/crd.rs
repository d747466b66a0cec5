//! Upstream's checks before it replaces a CRD.
//!
//! Where the order of a Go map shows in a text, the recorded texts are compared as sets of errors.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value};
use operon_schema::{
    FindingKind, Severity, UpgradeReport, check_upgrade, installed_alongside, upstream_text,
    versions_to_list,
};

use super::{Disagreement, LineVerdict, same};

/// Checks a line of `crd.jsonl`.
pub(super) fn check(line: &serde_json::Value) -> LineVerdict {
    let vector = &Value::parse_json(line.to_string()).unwrap_or_default();
    let (Some(old), Some(new)) = (object(vector.get("old")), object(vector.get("new"))) else {
        return same("CRDs", "two objects", "something else");
    };
    let existing = match existing(vector, &old, &new) {
        Ok(existing) => existing,
        Err(reason) => return same("versions", "two CRDs that can be read", &reason),
    };
    let said = upstream_text(&old, &new, &existing);
    let report = check_upgrade(&old, &new, &existing);
    let compat = match &said.compat {
        Ok(()) => "ok".to_owned(),
        Err(text) => format!("error: {text}"),
    };
    let storage = match &said.storage {
        Ok(()) => "safe=true".to_owned(),
        Err(text) => format!("safe=false error: {text}"),
    };
    let step = match &said.step {
        Ok(status) => format!("status={status}"),
        Err(text) => format!("status=Unknown error: {text}"),
    };
    if vector.get("compat").str().starts_with("panic:") {
        check_explanation(&new, &report)?;
    } else {
        check_said(vector, "compat", &compat)?;
        if !vector.get("step").is_null() {
            check_said(vector, "step", &step)?;
            check_events(vector, &said.events)?;
        }
        let is_blocked = !report.blocking(&BTreeSet::new()).is_empty();
        if old.name() == new.name() {
            same("blocked", &said.step.is_err().to_string(), &is_blocked.to_string())?;
        }
    }
    check_said(vector, "storage", &storage)?;
    if let updated @ Value::Map(_) = vector.get("updatedMetadata") {
        let merged = installed_alongside(&new, Some(&old), "ns", "op.v1", |_, _| true);
        for name in ["annotations", "labels"] {
            let (expected, got) = (updated.get(name), merged.metadata(name));
            same(name, &expected.to_string(), &got.to_string())?;
        }
    }
    Ok(())
}

/// Upstream crashes where we explain the schema. In the old form a schema need not be given.
fn check_explanation(new: &Object, report: &UpgradeReport) -> LineVerdict {
    let is_told = report.findings.iter().any(|finding| {
        matches!(finding.kind, FindingKind::SchemaUnreadable { .. })
            && finding.severity == Severity::Blocks
    });
    let is_beta = new.api_version().ends_with("v1beta1");
    same("explained", "true", &(is_told || is_beta).to_string())
}

fn check_events(vector: &Value, said: &[String]) -> LineVerdict {
    let events = said.iter().map(|message| format!("Warning CRDValidation {message}"));
    let got: Vec<String> = events.collect();
    let expected: Vec<&str> = vector.get("events").iter_texts().collect();
    same("events", &expected.join("\n"), &got.join("\n"))
}

fn object(value: &Value) -> Option<Object> {
    Object::from_value(value.clone()).ok()
}

fn existing(
    vector: &Value,
    old: &Object,
    new: &Object,
) -> Result<BTreeMap<String, Result<Vec<Object>, String>>, String> {
    let list = |version: &str| match vector.get("listErrors").get(version).as_text() {
        Some(error) => Err(error.to_owned()),
        None => Ok(vector.get("crs").get(version).elements().iter().filter_map(object).collect()),
    };
    let versions = versions_to_list(old, new).map_err(|fault| fault.to_string())?;
    Ok(versions.into_iter().map(|version| (version.clone(), list(&version))).collect())
}

fn check_said(vector: &Value, field: &str, said: &str) -> LineVerdict {
    let variants = vector.get(&format!("{field}Variants"));
    let plain = vector.get(field).str();
    let mut texts = variants.iter_texts().chain([plain]);
    if texts.any(|expected| errors(expected) == errors(said)) {
        return Ok(());
    }
    let (expected, got) = (plain.to_owned(), said.to_owned());
    Err(Disagreement { what: field.to_owned(), expected, got })
}

/// Splits a text into its errors, sorted.
fn errors(text: &str) -> Vec<&str> {
    let text = text.strip_suffix(']').unwrap_or(text);
    let mut errors: Vec<&str> =
        text.split("too restrictive: [[]").flat_map(|part| part.split(", []")).collect();
    errors.sort_unstable();
    errors
}
