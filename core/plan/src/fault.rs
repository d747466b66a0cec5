//! Why no plan can be drafted.

use std::fmt;

/// Why no plan can be drafted from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFault {
    /// The contents of bundles are not here yet.
    Missing {
        /// The bundles, by name.
        bundles: Vec<String>,
    },
    /// The rules of an operator cannot be turned into roles.
    Rules {
        /// The operator.
        operator: String,
        /// What is wrong with them.
        reason: String,
    },
}

impl fmt::Display for PlanFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { bundles } => {
                write!(formatter, "the contents of {} are not here yet", bundles.join(", "))
            }
            Self::Rules { operator, reason } => {
                write!(formatter, "the permissions of {operator} cannot be granted: {reason}")
            }
        }
    }
}

impl std::error::Error for PlanFault {}
