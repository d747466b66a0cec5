//! Why a text is not a range.
//!
//! The texts are upstream's, letter for letter, except for the two refusals of our own: a range
//! that is too long, and an alternative without terms.

use std::{error, fmt};

use crate::range::MAX_RANGE_LENGTH;
use crate::version_error::VersionError;

/// Says what is wrong with a range text; every piece is shown as Go quotes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// The text has more than [`MAX_RANGE_LENGTH`] bytes.
    TooLong {
        /// Counts the bytes of the text.
        length: usize,
    },
    /// The text begins with `||`.
    FirstIsOr,
    /// The text ends with `||`, or nothing is left of it, as of `*`.
    LastIsOr,
    /// Nothing between two `||`, which upstream accepts and later crashes on.
    EmptyAlternative {
        /// Counts the alternatives from one.
        position: usize,
    },
    /// A term without any digit, as `latest`.
    MissingVersion {
        /// Shows the term after wildcard expansion.
        term: String,
    },
    /// A term with an operator of another dialect, as `~1.2.3`.
    UnknownOperator {
        /// Shows the term after wildcard expansion.
        term: String,
        /// Shows the operator.
        operator: String,
        /// Shows operator and version without white space between.
        joined: String,
    },
    /// A term whose version cannot be read, as `>=1.2`.
    InvalidVersion {
        /// Shows the term after wildcard expansion.
        term: String,
        /// Shows the version.
        version: String,
        /// Shows operator and version without white space between.
        joined: String,
        /// Says what is wrong with the version.
        error: VersionError,
    },
}

impl error::Error for RangeError {}

impl fmt::Display for RangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length } => write!(
                formatter,
                "Range has {length} bytes, the limit is {MAX_RANGE_LENGTH}: use fewer terms"
            ),
            Self::FirstIsOr => formatter.write_str("First element in range is '||'"),
            Self::LastIsOr => formatter.write_str("Last element in range is '||'"),
            Self::EmptyAlternative { position } => write!(
                formatter,
                "Alternative {position} in range is empty: remove one of the two '||' around it"
            ),
            Self::MissingVersion { term } => {
                write!(formatter, "Could not get version from string: {term}")
            }
            Self::UnknownOperator { term, operator, joined } => write!(
                formatter,
                "Could not parse Range {term}: Could not parse comparator {operator} in {joined}"
            ),
            Self::InvalidVersion { term, version, joined, error } => write!(
                formatter,
                "Could not parse Range {term}: Could not parse version {version} in {joined}: {error}"
            ),
        }
    }
}
