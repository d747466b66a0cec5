//! What operators need, as formulas over requirements without parts.
//!
//! A constraint is turned into a tree of conjunctions and disjunctions whose leaves are
//! requirements that one operator can meet, or that no operator may meet. Which operators these are
//! is found elsewhere.

use operon_constraint::{Constraint, Requirement};

use crate::semantics::ConstraintReading;

/// The number of a formula in [`Space::formulas`](super::Space::formulas).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FormulaId(pub u32);

impl FormulaId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A need, or a part of one.
#[derive(Debug)]
pub(crate) struct Formula {
    /// What it says, for people.
    pub(crate) constraint: Constraint,
    /// The author's words about it or about what it is part of.
    pub(crate) message: Option<String>,
    pub(crate) shape: Shape,
}

/// How a need is met.
#[derive(Debug)]
pub(crate) enum Shape {
    /// One operator matches the constraint.
    Some,
    /// No operator matches the constraint.
    None,
    /// Every part is met.
    All(Vec<FormulaId>),
    /// One part is met.
    Any(Vec<FormulaId>),
}

/// Adds a constraint's formula, the whole of it first, and returns its number.
pub(super) fn add(
    formulas: &mut Vec<Formula>,
    constraint: &Constraint,
    reading: ConstraintReading,
) -> FormulaId {
    let root = push(formulas, constraint, None);
    if reading == ConstraintReading::OneCandidate {
        return root;
    }
    let mut open = vec![(root, constraint.clone(), false)];
    while let Some((id, constraint, negated)) = open.pop() {
        let conjunction = match (&constraint.requirement, negated) {
            (Requirement::All(_), false)
            | (Requirement::Any(_), true)
            | (Requirement::Not(_), false) => true,
            (Requirement::All(_), true)
            | (Requirement::Any(_), false)
            | (Requirement::Not(_), true) => false,
            (
                Requirement::Gvk(_)
                | Requirement::Package { .. }
                | Requirement::Cel(_)
                | Requirement::Label(_),
                _,
            ) => {
                formulas[id.index()].shape = if negated { Shape::None } else { Shape::Some };
                continue;
            }
        };
        let negated = negated != matches!(constraint.requirement, Requirement::Not(_));
        let message = formulas[id.index()].message.clone();
        let parts = constraint.requirement.parts().cloned().unwrap_or_default();
        let mut ids = Vec::with_capacity(parts.len());
        for part in parts.iter() {
            let part_id = push(formulas, part, message.as_ref());
            ids.push(part_id);
            open.push((part_id, part.clone(), negated));
        }
        formulas[id.index()].shape = if conjunction { Shape::All(ids) } else { Shape::Any(ids) };
    }
    root
}

fn push(
    formulas: &mut Vec<Formula>,
    constraint: &Constraint,
    inherited: Option<&String>,
) -> FormulaId {
    let id = FormulaId(formulas.len() as u32);
    let own = constraint.failure_message.as_ref().filter(|message| !message.is_empty());
    formulas.push(Formula {
        constraint: constraint.clone(),
        message: own.or(inherited).cloned(),
        shape: Shape::Some,
    });
    id
}
