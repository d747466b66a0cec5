//! Whether the operators that run together meet what they require, and which of them do.
//!
//! The operators are judged as an answer is: requirements are read by `operon_constraint` and tested by
//! the checker over the whole set, as the documents describe it.

use std::collections::BTreeSet;

use operon_constraint::{Constraint, Dialect, GroupVersionKind, Requirement, StatedRequirement};

use super::member::{Member, installed_member};
use super::needs::{Evaluated, Needs};
use crate::budget::{Budget, Spent};
use crate::semantics::Semantics;
use crate::universe::{Installed, Request};

/// How the requirements of running operators are read.
const SEMANTICS: &Semantics = &Semantics::documented();

/// A running operator: what it provides and what it requires.
#[derive(Debug)]
pub struct RunningOperator {
    member: Member,
    requirements: Vec<Constraint>,
    malformed: Vec<StatedRequirement>,
}

/// Operators that run in one namespace.
#[derive(Debug)]
pub struct RunningSet<'m> {
    needs: Needs<'m>,
}

/// What meets a requirement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fulfilment {
    /// The places in the set of the operators that take part.
    pub operators: BTreeSet<usize>,
    /// The APIs that take part and that no operator of the set provides.
    pub apis: BTreeSet<GroupVersionKind>,
}

impl RunningOperator {
    /// Reads an installed operator. The Subscriptions of its namespace tell the package of an operator that
    /// does not name its own. Requirements that are stated twice count once.
    pub fn read(
        operator: &Installed,
        subscriptions: &[Request],
        budget: &mut Budget,
    ) -> Result<Self, Spent> {
        let member = installed_member(operator, 0, subscriptions);
        let mut requirements: Vec<Constraint> = Vec::new();
        let mut malformed = Vec::new();
        let mut apis: BTreeSet<GroupVersionKind> = BTreeSet::new();
        let mut texts = BTreeSet::new();
        for (kind, value) in &member.texts {
            budget.spend(1)?;
            if !texts.insert((kind, value)) {
                continue;
            }
            // What is kept is bounded by what the operator says about itself.
            let read = |budget: &mut Budget| budget.read_need(kind, value, Dialect::Documented);
            match budget.scope(read)? {
                Ok(None) => {}
                Ok(Some(parsed)) => match parsed.constraint.requirement {
                    Requirement::Gvk(ref api) if !apis.insert(api.clone()) => {}
                    _ => requirements.push(parsed.constraint),
                },
                Err(error) => malformed.push(StatedRequirement {
                    property_type: kind.clone(),
                    value: value.clone(),
                    constraint: Err(error),
                }),
            }
        }
        let derived = member.required.iter().filter(|api| apis.insert((*api).clone()));
        requirements.extend(derived.map(|api| Constraint {
            failure_message: None,
            requirement: Requirement::Gvk(api.clone()),
        }));
        Ok(Self { member, requirements, malformed })
    }

    /// Reads what an installed operator provides, and nothing of what it requires.
    pub fn without_requirements(operator: &Installed, subscriptions: &[Request]) -> Self {
        let member = installed_member(operator, 0, subscriptions);
        Self { member, requirements: Vec::new(), malformed: Vec::new() }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.member.name
    }

    /// Returns its package, where it is known.
    pub fn package(&self) -> Option<&str> {
        self.member.packages.first().map(String::as_str)
    }

    /// Returns the APIs that it provides.
    pub fn provided_apis(&self) -> &[GroupVersionKind] {
        &self.member.apis
    }

    /// Returns what it requires.
    pub fn requirements(&self) -> &[Constraint] {
        &self.requirements
    }

    /// Returns the properties that should state a requirement and cannot be read.
    pub fn malformed(&self) -> &[StatedRequirement] {
        &self.malformed
    }
}

impl<'m> RunningSet<'m> {
    /// Puts operators together.
    pub fn new(operators: impl IntoIterator<Item = &'m RunningOperator>) -> Self {
        let members = operators.into_iter().map(|operator| &operator.member).collect();
        Self { needs: Needs::new(SEMANTICS, members) }
    }

    /// Returns the requirements of an operator that the set does not meet.
    ///
    /// A requirement may rely on `apis` that come from elsewhere; no `not` is about them.
    pub fn unmet<'r>(
        &self,
        operator: &'r RunningOperator,
        apis: &BTreeSet<GroupVersionKind>,
        budget: &mut Budget,
    ) -> Result<Vec<&'r Constraint>, Spent> {
        let mut unmet = Vec::new();
        for requirement in &operator.requirements {
            if !self.needs.evaluate(requirement, Some(apis), budget)?[0].holds {
                unmet.push(requirement);
            }
        }
        Ok(unmet)
    }

    /// Returns what takes part in meeting a requirement: `None` if it is not met, and nothing where it
    /// only excludes. Of an `any`, every part that is met takes part.
    ///
    /// A requirement may rely on `apis` that come from elsewhere; no `not` is about them.
    pub fn fulfilment(
        &self,
        requirement: &Constraint,
        apis: &BTreeSet<GroupVersionKind>,
        budget: &mut Budget,
    ) -> Result<Option<Fulfilment>, Spent> {
        let evaluated = self.needs.evaluate(requirement, Some(apis), budget)?;
        if !evaluated[0].holds {
            return Ok(None);
        }
        let mut found = Fulfilment::default();
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            let Evaluated { constraint, parts, is_negated, holds } = &evaluated[number];
            // The parts that make the whole what it is.
            let is_decisive = |part: bool| match (&constraint.requirement, holds) {
                (Requirement::All(_), true)
                | (Requirement::Any(_), false)
                | (Requirement::Not(_), true) => true,
                (Requirement::All(_), false) => !part,
                (Requirement::Any(_), true) | (Requirement::Not(_), false) => part,
                (
                    Requirement::Gvk(_)
                    | Requirement::Package { .. }
                    | Requirement::Label(_)
                    | Requirement::Cel(_),
                    _,
                ) => false,
            };
            open.extend(parts.iter().filter(|&&part| is_decisive(evaluated[part].holds)));
            if constraint.requirement.parts().is_some() || *is_negated || !holds {
                continue;
            }
            let operators = self.needs.matching(constraint, budget)?;
            if let (Requirement::Gvk(api), true) = (&constraint.requirement, operators.is_empty()) {
                found.apis.insert(api.clone());
            }
            found.operators.extend(operators);
        }
        Ok(Some(found))
    }
}
