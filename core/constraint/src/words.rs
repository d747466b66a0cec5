//! What requirements are called in sentences and in outlines.
//!
//! These are Operon's words; upstream's are in `predicate`.

use std::fmt;

use crate::api::GroupVersionKind;
use crate::constraint::{Constraint, Requirement};

/// How many parts of a compound are named before the rest is only counted.
const MAX_NAMED_PARTS: usize = 4;

/// How many levels of a compound are named; deeper ones are only counted.
const MAX_NAMED_LEVELS: usize = 3;

/// Prints `Kind.version (group)`, and `Kind.version` for an API without a group.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, version, kind } = self;
        write!(formatter, "{kind}.{version}")?;
        if group.is_empty() { Ok(()) } else { write!(formatter, " ({group})") }
    }
}

/// Names what is required as part of a sentence, such as `API Istio.v1 (install.istio.io)` or
/// `package blue <2.0.0`.
impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&sentence(self, 0))
    }
}

impl Requirement {
    /// Names the requirement in an outline, where the parts of a compound and the author's message
    /// have lines of their own: `package blue <2.0.0`, `any of`.
    pub fn heading(&self) -> String {
        match self {
            Self::Gvk(api) => format!("API {api}"),
            Self::Package { name, range } => {
                format!("package {name} {range}").trim_end().to_owned()
            }
            Self::Label(label) => format!("an operator with the label {label}"),
            Self::Cel(rule) => format!("CEL rule {}", rule.text()),
            Self::All(_) => "all of".to_owned(),
            Self::Any(_) => "any of".to_owned(),
            Self::Not(_) => "none of".to_owned(),
        }
    }
}

/// The recursion is bounded by [`MAX_NAMED_LEVELS`].
fn sentence(constraint: &Constraint, level: usize) -> String {
    let (parts, joint, before) = match &constraint.requirement {
        requirement @ (Requirement::Gvk(_)
        | Requirement::Package { .. }
        | Requirement::Label(_)) => {
            return requirement.heading();
        }
        Requirement::Cel(rule) => {
            return match constraint.failure_message.as_deref() {
                Some(message) if !message.is_empty() => {
                    format!("an operator that fulfils \"{message}\"")
                }
                Some(_) | None => format!("an operator that fulfils the rule {}", rule.text()),
            };
        }
        Requirement::All(parts) => (parts, " and ", ""),
        Requirement::Any(parts) => (parts, " or ", ""),
        Requirement::Not(parts) => (parts, " nor ", "neither "),
    };
    if parts.is_empty() || level >= MAX_NAMED_LEVELS {
        return format!("{} conditions", parts.len());
    }
    let mut named: Vec<String> =
        parts.iter().take(MAX_NAMED_PARTS).map(|part| sentence(part, level + 1)).collect();
    if parts.len() > MAX_NAMED_PARTS {
        named.push(format!("{} more", parts.len() - MAX_NAMED_PARTS));
    }
    let before = if parts.len() == 1 && !before.is_empty() { "no " } else { before };
    let text = format!("{before}{}", named.join(joint));
    if level > 0 && parts.len() > 1 { format!("({text})") } else { text }
}
