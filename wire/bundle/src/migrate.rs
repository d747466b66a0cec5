//! Migrating a catalog document: inlined manifests make way for `olm.csv.metadata`.
//!
//! The documents of a catalog are taken one at a time; which files they are in is not known here.

use std::{collections::BTreeMap, error::Error, fmt};

use operon_document::{
    decode_base64,
    json::{Mismatch, Node, Tape, canonical},
    stream::{self, Event},
};

use crate::{
    Property,
    json::{ObjectWriter, list, print_manifest},
    property::{text, types},
    render::csv_metadata,
};

/// Why a document cannot be migrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrateError {
    /// The document is not JSON.
    Syntax(String),
    /// The data of an inlined manifest is not base64, or holds neither JSON nor YAML.
    ObjectUnreadable {
        /// The position of the property in the list, from zero.
        property: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A field of the inlined ClusterServiceVersion has the wrong type.
    WrongType {
        /// The fields that lead to it, joined by dots.
        path: String,
        /// What should be there, such as "a string".
        expected: &'static str,
        /// What is there, such as "number".
        found: String,
    },
}

/// Replaces the inlined manifests of an `olm.bundle` document by one `olm.csv.metadata`.
///
/// Returns the new document, or nothing if there is nothing to do: for a document of another
/// schema, for a bundle without an image or without an inlined ClusterServiceVersion, and for one
/// that has an `olm.csv.metadata` already.
pub fn migrate_document(json: &str) -> Result<Option<String>, MigrateError> {
    let mut tape = Tape::new();
    let root =
        tape.read(json.as_bytes()).map_err(|error| MigrateError::Syntax(error.to_string()))?;
    if text(root.field("schema")) != "olm.bundle" || text(root.field("image")).is_empty() {
        return Ok(None);
    }
    let properties: Vec<Node<'_>> =
        root.field("properties").into_iter().flat_map(Node::elements).collect();
    if properties.iter().any(|property| text(property.field("type")) == types::CSV_METADATA) {
        return Ok(None);
    }
    let Some(csv) = inlined_service_version(root)? else {
        return Ok(None);
    };
    let mut csv_tape = Tape::new();
    let csv = csv_tape.read(csv.as_bytes()).expect("bug: a manifest is printed as JSON");
    let metadata = Property::canonical(types::CSV_METADATA, csv_metadata(csv)?);
    let kept = properties
        .into_iter()
        .filter(|property| text(property.field("type")) != types::BUNDLE_OBJECT)
        .map(canonical);
    let properties = list(kept.chain([metadata.json()]));
    Ok(Some(with_properties(root, &properties)))
}

/// Returns the first inlined manifest of a bundle document that is a ClusterServiceVersion.
pub(crate) fn inlined_service_version(root: Node<'_>) -> Result<Option<String>, MigrateError> {
    let properties = root.field("properties").into_iter().flat_map(Node::elements);
    for (index, property) in properties.enumerate() {
        if text(property.field("type")) != types::BUNDLE_OBJECT {
            continue;
        }
        let data = text(property.field("value").and_then(|value| value.field("data")));
        let unreadable = |reason| MigrateError::ObjectUnreadable { property: index, reason };
        let manifest =
            decode_base64(data.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
        let mut found = None;
        let mut fault = None;
        stream::read(&manifest, &mut Tape::new(), &mut |event| match event {
            Event::Document(document) => {
                if text(document.root.get("kind")) == "ClusterServiceVersion" {
                    found.get_or_insert_with(|| print_manifest(document.root));
                }
            }
            Event::Broken(broken) => fault = fault.take().or(Some(broken.message)),
            Event::Ignored(_) => {}
        });
        if let Some(reason) = fault {
            return Err(unreadable(reason));
        }
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns a document with its properties exchanged.
fn with_properties(root: Node<'_>, properties: &str) -> String {
    let members: BTreeMap<_, _> = root
        .members()
        .map(|(key, value)| (key.as_str().unwrap_or_default(), (key, value)))
        .collect();
    let mut writer = ObjectWriter::new();
    for (name, (key, value)) in members {
        if key.folds_to("properties") {
            writer.member(&name, properties);
        } else {
            writer.member(&name, &canonical(value));
        }
    }
    writer.finish()
}

impl From<Mismatch> for MigrateError {
    fn from(mismatch: Mismatch) -> Self {
        Self::WrongType { path: mismatch.path, expected: mismatch.expected, found: mismatch.found }
    }
}

impl fmt::Display for MigrateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(reason) => write!(formatter, "the document is not JSON: {reason}"),
            Self::ObjectUnreadable { property, reason } => {
                write!(
                    formatter,
                    "the manifest inlined as property {property} cannot be read: {reason}"
                )
            }
            Self::WrongType { path, expected, found } => write!(
                formatter,
                "`{path}` of the inlined ClusterServiceVersion must be {expected}, not {found}"
            ),
        }
    }
}

impl Error for MigrateError {}
