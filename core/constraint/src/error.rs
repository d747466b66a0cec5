//! Why a property that states a requirement was refused.
//!
//! The texts are upstream's, which end up in conditions. Only what is wrong with a rule is told in
//! our own words.

use std::fmt;

use operon_version::RangeError;

use crate::cel::CelError;
use crate::json::JsonError;

/// Says why a property is no usable requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintError {
    /// Says whether the property is an `olm.constraint` and not one of the older types.
    pub generic: bool,
    /// Says what is wrong.
    pub fault: ConstraintFault,
}

/// Names what is wrong with a requirement.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintFault {
    /// The value has more bytes than the dialect allows.
    TooLarge {
        /// Holds the number of bytes allowed.
        limit: usize,
    },
    /// The value is not JSON.
    Json(JsonError),
    /// An object has a key without meaning, as `"bogus"`.
    UnknownField(String),
    /// A value is of another kind than its place wants, as a number for a group.
    WrongType(WrongType),
    /// Constraints nest deeper than [`crate::MAX_CONSTRAINT_NESTING`].
    TooDeep,
    /// A constraint states nothing.
    Empty,
    /// A version range is malformed.
    Range(RangeError),
    /// A rule does not compile.
    Rule(CelError),
}

/// Says what was found where something else was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongType {
    /// Names the kind of JSON value found, as `number`.
    pub found: &'static str,
    /// Names the type wanted, as `string`.
    pub wanted: &'static str,
    /// Names the structure and the path to the field; nothing for the whole value.
    pub place: Option<(&'static str, String)>,
}

impl ConstraintError {
    /// Tells whether the value could be read, but not be turned into a requirement.
    pub fn is_conversion(&self) -> bool {
        match self.fault {
            ConstraintFault::TooLarge { .. }
            | ConstraintFault::Json(_)
            | ConstraintFault::UnknownField(_)
            | ConstraintFault::WrongType(_)
            | ConstraintFault::TooDeep => false,
            ConstraintFault::Empty | ConstraintFault::Range(_) | ConstraintFault::Rule(_) => true,
        }
    }
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match (self.generic, self.is_conversion()) {
            (false, _) => "",
            (true, false) => "parse olm.constraint: ",
            (true, true) => "convert olm.constraint to resolver predicate: ",
        };
        write!(formatter, "{prefix}{}", self.fault)
    }
}

impl fmt::Display for ConstraintFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(
                formatter,
                "olm.constraint value is greater than max constraint size {limit} bytes"
            ),
            Self::Json(error) => error.fmt(formatter),
            Self::UnknownField(field) => {
                write!(formatter, "json: unknown field {}", operon_object::quote(field))
            }
            Self::WrongType(wrong) => wrong.fmt(formatter),
            Self::TooDeep => write!(
                formatter,
                "constraints nest too deeply: Operon's limit is {}",
                crate::MAX_CONSTRAINT_NESTING
            ),
            Self::Empty => formatter.write_str("constraint is empty"),
            Self::Range(error) => error.fmt(formatter),
            Self::Rule(error) => error.fmt(formatter),
        }
    }
}

impl fmt::Display for WrongType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, wanted, place } = self;
        write!(formatter, "json: cannot unmarshal {found} into Go ")?;
        match place {
            Some((structure, path)) => {
                write!(formatter, "struct field {structure}.{path} of type {wanted}")
            }
            None => write!(formatter, "value of type {wanted}"),
        }
    }
}

impl std::error::Error for ConstraintError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            ConstraintFault::Json(error) => Some(error),
            ConstraintFault::Range(error) => Some(error),
            ConstraintFault::Rule(error) => Some(error),
            ConstraintFault::TooLarge { .. }
            | ConstraintFault::UnknownField(_)
            | ConstraintFault::WrongType(_)
            | ConstraintFault::TooDeep
            | ConstraintFault::Empty => None,
        }
    }
}
