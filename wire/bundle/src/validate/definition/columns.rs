//! The columns of lists and the scale of objects, as a CRD defines them per version or once.

use operon_document::json::Node;

use super::Check;
use crate::{property::text, validate::case::at};

/// The types of columns.
const TYPES: [&str; 5] = ["integer", "number", "string", "boolean", "date"];

/// The formats of columns.
const FORMATS: [&str; 8] =
    ["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];

/// Checks the columns and the scale of every version.
pub(super) fn check(check: &mut Check<'_, '_>) {
    let Some(spec) = check.at(&["spec"]) else { return };
    check_part(check, spec, "spec");
    for (index, version) in spec.field("versions").into_iter().flat_map(Node::elements).enumerate()
    {
        check_part(check, version, &format!("spec.versions[{index}]"));
    }
}

fn check_part<'a>(check: &mut Check<'a, '_>, part: Node<'a>, path: &str) {
    let columns = part.field("additionalPrinterColumns").into_iter().flat_map(Node::elements);
    for (index, column) in columns.enumerate() {
        let path = format!("{path}.additionalPrinterColumns[{index}]");
        // The old form spells the path in capitals, which is the same to a reader of fields.
        for name in ["name", "type", "jsonPath"] {
            if text(column.field(name)).is_empty() {
                check.wrong(column, &format!("{path}.{name}"), "is missing");
            }
        }
        for (name, known) in [("type", TYPES.as_slice()), ("format", FORMATS.as_slice())] {
            let Some(node) = column.field(name) else { continue };
            let written = text(Some(node));
            if !written.is_empty() && !known.contains(&written.as_str()) {
                let reason = format!("must be one of {}, not `{written}`", known.join(", "));
                check.wrong(node, &format!("{path}.{name}"), reason);
            }
        }
    }
    let Some(scale) = at(part, &["subresources", "scale"]).filter(|scale| !scale.is_null()) else {
        return;
    };
    let written = text(scale.field("specReplicasPath"));
    let path = format!("{path}.subresources.scale.specReplicasPath");
    if written.is_empty() {
        check.wrong(scale, &path, "is missing");
    } else if !written.starts_with(".spec.") {
        let node = scale.field("specReplicasPath").unwrap_or(scale);
        check.wrong(node, &path, "must be a path below `.spec`");
    }
}
