//! CRDs that come, go and change, and what speaks against the change.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value};
use operon_schema::{Definition, Finding, FindingKind, check_upgrade, versions_to_list};

use super::{Change, ChangeKind, Topic, fields};
use crate::{
    BundleSource,
    summary::{definitions, service_version},
};

/// Compares the CRDs of two bundles.
pub(super) fn compare(before: &BundleSource, after: &BundleSource) -> Vec<Change> {
    let by_name = |source: &BundleSource| -> BTreeMap<String, Object> {
        definitions(source).map(|object| (object.name().to_owned(), object)).collect()
    };
    let (old, new) = (by_name(before), by_name(after));
    let examples = examples(before);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => changed(name, old, new, &examples),
            (Some(_), None) => {
                Some(Change::new(Topic::Definition, ChangeKind::Removed, name.as_str()).attend(
                    "OLM leaves the CRD on the cluster, but nothing looks after its objects",
                ))
            }
            (None, _) => Some(Change::new(Topic::Definition, ChangeKind::Added, name.as_str())),
        })
        .collect()
}

fn changed(name: &str, old: &Object, new: &Object, examples: &[Object]) -> Option<Change> {
    if old.spec() == new.spec() {
        return None;
    }
    let (before, after) = (versions(old), versions(new));
    let (shown_before, shown_after) =
        if before == after { (String::new(), "other fields".to_owned()) } else { (before, after) };
    let mut change = Change::changed(Topic::Definition, name, &shown_before, &shown_after);
    change.attention.extend(findings(old, new, examples));
    change.attention.extend(fields::compare(old, new));
    Some(change)
}

/// Shows the versions of a CRD: `v1 (stored), v1alpha1 (not served)`.
fn versions(object: &Object) -> String {
    let Ok(definition) = Definition::read(object) else { return "unreadable".to_owned() };
    let shown =
        definition.versions.iter().map(|version| match (version.is_storage, version.is_served) {
            (true, true) => format!("{} (stored)", version.name),
            (true, false) => format!("{} (stored, not served)", version.name),
            (false, true) => version.name.clone(),
            (false, false) => format!("{} (not served)", version.name),
        });
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns what speaks against the change, as on a cluster that holds the old bundle's examples.
fn findings(old: &Object, new: &Object, examples: &[Object]) -> Vec<String> {
    let mut old = old.clone();
    // On a cluster the old CRD has stored objects in its storage version.
    let stored = Definition::read(&old).ok();
    let stored = stored.as_ref().and_then(Definition::storage_version);
    let stored = Value::texts(stored.map(|version| version.name.clone()));
    old.set(&["status", "storedVersions"], stored);
    let definition = Definition::read(&old).ok();
    // An example that the old CRD refuses says nothing about the new one.
    let fits = |version: &str, example: &Object| {
        let schema = definition.as_ref().and_then(|definition| definition.version(version));
        let schema = schema.and_then(|version| version.read_schema().ok());
        schema.is_some_and(|schema| schema.validate(example.value()).is_empty())
    };
    let kind = definition.as_ref().map(Definition::kind);
    let listed = versions_to_list(&old, new).unwrap_or_default().into_iter().map(|version| {
        let is_listed = |example: &&Object| {
            Some(example.kind()) == kind
                && example.api_kind().version == version
                && fits(&version, example)
        };
        let objects = examples.iter().filter(is_listed).cloned().collect();
        (version, Ok(objects))
    });
    let report = check_upgrade(&old, new, &listed.collect());
    report.findings.iter().map(sentence).collect()
}

fn sentence(finding: &Finding) -> String {
    let text = finding.to_string();
    let text = text.trim_end_matches('.');
    match &finding.kind {
        FindingKind::ObjectInvalid { .. } => format!("the old bundle's example {text}"),
        FindingKind::DefinitionUnreadable { .. }
        | FindingKind::SchemaUnreadable { .. }
        | FindingKind::ListingFailed { .. }
        | FindingKind::StoredVersionRemoved { .. }
        | FindingKind::ServedVersionRemoved { .. } => text.to_owned(),
    }
}

/// Returns the examples of a bundle: objects that users of it are likely to have.
fn examples(source: &BundleSource) -> Vec<Object> {
    let csv = service_version(source);
    let annotations = csv.at(&["metadata", "annotations"]);
    let written = annotations.get("alm-examples").str();
    let list = Value::parse_json(written).unwrap_or_default();
    list.elements().iter().filter_map(|one| Object::from_value(one.clone()).ok()).collect()
}
