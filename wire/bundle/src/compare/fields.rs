//! The fields of CRDs that change so that objects or programs of users may break.
//!
//! New optional fields are no reason to look, and are not told.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value};
use operon_schema::Definition;

/// Limits the fields of one schema that are compared; the largest real schemas have about thirty
/// thousand.
pub const MAX_COMPARED_FIELDS: usize = 200_000;

/// What is compared of a field.
#[derive(Debug, Default, PartialEq, Eq)]
struct Field {
    type_name: String,
    is_required: bool,
    allowed: BTreeSet<String>,
}

/// Compares the fields of each version that both CRDs have.
pub(super) fn compare(old: &Object, new: &Object) -> Vec<String> {
    let (Ok(old), Ok(new)) = (Definition::read(old), Definition::read(new)) else {
        return Vec::new();
    };
    let mut reasons = Vec::new();
    for version in &new.versions {
        let Some(earlier) = old.version(&version.name) else { continue };
        let (Some(before), Some(after)) = (&earlier.schema, &version.schema) else { continue };
        compare_schemas(&version.name, &flatten(before), &flatten(after), &mut reasons);
    }
    reasons
}

fn compare_schemas(
    version: &str,
    before: &BTreeMap<String, Field>,
    after: &BTreeMap<String, Field>,
    reasons: &mut Vec<String>,
) {
    for (path, old) in before {
        let parent = parent(path);
        match after.get(path) {
            // Of a whole part that went, one sentence is enough.
            None if parent.is_empty() || after.contains_key(parent) => {
                reasons.push(format!("{version}: the field `{path}` is gone"));
            }
            None => {}
            Some(new) => {
                if old.type_name != new.type_name {
                    reasons.push(format!(
                        "{version}: `{path}` is now of type {}, not {}",
                        or_any(&new.type_name),
                        or_any(&old.type_name)
                    ));
                }
                if new.is_required && !old.is_required {
                    reasons.push(format!("{version}: `{path}` must now be given"));
                }
                let forbidden: Vec<&str> =
                    old.allowed.difference(&new.allowed).map(String::as_str).collect();
                if !new.allowed.is_empty() && old.allowed.is_empty() {
                    reasons.push(format!("{version}: `{path}` now allows certain values only"));
                } else if !new.allowed.is_empty() && !forbidden.is_empty() {
                    let forbidden = forbidden.join(", ");
                    reasons.push(format!("{version}: `{path}` no longer allows {forbidden}"));
                }
            }
        }
    }
    for (path, new) in after {
        let parent = parent(path);
        let is_reachable = parent.is_empty() || before.contains_key(parent);
        if new.is_required && !before.contains_key(path) && is_reachable {
            reasons.push(format!("{version}: the new field `{path}` must be given"));
        }
    }
}

/// Returns the field that a field lies in: `spec.rules` for `spec.rules[].host`.
fn parent(path: &str) -> &str {
    let above = path.rsplit_once('.').map_or("", |(above, _)| above);
    above.trim_end_matches(['[', ']', '{', '}'])
}

fn or_any(type_name: &str) -> &str {
    if type_name.is_empty() { "any" } else { type_name }
}

/// Returns every field of a schema by its path, such as `spec.rules[].host`.
fn flatten(schema: &Value) -> BTreeMap<String, Field> {
    let mut fields = BTreeMap::new();
    let mut waiting: Vec<(String, &Value)> = vec![(String::new(), schema)];
    while let Some((path, schema)) = waiting.pop() {
        if fields.len() >= MAX_COMPARED_FIELDS {
            break;
        }
        let required: BTreeSet<&str> = schema.get("required").iter_texts().collect();
        for (name, inner) in schema.get("properties").entries() {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            // What every object has says nothing about this kind.
            if matches!(path.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let allowed = inner.get("enum").elements().iter().map(operon_object::go_json);
            fields.insert(
                path.clone(),
                Field {
                    type_name: inner.get("type").str().to_owned(),
                    is_required: required.contains(name),
                    allowed: allowed.collect(),
                },
            );
            waiting.push((path, inner));
        }
        for (part, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
            let inner = schema.get(part);
            if inner.as_map().is_some() {
                waiting.push((format!("{path}{mark}"), inner));
            }
        }
    }
    fields
}
