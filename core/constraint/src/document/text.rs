//! Prints a document as upstream's `json.Marshal` does, letter for letter.
//!
//! Requirements are not printed here: their texts are in `predicate`.

use std::fmt::Write;

use operon_object::{Value, go_json};

use super::{CompoundKind, ConstraintDocument, WrittenConstraint};

/// Prints the document.
pub(super) fn to_upstream_json(document: &ConstraintDocument) -> String {
    let mut text = String::new();
    let mut waiting = vec![Piece::Constraint(0)];
    while let Some(piece) = waiting.pop() {
        let pieces = match piece {
            Piece::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Piece::Constraint(position) => {
                push_constraint(&mut text, position, &document.constraints[position])
            }
            Piece::Compound(position, kind) => {
                push_compound(&mut text, kind, &document.constraints[position])
            }
        };
        waiting.extend(pieces.into_iter().rev());
    }
    text
}

enum Piece {
    Text(&'static str),
    Constraint(usize),
    Compound(usize, CompoundKind),
}

/// Prints the flat fields and returns what comes after them.
fn push_constraint(text: &mut String, position: usize, written: &WrittenConstraint) -> Vec<Piece> {
    let mut flat = Vec::new();
    if !written.failure_message.is_empty() {
        flat.push(field("failureMessage", &written.failure_message));
    }
    if let Some(rule) = &written.cel {
        flat.push(format!("\"cel\":{{{}}}", field("rule", rule)));
    }
    if let Some(package) = &written.package {
        let name = field("packageName", &package.name);
        let range = field("versionRange", &package.range);
        flat.push(format!("\"package\":{{{name},{range}}}"));
    }
    if let Some(api) = &written.gvk {
        let group = field("group", &api.group);
        let kind = field("kind", &api.kind);
        let version = field("version", &api.version);
        flat.push(format!("\"gvk\":{{{group},{kind},{version}}}"));
    }
    text.push('{');
    text.push_str(&flat.join(","));
    let mut first = flat.is_empty();
    let mut pieces = Vec::new();
    for kind in CompoundKind::ALL {
        if written.compound(kind).is_some() {
            if !first {
                pieces.push(Piece::Text(","));
            }
            first = false;
            pieces.push(Piece::Compound(position, kind));
        }
    }
    pieces.push(Piece::Text("}"));
    pieces
}

fn push_compound(text: &mut String, kind: CompoundKind, written: &WrittenConstraint) -> Vec<Piece> {
    // Writing to a string cannot fail.
    let _ = write!(text, "\"{}\":{{\"constraints\":", kind.key());
    let Some(compound) = written.compound(kind).filter(|found| found.length.is_some()) else {
        return vec![Piece::Text("null}")];
    };
    let mut pieces = vec![Piece::Text("[")];
    for (index, part) in compound.parts().iter().enumerate() {
        if index > 0 {
            pieces.push(Piece::Text(","));
        }
        pieces.push(Piece::Constraint(*part));
    }
    pieces.push(Piece::Text("]}"));
    pieces
}

fn field(key: &str, value: &str) -> String {
    format!("\"{key}\":{}", go_json(&Value::text(value)))
}
