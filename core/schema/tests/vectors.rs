//! OLM's own answers: recorded runs of its checks before it replaces a CRD.
//!
//! Where the order of a Go map shows in a text, the recorded texts are compared as sets of errors.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
};

use operon_object::{Object, Value};
use operon_schema::{
    FindingKind, Severity, check_upgrade, installed_alongside, upstream_text, versions_to_list,
};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/crd.jsonl");

#[test]
fn crd_changes_are_judged_as_upstream_judges_them() {
    let text = match fs::read_to_string(VECTORS) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            println!("left out: {VECTORS} is not present");
            return;
        }
        Err(error) => panic!("{VECTORS}: {error}"),
    };
    let mut lines = 0;
    for line in text.lines() {
        let vector = Value::parse_json(line).expect("a line is JSON");
        let id = vector.get("id").str();
        println!("{id}");
        check(&vector);
        lines += 1;
    }
    assert!(lines >= 100, "only {lines} lines");
}

fn check(vector: &Value) {
    let (old, new) = (object(vector.get("old")), object(vector.get("new")));
    let existing = existing(vector, &old, &new);
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
        // Upstream crashes; here the schema is explained. In the old form it need not be given.
        let is_beta = new.api_version().ends_with("v1beta1");
        let is_told = report.findings.iter().any(|finding| {
            matches!(finding.kind, FindingKind::SchemaUnreadable { .. })
                && finding.severity == Severity::Blocks
        });
        assert!(is_told || is_beta);
        assert_eq!(compat == "ok", !is_told);
    } else {
        assert_said(vector, "compat", &compat);
        if !vector.get("step").is_null() {
            assert_said(vector, "step", &step);
            let events: Vec<String> = (said.events.iter())
                .map(|message| format!("Warning CRDValidation {message}"))
                .collect();
            let expected: Vec<&str> = vector.get("events").iter_texts().collect();
            assert_eq!(events, expected);
        }
        let is_blocked = !report.blocking(&BTreeSet::new()).is_empty();
        let is_other = old.name() != new.name();
        assert!(is_other || is_blocked == said.step.is_err());
    }
    assert_said(vector, "storage", &storage);
    assert_waivable(&report);
    if let updated @ Value::Map(_) = vector.get("updatedMetadata") {
        let merged = installed_alongside(&new, Some(&old), "ns", "op.v1", |_, _| true);
        assert_eq!(merged.metadata("annotations"), updated.get("annotations"));
        assert_eq!(merged.metadata("labels"), updated.get("labels"));
    }
}

/// Every finding has a name and a sentence, and naming all of them leaves nothing that blocks.
fn assert_waivable(report: &operon_schema::UpgradeReport) {
    let names: BTreeSet<String> = report.findings.iter().map(|finding| finding.name()).collect();
    assert!(report.blocking(&names).is_empty());
    for finding in &report.findings {
        assert!(finding.name().contains(':'));
        assert!(finding.to_string().ends_with('.'), "{finding}");
    }
}

fn object(value: &Value) -> Object {
    Object::from_value(value.clone()).expect("an object")
}

fn existing(
    vector: &Value,
    old: &Object,
    new: &Object,
) -> BTreeMap<String, Result<Vec<Object>, String>> {
    let list = |version: &String| match vector.get("listErrors").get(version).as_text() {
        Some(error) => Err(error.to_owned()),
        None => Ok(vector.get("crs").get(version).elements().iter().map(object).collect()),
    };
    let versions = versions_to_list(old, new).expect("both CRDs can be read");
    versions.into_iter().map(|version| (version.clone(), list(&version))).collect()
}

fn assert_said(vector: &Value, field: &str, said: &str) {
    let variants = vector.get(&format!("{field}Variants"));
    let mut expected: BTreeSet<Vec<&str>> = variants.iter_texts().map(errors).collect();
    expected.insert(errors(vector.get(field).str()));
    assert!(expected.contains(&errors(said)), "{field}: {said}\nexpected: {expected:#?}");
}

/// Splits a text into its errors, sorted.
fn errors(text: &str) -> Vec<&str> {
    let text = text.strip_suffix(']').unwrap_or(text);
    let mut errors: Vec<&str> =
        text.split("too restrictive: [[]").flat_map(|part| part.split(", []")).collect();
    errors.sort_unstable();
    errors
}
