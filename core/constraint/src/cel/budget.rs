//! Counts what one evaluation spends, and what went wrong in it.
//!
//! Ordinary faults can be absorbed by `&&`, `||` and macros; an exceeded limit never is.

use std::fmt;

use super::limit::{Limit, MAX_EVALUATION_BYTES, MAX_EVALUATION_STEPS};
use super::type_name::TypeName;

/// Says why an expression has no value.
#[derive(Clone, Debug)]
pub(super) enum Fault<'a> {
    /// A map has no such field.
    NoSuchField(&'a str),
    /// A map has no such key, or the operand has no keys at all.
    NoSuchKey(Box<str>),
    /// A list has no such element.
    IndexOutOfBounds(i64),
    /// A function does not take a value of this type.
    NoSuchOverload(&'static str, TypeName),
    /// A text or number cannot be converted.
    Conversion(TypeName, &'static str),
    /// A fault that needs no details.
    Plain(&'static str),
    /// A fault with its own text.
    Described(Box<str>),
    /// A map was to have bytes as a key. Upstream: this stops the whole evaluation.
    BytesAsKey,
    /// A limit of ours is exceeded.
    Limit(Limit),
}

impl Fault<'_> {
    /// Tells whether the fault ends the evaluation, whatever operator surrounds it.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::BytesAsKey | Self::Limit(_))
    }
}

/// Counts the steps and bytes of one evaluation.
pub(super) struct Budget {
    steps: usize,
    max_steps: usize,
    bytes: usize,
}

impl Budget {
    /// Allows this many steps, but never more than [`MAX_EVALUATION_STEPS`].
    pub(super) fn new(max_steps: usize) -> Self {
        Self { steps: 0, max_steps: max_steps.min(MAX_EVALUATION_STEPS), bytes: 0 }
    }

    /// Returns the steps spent so far.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Spends steps.
    pub(super) fn step<'a>(&mut self, count: usize) -> Result<(), Fault<'a>> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > self.max_steps {
            return Err(Fault::Limit(Limit::EvaluationSteps));
        }
        Ok(())
    }

    /// Spends a step for every 64 bytes that are looked at.
    pub(super) fn scan<'a>(&mut self, bytes: usize) -> Result<(), Fault<'a>> {
        self.step(1 + bytes / 64)
    }

    /// Spends bytes, and steps for filling them.
    pub(super) fn allocate<'a>(&mut self, bytes: usize) -> Result<(), Fault<'a>> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_EVALUATION_BYTES {
            return Err(Fault::Limit(Limit::EvaluationBytes));
        }
        self.scan(bytes)
    }

    /// Spends the bytes of a number of values.
    pub(super) fn allocate_values<'a>(&mut self, count: usize) -> Result<(), Fault<'a>> {
        self.allocate(count.saturating_mul(size_of::<super::value::Value<'static>>()))
    }
}

impl From<Limit> for Fault<'_> {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchField(field) => write!(formatter, "no such key: {field}"),
            Self::NoSuchKey(key) => write!(formatter, "no such key: {key}"),
            Self::IndexOutOfBounds(index) => write!(formatter, "index out of bounds: {index}"),
            Self::NoSuchOverload(function, type_name) => write!(
                formatter,
                "no such overload: `{function}` does not take a value of type {}",
                type_name.name()
            ),
            Self::Conversion(from, to) => {
                write!(formatter, "type conversion error from '{}' to '{to}'", from.name())
            }
            Self::Plain(text) => formatter.write_str(text),
            Self::Described(text) => formatter.write_str(text),
            Self::BytesAsKey => formatter.write_str("bytes cannot be the key of a map"),
            Self::Limit(limit) => limit.fmt(formatter),
        }
    }
}
