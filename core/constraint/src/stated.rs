//! Everything that the properties of an operator or a bundle require.

use std::fmt;

use crate::cel::CompileBudget;
use crate::constraint::{Constraint, Requirement};
use crate::dialect::Dialect;
use crate::error::ConstraintError;
use crate::parse::parse_property_within;

/// How much of a value that cannot be read is repeated: enough to recognize it.
const MAX_REPEATED_CHARACTERS: usize = 200;

/// A property that states a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedRequirement {
    /// The type of the property, such as `olm.constraint`.
    pub property_type: String,
    /// The JSON text of its value.
    pub value: String,
    /// The requirement, or why the value states none.
    pub constraint: Result<Constraint, ConstraintError>,
}

/// Returns what properties require, in their order. Properties are types and JSON texts of values; those
/// that state no requirement are left out, those that cannot be read are not. When the budget is exhausted,
/// constraints with rules cannot be read.
pub fn requirements<'p>(
    properties: impl IntoIterator<Item = (&'p str, &'p str)>,
    dialect: Dialect,
    budget: &mut CompileBudget,
) -> Vec<StatedRequirement> {
    let stated = |(property_type, value): (&str, &str)| {
        let constraint = match parse_property_within(property_type, value, dialect, budget) {
            Ok(parsed) => Ok(parsed?.constraint),
            Err(error) => Err(error),
        };
        Some(StatedRequirement {
            property_type: property_type.to_owned(),
            value: value.to_owned(),
            constraint,
        })
    };
    properties.into_iter().filter_map(stated).collect()
}

impl StatedRequirement {
    /// Names the property in an outline; one that cannot be read by its type and value.
    pub fn heading(&self) -> String {
        match &self.constraint {
            Ok(constraint) => constraint.requirement.heading(),
            Err(_) => {
                let value: String = self.value.chars().take(MAX_REPEATED_CHARACTERS).collect();
                let more = if value.len() < self.value.len() { "…" } else { "" };
                format!("{} {value}{more}", self.property_type)
            }
        }
    }
}

/// Names what is required as part of a sentence, or says that it cannot be read and why.
impl fmt::Display for StatedRequirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.constraint {
            Ok(constraint) => constraint.fmt(formatter),
            Err(error) => write!(formatter, "{}, which cannot be read: {error}", self.heading()),
        }
    }
}

impl Constraint {
    /// Returns the requirements without parts that the constraint asks for, in their order; what a `not`
    /// excludes is left out.
    pub fn leaves(&self) -> Vec<&Constraint> {
        let mut leaves = Vec::new();
        let mut open = vec![self];
        while let Some(constraint) = open.pop() {
            match &constraint.requirement {
                Requirement::All(parts) | Requirement::Any(parts) => {
                    open.extend(parts.iter().rev());
                }
                Requirement::Not(_) => {}
                Requirement::Gvk(_)
                | Requirement::Package { .. }
                | Requirement::Label(_)
                | Requirement::Cel(_) => leaves.push(constraint),
            }
        }
        leaves
    }
}
