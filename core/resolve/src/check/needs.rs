//! Tests the needs of an operator against everything that would run.

use std::collections::{BTreeMap, BTreeSet};

use operon_constraint::{Candidate, Constraint, GroupVersionKind, Requirement, matches_with};

use super::member::Member;
use crate::budget::{Budget, Spent};
use crate::resolution::Expense;
use crate::semantics::{ConstraintReading, FailureScope, Semantics};
use crate::universe::Universe;

/// Everything that would run, by what needs ask for.
pub(super) struct Needs<'m> {
    universe: &'m Universe<'m>,
    semantics: &'m Semantics,
    pub(super) members: &'m [Member<'m>],
    apis: BTreeSet<&'m GroupVersionKind>,
    by_package: BTreeMap<&'m str, Vec<usize>>,
    budget: &'m mut Budget,
}

impl<'m> Needs<'m> {
    pub(super) fn new(
        universe: &'m Universe<'m>,
        semantics: &'m Semantics,
        members: &'m [Member<'m>],
        budget: &'m mut Budget,
    ) -> Self {
        let apis = members.iter().flat_map(|member| &member.apis).collect();
        let mut by_package: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, member) in members.iter().enumerate() {
            for package in member.packages.iter().chain([&member.package]) {
                by_package.entry(package).or_default().push(place);
            }
        }
        Self { universe, semantics, members, apis, by_package, budget }
    }

    /// Describes an operator whose needs are too expensive to test.
    pub(super) fn expense(&self, member: &Member<'_>, spent: Spent) -> Expense {
        let limit = self.budget.limits().of(spent);
        Expense { bundle: member.name.clone(), need: String::new(), spent, limit }
    }

    /// Names a need of an operator that nothing meets.
    pub(super) fn unmet(&mut self, member: &Member<'_>) -> Result<Option<String>, Spent> {
        self.budget.spend(1)?;
        for api in member.required {
            if !self.is_native(api) && !self.apis.contains(api) {
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
            self.budget.spend(1)?;
            // It is dropped before the next one is read.
            let read = |budget: &mut Budget| budget.read_need(kind, value, constraint_dialect);
            let constraint = match self.budget.scope(read)? {
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
                ConstraintReading::OneCandidate => self.has_match(&constraint)?,
                ConstraintReading::WholeSet => self.holds(&constraint)?,
            };
            if !met {
                let name = &member.name;
                return Ok(Some(format!("{name} has a need that is not met: {kind} {value}")));
            }
        }
        Ok(None)
    }

    fn is_native(&self, api: &GroupVersionKind) -> bool {
        let native = self.universe.native_apis.as_ref();
        self.semantics.count_native_apis && native.is_some_and(|native| native.contains(api))
    }

    /// Returns `true` if one operator matches a constraint.
    fn has_match(&mut self, constraint: &Constraint) -> Result<bool, Spent> {
        let members = self.members;
        match &constraint.requirement {
            Requirement::Gvk(api) => {
                self.budget.spend(1)?;
                Ok(self.apis.contains(api))
            }
            Requirement::Package { name, .. } => {
                let places = self.by_package.get(name.as_str()).cloned().unwrap_or_default();
                let mut candidates = places.into_iter().map(|place| &members[place]);
                self.any(constraint, &mut candidates)
            }
            Requirement::Label(_)
            | Requirement::Cel(_)
            | Requirement::All(_)
            | Requirement::Any(_)
            | Requirement::Not(_) => self.any(constraint, &mut members.iter()),
        }
    }

    fn any<'c>(
        &mut self,
        constraint: &Constraint,
        candidates: &mut dyn Iterator<Item = &'c Member<'m>>,
    ) -> Result<bool, Spent>
    where
        'm: 'c,
    {
        for member in candidates {
            if matches_member(constraint, member, self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates a constraint over the whole set, innermost parts first, without recursion.
    fn holds(&mut self, constraint: &Constraint) -> Result<bool, Spent> {
        // Every constraint is listed before its parts, so going backwards meets parts first.
        let mut listed: Vec<(&Constraint, Vec<usize>, bool)> =
            vec![(constraint, Vec::new(), false)];
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
                Requirement::Gvk(api) if !negated && self.is_native(api) => true,
                Requirement::Gvk(_)
                | Requirement::Package { .. }
                | Requirement::Label(_)
                | Requirement::Cel(_) => self.has_match(constraint)?,
            };
        }
        Ok(values[0])
    }
}

fn matches_member(
    constraint: &Constraint,
    member: &Member<'_>,
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
