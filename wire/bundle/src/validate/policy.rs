//! The rules of roles, as far as validators look at them.

use operon_document::json::Node;

use super::case::list;
use crate::property::text;

/// Tells whether a list of a rule holds one of these texts.
pub(super) fn names_any(rule: Node<'_>, field: &str, wanted: &[&str]) -> bool {
    list(rule, &[field]).any(|node| wanted.contains(&text(Some(node)).as_str()))
}

/// Returns the texts of a list of a rule.
pub(super) fn texts(rule: Node<'_>, field: &str) -> Vec<String> {
    list(rule, &[field]).map(|node| text(Some(node))).collect()
}
