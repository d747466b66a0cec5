//! Tests the needs of an operator against everything that would run.

use std::collections::{BTreeMap, BTreeSet};

use operon_constraint::{Candidate, Constraint, GroupVersionKind, Requirement, matches_with};

use super::member::Member;
use crate::budget::{Budget, Spent};
use crate::resolution::Expense;
use crate::semantics::{ConstraintReading, FailureScope, Semantics};
use crate::universe::Universe;

/// Everything that would run, by what needs ask for.
#[derive(Debug)]
pub(super) struct Needs<'m> {
    pub(super) semantics: &'m Semantics,
    pub(super) members: Vec<&'m Member>,
    apis: BTreeSet<&'m GroupVersionKind>,
    by_package: BTreeMap<&'m str, Vec<usize>>,
}

/// A constraint, or a part of one, and whether the set fulfils it.
#[derive(Debug)]
pub(super) struct Evaluated<'c> {
    pub(super) constraint: &'c Constraint,
    /// The places of its parts, which all come later.
    pub(super) parts: Vec<usize>,
    /// Whether it stands below an odd number of `not`.
    pub(super) is_negated: bool,
    pub(super) holds: bool,
}

/// Returns the APIs of the cluster itself, where they count.
pub(super) fn native_apis<'u>(
    universe: &'u Universe<'_>,
    semantics: &Semantics,
) -> Option<&'u BTreeSet<GroupVersionKind>> {
    universe.native_apis.as_ref().filter(|_| semantics.count_native_apis)
}

/// Describes an operator whose needs are too expensive to test.
pub(super) fn expense(member: &Member, spent: Spent, budget: &Budget) -> Expense {
    let limit = budget.limits().of(spent);
    Expense { bundle: member.name.clone(), need: String::new(), spent, limit }
}

