//! How the cells of built-in kinds are made: the small ones here, a file for each larger kind.
//!
//! Each rule shows what `kubectl get` shows, as far as the object says it; what other objects would
//! add is left out.

pub(super) mod binding;
pub(super) mod deployment;
pub(super) mod event;
pub(super) mod job;
pub(super) mod pod;
pub(super) mod service;

use operon_object::{Object, Timestamp, Value};

/// What is shown for nothing.
const NONE: &str = "<none>";

pub(super) fn phase(object: &Object, _: Timestamp) -> String {
    object.status().get("phase").str().to_owned()
}

pub(super) fn secret_count(object: &Object, _: Timestamp) -> String {
    object.at(&["secrets"]).elements().len().to_string()
}

/// Upstream: a Secret that says no type is an `Opaque` one.
pub(super) fn secret_type(object: &Object, _: Timestamp) -> String {
    match object.at(&["type"]).str() {
        "" => "Opaque".to_owned(),
        other => other.to_owned(),
    }
}

/// Counts the entries of a ConfigMap or a Secret.
pub(super) fn data_count(object: &Object, _: Timestamp) -> String {
    let fields = ["data", "binaryData"].map(|field| object.at(&[field]).entries().count());
    fields.iter().sum::<usize>().to_string()
}

pub(super) fn webhook_count(object: &Object, _: Timestamp) -> String {
    object.at(&["webhooks"]).elements().len().to_string()
}

pub(super) fn created_at(object: &Object, _: Timestamp) -> String {
    object.created().map_or_else(|| "<unknown>".to_owned(), |time| time.to_string())
}

/// Shows a count that is left out when it is 0.
fn count(value: &Value) -> String {
    value.as_integer().unwrap_or(0).to_string()
}

/// Joins texts with commas; `<none>` for nothing.
fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| text.as_ref().to_owned()).collect();
    if texts.is_empty() { NONE.to_owned() } else { texts.join(",") }
}

/// Shows labels as `app=etcd,tier=back`.
fn labels(value: &Value) -> String {
    joined(value.entries().map(|(name, value)| format!("{name}={}", value.str())))
}
