//! The texts by which upstream names requirements in messages.
//!
//! Upstream: `not` joins its parts with ` and not `, so the first part reads as if it were wanted;
//! and only `cel` shows the author's message.

use crate::constraint::{Constraint, Requirement};
use operon_object::quote;

/// Returns upstream's text of a requirement, as `with package: etcd and with version in range: >1`.
pub fn upstream_predicate_text(constraint: &Constraint) -> String {
    let mut text = String::new();
    let mut waiting = vec![Piece::Constraint(constraint)];
    while let Some(piece) = waiting.pop() {
        match piece {
            Piece::Joint(joint) => text.push_str(joint),
            Piece::Constraint(constraint) => push_text(&mut text, constraint, &mut waiting),
        }
    }
    text
}

enum Piece<'a> {
    Joint(&'static str),
    Constraint(&'a Constraint),
}

fn push_text<'a>(text: &mut String, constraint: &'a Constraint, waiting: &mut Vec<Piece<'a>>) {
    let (joint, parts) = match &constraint.requirement {
        Requirement::Gvk(api) => {
            let (group, version, kind) = (&api.group, &api.version, &api.kind);
            text.push_str(&format!(
                "providing an API with group: {group}, version: {version}, kind: {kind}"
            ));
            return;
        }
        Requirement::Package { name, range } => {
            text.push_str(&format!("with package: {name} and with version in range: {range}"));
            return;
        }
        Requirement::Cel(rule) => {
            let rule = quote(rule.text());
            let message = quote(constraint.failure_message.as_deref().unwrap_or(""));
            text.push_str(&format!("with constraint: {rule} and message: {message}"));
            return;
        }
        Requirement::Label(label) => {
            text.push_str(&format!("with label: {label}"));
            return;
        }
        Requirement::All(parts) => (" and ", parts),
        Requirement::Any(parts) => (" or ", parts),
        Requirement::Not(parts) => (" and not ", parts),
    };
    for (index, part) in parts.iter().enumerate().rev() {
        waiting.push(Piece::Constraint(part));
        if index > 0 {
            waiting.push(Piece::Joint(joint));
        }
    }
}
