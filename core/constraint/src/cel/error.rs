//! Why a rule was refused, or could not be decided for one set of properties.
//!
//! Texts are ours, except where upstream's text is short and well known; the place is shown with
//! a caret so that an author need not count columns.

use std::fmt;

use super::limit::Limit;

/// Says why a rule does not compile, or has no answer for some properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CelError {
    /// The rule is not well formed or does not type check.
    Invalid(InvalidRule),
    /// The rule compiles to something that is not statically a bool, as `dyn(true)` does.
    NotBoolean,
    /// The rule, or its evaluation, exceeds a limit of ours.
    Limit(Limit),
    /// The rule has no answer for the given properties, as `p.value.x` without such a key.
    Evaluation(String),
}

/// Shows what is wrong in a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRule {
    /// Says what is wrong.
    pub message: String,
    /// Counts lines from 1.
    pub line: usize,
    /// Counts characters in the line from 1.
    pub column: usize,
    /// Holds the line, shortened around the place if it is long.
    pub excerpt: String,
    /// Counts the characters of the excerpt before the place.
    pub caret: usize,
}

/// Limits the characters of a rule line that an error shows, so that a rule of one long line does
/// not flood a condition.
pub const MAX_EXCERPT_CHARACTERS: usize = 120;

impl CelError {
    /// Makes the error for a message at a byte offset of a rule.
    pub(crate) fn at(rule: &str, offset: usize, message: impl Into<String>) -> Self {
        Self::Invalid(InvalidRule::locate(rule, offset, message.into()))
    }
}

impl InvalidRule {
    fn locate(rule: &str, offset: usize, message: String) -> Self {
        let offset = (0..=offset.min(rule.len()))
            .rev()
            .find(|place| rule.is_char_boundary(*place))
            .unwrap_or(0);
        let before = &rule[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = rule[offset..].find('\n').map_or(rule.len(), |newline| offset + newline);
        let column = rule[line_start..offset].chars().count();
        let first = column.saturating_sub(MAX_EXCERPT_CHARACTERS / 2);
        let shown = rule[line_start..line_end].chars().skip(first).take(MAX_EXCERPT_CHARACTERS);
        Self {
            message,
            line: before.matches('\n').count() + 1,
            column: column + 1,
            excerpt: shown.collect(),
            caret: column - first,
        }
    }
}

impl fmt::Display for CelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(formatter),
            Self::NotBoolean => formatter.write_str("cel expressions must have type Bool"),
            Self::Limit(limit) => limit.fmt(formatter),
            Self::Evaluation(message) => formatter.write_str(message),
        }
    }
}

impl fmt::Display for InvalidRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, line, column, excerpt, caret } = self;
        writeln!(formatter, "rule:{line}:{column}: {message}")?;
        writeln!(formatter, " | {excerpt}")?;
        formatter.write_str(" | ")?;
        for _ in 0..*caret {
            formatter.write_str(".")?;
        }
        formatter.write_str("^")
    }
}

impl std::error::Error for CelError {}

impl std::error::Error for InvalidRule {}

impl From<Limit> for CelError {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}
