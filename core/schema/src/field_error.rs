//! What is wrong with one field of an object, in the words an API server uses.
//!
//! The words are kept letter for letter, also where they are odd. An error keeps the offending value
//! itself and writes it only when it is shown, so many errors about one large value stay small.

use std::fmt;

use operon_object::{Value, go_json, quote};

use crate::number::go_number;

/// One field that is not as its schema asks.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// The path of the field, such as `spec.ports[0].name`; empty where the error is told about no
    /// single field.
    pub field: String,
    /// What kind of fault it is.
    pub kind: FieldErrorKind,
    /// The offending value, or what an API server shows in its place.
    pub value: Value,
    /// The explanation; empty where the kind says all.
    pub detail: String,
}

/// Tells the kinds of faults that an API server tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldErrorKind {
    /// The field must be there.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value has another type or format.
    TypeInvalid,
    /// The value is none of those listed.
    NotSupported,
    /// The text is too long.
    TooLong,
    /// There are too many elements or entries.
    TooMany,
}

impl FieldErrorKind {
    /// Returns the reason that an API server gives in the causes of its answer.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
        }
    }

    fn shows_value(self) -> bool {
        match self {
            Self::Required | Self::TooLong => false,
            Self::Invalid | Self::TypeInvalid | Self::NotSupported | Self::TooMany => true,
        }
    }
}

impl FieldError {
    /// Returns the error without its field: `Invalid value: 3: spec.a in body should be ...`.
    pub fn body(&self) -> String {
        let mut body = self.kind.title().to_owned();
        if self.kind.shows_value() {
            body.push_str(": ");
            body.push_str(&shown(&self.value));
        }
        if !self.detail.is_empty() {
            body.push_str(": ");
            body.push_str(&self.detail);
        }
        body
    }
}

/// Shows an error as an API server does.
impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Upstream: an error about no field is told about the field `<nil>`.
        let field = if self.field.is_empty() { "<nil>" } else { &self.field };
        write!(formatter, "{field}: {}", self.body())
    }
}

/// Upstream: texts are quoted as in Go, numbers written as in Go, everything else is JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => quote(text),
        Value::Float(number) => go_number(*number),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::List(_) | Value::Map(_) => {
            go_json(value)
        }
    }
}
