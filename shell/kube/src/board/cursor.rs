//! Points in what happened, as those who follow carry them.
//!
//! A cursor names the connection that gave it, and a number for each interest; a further interest is
//! joined with its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use operon_driver::{Cursor, Depth, Interest, Part};

/// The entry that names the connection.
const CONNECTION: &str = "connection";

/// Writes a point for some interests.
pub(super) fn write(connection: &str, interests: &BTreeSet<Interest>, point: u64) -> Cursor {
    let point = point.to_string();
    let mut entries: BTreeMap<String, String> =
        interests.iter().map(|interest| (entry_name(interest), point.clone())).collect();
    entries.insert(CONNECTION.to_owned(), connection.to_owned());
    Cursor(entries)
}

/// Reads the point of an interest from a cursor that a connection gave.
pub(super) fn read(connection: &str, interest: &Interest, cursor: &Cursor) -> Option<u64> {
    let giver = cursor.0.get(CONNECTION)?;
    let point = cursor.0.get(&entry_name(interest))?;
    (giver == connection).then(|| point.parse().ok())?
}

/// Writes an interest as an entry of a cursor, and for people.
pub(super) fn entry_name(interest: &Interest) -> String {
    let mut text = interest.kind.to_string();
    let _ = match &interest.part {
        Part::All => Ok(()),
        Part::Labelled { namespace, label, value } if namespace.is_empty() => {
            write!(text, " with {label}={value}")
        }
        Part::Labelled { namespace, label, value } => {
            write!(text, " in {namespace} with {label}={value}")
        }
        Part::Within { namespace } => write!(text, " in {namespace}"),
        Part::Named { namespace, name } => write!(text, " {namespace}/{name}"),
    };
    if interest.depth == Depth::Metadata {
        text.push_str(" (metadata)");
    }
    text
}
