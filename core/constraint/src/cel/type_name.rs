//! The types that values have at run time, and the names by which rules mention them.
//!
//! Types of elements are not part of them: every list is just a list.

use super::limit::Limit;
use super::types::{Scalar, Type};

/// Names the type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TypeName {
    Bool,
    Bytes,
    Double,
    Duration,
    Empty,
    Int,
    List,
    Map,
    Null,
    String,
    Timestamp,
    Type,
    Uint,
}

const ALL: [TypeName; 13] = [
    TypeName::Bool,
    TypeName::Bytes,
    TypeName::Double,
    TypeName::Duration,
    TypeName::Empty,
    TypeName::Int,
    TypeName::List,
    TypeName::Map,
    TypeName::Null,
    TypeName::String,
    TypeName::Timestamp,
    TypeName::Type,
    TypeName::Uint,
];

impl TypeName {
    /// Finds the type that a rule mentions by this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        ALL.into_iter().find(|candidate| candidate.name() == name)
    }

    /// Returns the name by which rules mention the type.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "google.protobuf.Duration",
            Self::Empty => "google.protobuf.Empty",
            Self::Int => "int",
            Self::List => "list",
            Self::Map => "map",
            Self::Null => "null_type",
            Self::String => "string",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Type => "type",
            Self::Uint => "uint",
        }
    }

    /// Returns the static type of values of this type.
    pub(super) fn static_type(self) -> Result<Type, Limit> {
        Ok(match self {
            Self::Bool => Type::BOOL,
            Self::Bytes => Type::Scalar(Scalar::Bytes),
            Self::Double => Type::Scalar(Scalar::Double),
            Self::Duration => Type::Duration,
            Self::Empty => Type::Empty,
            Self::Int => Type::INT,
            Self::List => Type::list(Type::Dyn)?,
            Self::Map => Type::map(Type::Dyn, Type::Dyn)?,
            Self::Null => Type::Null,
            Self::String => Type::STRING,
            Self::Timestamp => Type::Timestamp,
            Self::Type => Type::type_of(Type::Dyn)?,
            Self::Uint => Type::Scalar(Scalar::Uint),
        })
    }
}
