//! Why a schema cannot be used.
//!
//! A fault is about the schema itself; what is wrong with an object is a
//! [`FieldError`](crate::FieldError).

use std::fmt;

/// Says where a schema is wrong and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaFault {
    /// The place in the schema, such as `properties[spec].pattern`; empty for the schema as a whole.
    pub path: String,
    /// What is wrong there, and what is expected.
    pub reason: String,
}

impl SchemaFault {
    pub(crate) fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason } = self;
        match path.as_str() {
            "" => write!(formatter, "the schema {reason}"),
            path => write!(formatter, "`{path}` of the schema {reason}"),
        }
    }
}

impl std::error::Error for SchemaFault {}
