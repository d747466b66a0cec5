//! What is written into a Secret as text is kept as base64, and never shown again.
//!
//! Types of Secrets and the keys that they need are not checked.

use operon_object::{Object, encode_base64, known};

/// The field that can only be written.
const TEXTS: &str = "stringData";

/// Moves the texts of a Secret to its data, where they count before what was there. What is no text stays,
/// to be refused.
pub(crate) fn keep_texts(object: &mut Object) {
    if object.kind() != known::SECRET {
        return;
    }
    let texts: Vec<(String, String)> = object
        .at(&[TEXTS])
        .entries()
        .filter_map(|(name, value)| {
            Some((name.to_owned(), encode_base64(value.as_text()?.as_bytes())))
        })
        .collect();
    for (name, encoded) in texts {
        object.set(&["data", &name], encoded);
        object.value_mut().remove(&[TEXTS, &name]);
    }
    if object.at(&[TEXTS]).is_empty() {
        object.value_mut().remove(&[TEXTS]);
    }
}

/// Returns what is wrong with the texts of a Secret: whatever could not be moved.
pub(crate) fn faults(object: &Object) -> Vec<String> {
    let left = object.at(&[TEXTS]);
    if object.kind() != known::SECRET || left.is_null() {
        return Vec::new();
    }
    let names: Vec<String> = left.entries().map(|(name, _)| format!("{TEXTS}.{name}")).collect();
    let names = if names.is_empty() { vec![TEXTS.to_owned()] } else { names };
    names.into_iter().map(|name| format!("{name}: Invalid value: must be a string")).collect()
}