impl<'m> Needs<'m> {
    pub(super) fn new(semantics: &'m Semantics, members: Vec<&'m Member>) -> Self {
        let apis = members.iter().flat_map(|member| &member.apis).collect();
        let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, member) in members.iter().enumerate() {
            for package in member.packages.iter().chain([&member.package]) {
                by_package.entry(package).or_default().push(place);
            }
        }
        Self { semantics, members, apis, by_package }
    }

    /// Names a need of an operator that neither the members nor `native` APIs meet.
    pub(super) fn unmet(
        &self,
        member: &Member,
        native: Option<&BTreeSet<GroupVersionKind>>,
        budget: &mut Budget,
    ) -> Result<Option<String>, Spent> {
        budget.spend(1)?;
        for api in &member.required {
            if !contains(native, api) && !self.apis.contains(api) {
                let complaint = format!("{} needs {api:?}, which nothing provides", member.name);
                return Ok(Some(complaint));
            }
        }
        let Semantics { keep_deprecated, constraint_dialect, failures, .. } = *self.semantics;
        for (kind, value) in &member.texts {
            let may_be_marked = member.is_installed && keep_deprecated;
            if kind == "olm.deprecated" && !may_be_marked {
                return Ok(Some(format!("{} is deprecated", member.name)));
            }
            budget.spend(1)?;
            // It is dropped before the next one is read.
            let read = |budget: &mut Budget| budget.read_need(kind, value, constraint_dialect);
            let constraint = match budget.scope(read)? {
                Ok(Some(parsed)) => parsed.constraint,
                Ok(None) => continue,
                // What runs is left alone although its need cannot be read.
                Err(_) if member.is_installed && failures == FailureScope::Part => continue,
                Err(error) => {
                    let complaint = format!("{} has a malformed {kind}: {error}", member.name);
                    return Ok(Some(complaint));
                }
            };
            let met = match self.semantics.constraints {
                ConstraintReading::OneCandidate => self.has_match(&constraint, budget)?,
                ConstraintReading::WholeSet => self.holds(&constraint, native, budget)?,
            };
            if !met {
                let name = &member.name;
                return Ok(Some(format!("{name} has a need that is not met: {kind} {value}")));
            }
        }
        Ok(None)
    }

    /// Returns `true` if one operator matches a constraint.
    fn has_match(&self, constraint: &Constraint, budget: &mut Budget) -> Result<bool, Spent> {
        if let Requirement::Gvk(api) = &constraint.requirement {
            budget.spend(1)?;
            return Ok(self.apis.contains(api));
        }
        for place in self.candidates(constraint) {
            if matches_member(constraint, self.members[place], budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the places of the operators that match a constraint.
    pub(super) fn matching(
        &self,
        constraint: &Constraint,
        budget: &mut Budget,
    ) -> Result<Vec<usize>, Spent> {
        let mut found = Vec::new();
        for place in self.candidates(constraint) {
            if matches_member(constraint, self.members[place], budget)? {
                found.push(place);
            }
        }
        Ok(found)
    }

    /// Returns the places of the operators that may match a constraint.
    fn candidates(&self, constraint: &Constraint) -> Vec<usize> {
        match &constraint.requirement {
            Requirement::Package { name, .. } => {
                self.by_package.get(name.as_str()).cloned().unwrap_or_default()
            }
            Requirement::Gvk(_)
            | Requirement::Label(_)
            | Requirement::Cel(_)
            | Requirement::All(_)
            | Requirement::Any(_)
            | Requirement::Not(_) => (0..self.members.len()).collect(),
        }
    }

    fn holds(
        &self,
        constraint: &Constraint,
        native: Option<&BTreeSet<GroupVersionKind>>,
        budget: &mut Budget,
    ) -> Result<bool, Spent> {
        Ok(self.evaluate(constraint, native, budget)?.first().is_some_and(|whole| whole.holds))
    }

    /// Evaluates a constraint over the whole set, innermost parts first, without recursion; the whole
    /// comes first in the result.
    pub(super) fn evaluate<'c>(
        &self,
        constraint: &'c Constraint,
        native: Option<&BTreeSet<GroupVersionKind>>,
        budget: &mut Budget,
    ) -> Result<Vec<Evaluated<'c>>, Spent> {
        let new = |constraint, is_negated| Evaluated {
            constraint,
            parts: Vec::new(),
            is_negated,
            holds: false,
        };
        // Every constraint is listed before its parts, so going backwards meets parts first.
        let mut listed = vec![new(constraint, false)];
        let mut next = 0;
        while next < listed.len() {
            let (current, is_negated) = (listed[next].constraint, listed[next].is_negated);
            if let Some(parts) = current.requirement.parts() {
                let flips = matches!(current.requirement, Requirement::Not(_));
                for part in parts.iter() {
                    let number = listed.len();
                    listed[next].parts.push(number);
                    listed.push(new(part, is_negated != flips));
                }
            }
            next += 1;
        }
        for number in (0..listed.len()).rev() {
            let Evaluated { constraint, parts, is_negated, .. } = &listed[number];
            let mut part_values = parts.iter().map(|&part| listed[part].holds);
            listed[number].holds = match &constraint.requirement {
                Requirement::All(_) => part_values.all(|value| value),
                Requirement::Any(_) => part_values.any(|value| value),
                Requirement::Not(_) => !part_values.any(|value| value),
                // An API of the cluster itself can be relied on, but is no operator to be excluded.
                Requirement::Gvk(api) if !is_negated && contains(native, api) => true,
                Requirement::Gvk(_)
                | Requirement::Package { .. }
                | Requirement::Label(_)
                | Requirement::Cel(_) => self.has_match(constraint, budget)?,
            };
        }
        Ok(listed)
    }
}

fn contains(native: Option<&BTreeSet<GroupVersionKind>>, api: &GroupVersionKind) -> bool {
    native.is_some_and(|native| native.contains(api))
}

fn matches_member(
    constraint: &Constraint,
    member: &Member,
    budget: &mut Budget,
) -> Result<bool, Spent> {
    let package = match member.packages.last() {
        Some(package) if member.is_installed => package,
        Some(_) | None => &member.package,
    };
    let candidate = Candidate {
        name: &member.name,
        package,
        version: member.version.as_ref(),
        properties: &member.properties,
    };
    budget.spend(1 + member.properties.len() as u64)?;
    // The answer rests on answers of rules that were kept, so here they are found again.
    matches_with(constraint, &candidate, |rule| budget.evaluate_again(rule, candidate.properties))
}
