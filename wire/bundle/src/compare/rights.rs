//! Rights that an operator gains and loses.
//!
//! A right counts as gained only if no rule of the old bundle covered it: `get pods` is nothing new
//! to who had `*`.

use operon_install::PolicyRule;

use super::{Change, ChangeKind, Side, Topic};
use crate::{
    Right, RightScope,
    summary::{granted_rules, service_version},
};

/// Limits the comparisons of rights with rules. Real bundles need a few hundred thousand; the limit
/// keeps bundles made to multiply from taking minutes.
const MAX_COMPARISONS: usize = 50_000_000;

/// Compares the rights of two bundles.
pub(super) fn compare(before: Side<'_>, after: Side<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for (kind, holder, other) in
        [(ChangeKind::Added, after, before), (ChangeKind::Removed, before, after)]
    {
        let rules = rules(other);
        if holder.1.rights.len().saturating_mul(rules.len()) > MAX_COMPARISONS {
            let change = Change::new(Topic::Right, kind, "all rights");
            changes.push(change.attend("there are too many rights to compare"));
            continue;
        }
        for right in &holder.1.rights {
            changes.extend(difference(kind, right, &rules));
        }
    }
    changes
}

fn rules((source, _): Side<'_>) -> Vec<(RightScope, PolicyRule)> {
    let granted = granted_rules(source, &service_version(source));
    granted.iter().map(|one| (one.scope, PolicyRule::read(&one.rule))).collect()
}

/// Returns the verbs of a right that no rule covers.
fn difference(
    kind: ChangeKind,
    right: &Right,
    rules: &[(RightScope, PolicyRule)],
) -> Option<Change> {
    let covers = |verb: &str| {
        rules.iter().any(|(scope, rule)| {
            let reaches = *scope == RightScope::Cluster || *scope == right.scope;
            reaches && rule.covers(&right.group, &right.resource, &right.names, verb)
        })
    };
    let verbs: Vec<String> = right.verbs.iter().filter(|verb| !covers(verb)).cloned().collect();
    if verbs.is_empty() {
        return None;
    }
    let uncovered = Right { verbs: verbs.into_iter().collect(), ..right.clone() };
    let mut change = Change::new(Topic::Right, kind, subject(&uncovered));
    if let (ChangeKind::Added, Some(danger)) = (kind, uncovered.danger()) {
        change = change.attend(danger);
    }
    Some(change)
}

/// Writes a right on one line.
fn subject(right: &Right) -> String {
    let scope = match right.scope {
        RightScope::Cluster => "cluster",
        RightScope::Namespaces => "namespaces",
    };
    let verbs: Vec<&str> = right.verbs.iter().map(String::as_str).collect();
    let dot = if right.group.is_empty() { "" } else { "." };
    let names = match right.names.as_slice() {
        [] => String::new(),
        names => format!(" named {}", names.join(", ")),
    };
    format!("{scope}: {} {}{dot}{}{names}", verbs.join(","), right.resource, right.group)
}
