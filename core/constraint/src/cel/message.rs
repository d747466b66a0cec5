//! The well-known messages that a rule can spell out, as `google.protobuf.Duration{seconds: 1}`.
//!
//! Only the fields are known here; values are made in `construct`. Messages of other packages do
//! not exist in the environment of rules.

use super::limit::Limit;
use super::types::{Scalar, Type};

/// Names a well-known message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    BoolValue,
    BytesValue,
    DoubleValue,
    FloatValue,
    Int32Value,
    Int64Value,
    StringValue,
    Uint32Value,
    Uint64Value,
    Any,
    Duration,
    Empty,
    ListValue,
    Struct,
    Timestamp,
    Value,
}

impl Message {
    /// Finds a message by its full name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("google.protobuf.")? {
            "BoolValue" => Self::BoolValue,
            "BytesValue" => Self::BytesValue,
            "DoubleValue" => Self::DoubleValue,
            "FloatValue" => Self::FloatValue,
            "Int32Value" => Self::Int32Value,
            "Int64Value" => Self::Int64Value,
            "StringValue" => Self::StringValue,
            "UInt32Value" => Self::Uint32Value,
            "UInt64Value" => Self::Uint64Value,
            "Any" => Self::Any,
            "Duration" => Self::Duration,
            "Empty" => Self::Empty,
            "ListValue" => Self::ListValue,
            "Struct" => Self::Struct,
            "Timestamp" => Self::Timestamp,
            "Value" => Self::Value,
            _ => return None,
        })
    }

    /// Returns the type of a literal of this message.
    pub(super) fn literal_type(self) -> Result<Type, Limit> {
        Ok(match self {
            Self::BoolValue => Type::Wrapper(Scalar::Bool),
            Self::BytesValue => Type::Wrapper(Scalar::Bytes),
            Self::DoubleValue | Self::FloatValue => Type::Wrapper(Scalar::Double),
            Self::Int32Value | Self::Int64Value => Type::Wrapper(Scalar::Int),
            Self::StringValue => Type::Wrapper(Scalar::String),
            Self::Uint32Value | Self::Uint64Value => Type::Wrapper(Scalar::Uint),
            Self::Any => Type::Any,
            Self::Duration => Type::Duration,
            Self::Empty => Type::Empty,
            Self::ListValue => Type::list(Type::Dyn)?,
            Self::Struct => Type::map(Type::STRING, Type::Dyn)?,
            Self::Timestamp => Type::Timestamp,
            Self::Value => Type::Dyn,
        })
    }

    /// Returns the type of a field, if the message has such a field.
    pub(super) fn field_type(self, field: &str) -> Result<Option<Type>, Limit> {
        let scalar = |scalar| Some(Type::Scalar(scalar));
        Ok(match (self, field) {
            (Self::BoolValue, "value") | (Self::Value, "bool_value") => scalar(Scalar::Bool),
            (Self::BytesValue | Self::Any, "value") => scalar(Scalar::Bytes),
            (Self::DoubleValue | Self::FloatValue, "value") | (Self::Value, "number_value") => {
                scalar(Scalar::Double)
            }
            (Self::Int32Value | Self::Int64Value, "value")
            | (Self::Duration | Self::Timestamp, "seconds" | "nanos")
            | (Self::Value, "null_value") => scalar(Scalar::Int),
            (Self::StringValue, "value")
            | (Self::Any, "type_url")
            | (Self::Value, "string_value") => scalar(Scalar::String),
            (Self::Uint32Value | Self::Uint64Value, "value") => scalar(Scalar::Uint),
            (Self::Struct, "fields") | (Self::Value, "struct_value") => {
                Some(Type::map(Type::STRING, Type::Dyn)?)
            }
            (Self::ListValue, "values") | (Self::Value, "list_value") => {
                Some(Type::list(Type::Dyn)?)
            }
            _ => None,
        })
    }
}
