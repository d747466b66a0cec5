//! The annotation in which an installed operator carries the properties of its bundle.
//!
//! What a property means is not decided here: types and the JSON texts of values are passed on.

use operon_document::json::{Mismatch, Node, Shape, Tape, canonical};

use crate::metadata::field;

/// The annotation in which an installed operator carries the properties of its bundle.
pub const PROPERTIES_ANNOTATION: &str = "operatorframework.io/properties";

const SHAPE: Shape = Shape::Struct(&[field(
    "properties",
    &Shape::List(&Shape::Struct(&[field("type", &Shape::Text), field("value", &Shape::Any)])),
)]);

/// Reads the annotation: types, and values as compact JSON with sorted keys, as catalogs keep
/// them; or what is wrong.
pub(crate) fn read(annotation: &str) -> Result<Vec<(String, String)>, String> {
    let mut tape = Tape::new();
    let root = tape.read(annotation.as_bytes()).map_err(|error| {
        // Upstream: the words of Go's decoder, in the one case that is seen in practice.
        if error.is_incomplete() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        }
    })?;
    SHAPE.check(root).map_err(|mismatch| describe(&mismatch))?;
    let entries = root.field("properties").into_iter().flat_map(Node::elements);
    let property = |entry: Node<'_>| {
        let kind = entry.field("type").and_then(Node::as_str).unwrap_or_default();
        (kind.into_owned(), entry.field("value").map_or_else(String::new, canonical))
    };
    Ok(entries.map(property).collect())
}

fn describe(mismatch: &Mismatch) -> String {
    let place = if mismatch.path.is_empty() { "the value" } else { &mismatch.path };
    format!("{place} must be {}, not {}", mismatch.expected, mismatch.found)
}
