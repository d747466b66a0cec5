//! Names with wrong capitals, such as `startingCsv`: a cluster drops such a field without a word.
//!
//! Names that resemble a known one in any other way are not looked for.

use operon_document::json::{Field, Kind, Node, Shape};

use crate::diagnostic::{Fault, ManifestRule};

/// Finds members whose names differ from known ones in capitals only.
pub(crate) fn check(shape: &Shape, node: Node<'_>, path: &str, faults: &mut Vec<Fault>) {
    match shape {
        Shape::Struct(fields) => {
            for field in *fields {
                check_field(field, node, &join(path, field.name), faults);
            }
        }
        Shape::List(element) if matches!(element, Shape::Struct(_)) => {
            for (index, value) in node.elements().enumerate() {
                check(element, value, &join(path, &index.to_string()), faults);
            }
        }
        Shape::List(_)
        | Shape::Map(_)
        | Shape::Any
        | Shape::Text
        | Shape::Bool
        | Shape::Integer(_)
        | Shape::Base64 => {}
    }
}

fn check_field(field: &Field, node: Node<'_>, path: &str, faults: &mut Vec<Fault>) {
    if let Some(value) = node.get(field.name) {
        return check(field.shape, value, path, faults);
    }
    let similar = node.members().find(|(key, _)| key.folds_to(field.name));
    if let Some((key, _)) = similar {
        let written = key.as_str().unwrap_or_default();
        let message = format!("is spelt `{written}` here, so it is not read");
        let fault = Fault::new(ManifestRule::Spelling, key.span(), path, message);
        faults.push(fault.help(format!("write `{}`", field.name)));
    }
}

/// Says where a value does not have its form.
pub(crate) fn check_form(shape: &Shape, node: Node<'_>) -> Result<(), Fault> {
    shape.check(node).map_err(|mismatch| {
        let message = format!("must be {}, not {}", mismatch.expected, mismatch.found);
        let fault = Fault::new(ManifestRule::WrongType, mismatch.span, mismatch.path, message);
        if mismatch.expected == "a string" && mismatch.found != Kind::Object.name() {
            return fault
                .help("in YAML, a number, `true` or `yes` is a string only between quotes");
        }
        fault
    })
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
