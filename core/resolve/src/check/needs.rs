//! Tests the needs of an operator against everything that would run.

use operon_constraint::{
    Candidate, Constraint, GroupVersionKind, Requirement, matches, parse_property,
};

use super::member::Member;
use crate::semantics::{ConstraintReading, FailureScope, Semantics};
use crate::universe::Universe;

/// Names a need of an operator that nothing meets.
pub(super) fn unmet(
    member: &Member<'_>,
    members: &[Member<'_>],
    universe: &Universe<'_>,
    semantics: &Semantics,
) -> Option<String> {
    let is_native = |api: &GroupVersionKind| {
        semantics.count_native_apis
            && universe.native_apis.as_ref().is_some_and(|native| native.contains(api))
    };
    let provides = |other: &Member<'_>, api: &GroupVersionKind| other.apis.contains(api);
    for api in member.required {
        if !is_native(api) && !members.iter().any(|other| provides(other, api)) {
            return Some(format!("{} needs {api:?}, which nothing provides", member.name));
        }
    }
    for (kind, value) in &member.texts {
        let may_be_marked = member.is_installed && semantics.keep_deprecated;
        if kind == "olm.deprecated" && !may_be_marked {
            return Some(format!("{} is deprecated", member.name));
        }
        let constraint = match parse_property(kind, value, semantics.constraint_dialect) {
            Ok(Some(parsed)) => parsed.constraint,
            Ok(None) => continue,
            // What runs is left alone although its need cannot be read.
            Err(_) if member.is_installed && semantics.failures == FailureScope::Part => continue,
            Err(error) => return Some(format!("{} has a malformed {kind}: {error}", member.name)),
        };
        let met = match semantics.constraints {
            ConstraintReading::OneCandidate => {
                members.iter().any(|other| matches_member(&constraint, other))
            }
            ConstraintReading::WholeSet => holds(&constraint, members, &is_native),
        };
        if !met {
            return Some(format!("{} has a need that is not met: {kind} {value}", member.name));
        }
    }
    None
}

fn matches_member(constraint: &Constraint, member: &Member<'_>) -> bool {
    let owned: String;
    let package = match member.packages.last() {
        Some(package) if member.is_installed => package,
        Some(_) | None => {
            owned = member.package.clone();
            &owned
        }
    };
    let candidate = Candidate {
        name: &member.name,
        package,
        version: member.version.as_ref(),
        properties: &member.properties,
    };
    matches(constraint, &candidate)
}

/// Evaluates a constraint over the whole set, innermost parts first, without recursion.
fn holds(
    constraint: &Constraint,
    members: &[Member<'_>],
    is_native: &dyn Fn(&GroupVersionKind) -> bool,
) -> bool {
    // Every constraint is listed before its parts, so going backwards meets parts first.
    let mut listed: Vec<(&Constraint, Vec<usize>, bool)> = vec![(constraint, Vec::new(), false)];
    let mut next = 0;
    while next < listed.len() {
        let (current, negated) = (listed[next].0, listed[next].2);
        if let Some(parts) = current.requirement.parts() {
            let flips = matches!(current.requirement, Requirement::Not(_));
            for part in parts.iter() {
                let number = listed.len();
                listed[next].1.push(number);
                listed.push((part, Vec::new(), negated != flips));
            }
        }
        next += 1;
    }
    let mut values = vec![false; listed.len()];
    for (number, (constraint, parts, negated)) in listed.iter().enumerate().rev() {
        let mut part_values = parts.iter().map(|&part| values[part]);
        values[number] = match &constraint.requirement {
            Requirement::All(_) => part_values.all(|value| value),
            Requirement::Any(_) => part_values.any(|value| value),
            Requirement::Not(_) => !part_values.any(|value| value),
            // An API of the cluster itself can be relied on, but is no operator to be excluded.
            Requirement::Gvk(api) if !negated && is_native(api) => true,
            Requirement::Gvk(_)
            | Requirement::Package { .. }
            | Requirement::Label(_)
            | Requirement::Cel(_) => {
                members.iter().any(|member| matches_member(constraint, member))
            }
        };
    }
    values[0]
}
