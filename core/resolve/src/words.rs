//! How needs, and things that are missing, are called in sentences for people.

use operon_constraint::{Constraint, GroupVersionKind, Requirement};

use crate::conflict::Missing;

/// How many parts of a compound are named before the rest is only counted.
const MAX_NAMED_PARTS: usize = 4;

/// How many levels of a compound are named; deeper ones are only counted.
const MAX_NAMED_LEVELS: usize = 3;

/// Names an API, as `Istio.v1 (install.istio.io)`.
pub fn api(api: &GroupVersionKind) -> String {
    if api.group.is_empty() {
        format!("{}.{}", api.kind, api.version)
    } else {
        format!("{}.{} ({})", api.kind, api.version, api.group)
    }
}

/// Names what is needed, as `API Istio.v1 (install.istio.io)` or `package blue <2.0.0`.
pub fn need(constraint: &Constraint) -> String {
    need_at(constraint, 0)
}

/// Says what is missing, as part of a sentence.
pub(crate) fn missing(missing: &Missing) -> String {
    match missing {
        Missing::Catalog { source } => format!("there is no catalog {source} here"),
        // Why it cannot be read is told once, about the catalog.
        Missing::Unavailable { source, .. } => format!("the catalog {source} cannot be read"),
        Missing::Package { package } => {
            format!("its catalog has no package {package}")
        }
        Missing::Channel { package, channel } => {
            format!("the package {package} has no channel {channel}")
        }
        Missing::Allowed { because, .. } => because.clone(),
        Missing::Start { channel, starting_csv, .. } => {
            format!("the channel {channel} has no bundle {starting_csv}")
        }
    }
}

/// The recursion is bounded by [`MAX_NAMED_LEVELS`].
fn need_at(constraint: &Constraint, level: usize) -> String {
    let (parts, joint, before) = match &constraint.requirement {
        Requirement::Gvk(name) => return format!("API {}", api(name)),
        Requirement::Package { name, range } => return format!("package {name} {range}"),
        Requirement::Label(label) => return format!("an operator with the label {label}"),
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
        parts.iter().take(MAX_NAMED_PARTS).map(|part| need_at(part, level + 1)).collect();
    if parts.len() > MAX_NAMED_PARTS {
        named.push(format!("{} more", parts.len() - MAX_NAMED_PARTS));
    }
    let before = if parts.len() == 1 && !before.is_empty() { "no " } else { before };
    let text = format!("{before}{}", named.join(joint));
    if level > 0 && parts.len() > 1 { format!("({text})") } else { text }
}
