//! Why a JSON text was refused.
//!
//! The texts are those of Go's `encoding/json`, because they reach conditions that people and
//! scripts already match on.

use std::fmt;

/// Says where and why a JSON text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Counts the bytes before the offending one.
    pub offset: usize,
    /// Says what is wrong there.
    pub fault: JsonFault,
}

/// Names a reason to refuse a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// The text ends inside a value, as `{` does, where the whole text should be one value.
    UnexpectedEnd,
    /// There is only white space where the first of possibly several values was wanted.
    NoValue,
    /// The first of possibly several values does not end.
    UnfinishedValue,
    /// A byte cannot stand where it is, as `'` in `{'a':1}`.
    InvalidByte {
        /// Holds the byte.
        byte: u8,
        /// Says what was being read.
        context: &'static str,
    },
    /// A number such as `1e400` does not fit a double.
    NumberOutOfRange(String),
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            JsonFault::UnexpectedEnd => formatter.write_str("unexpected end of JSON input"),
            JsonFault::NoValue => formatter.write_str("EOF"),
            JsonFault::UnfinishedValue => formatter.write_str("unexpected EOF"),
            JsonFault::InvalidByte { byte, context } => {
                let quoted = quote_byte(*byte);
                write!(formatter, "invalid character '{quoted}' {context}")
            }
            JsonFault::NumberOutOfRange(text) => write!(
                formatter,
                "json: cannot unmarshal number {text} into Go value of type float64"
            ),
        }
    }
}

impl std::error::Error for JsonError {}

/// Upstream: a byte is shown as the Latin-1 character of that number, so the first byte of a
/// byte order mark reads `ï`.
fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        other => crate::quote::escape(char::from(other), '"'),
    }
}
