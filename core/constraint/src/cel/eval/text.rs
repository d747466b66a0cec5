//! Tests of texts: substrings, patterns and versions.
//!
//! Texts are compared by their code points; nothing is normalised or folded.

use std::borrow::Cow;

use operon_version::Version;
use regex::Regex;

use super::Outcome;
use crate::cel::budget::{Budget, Fault};
use crate::cel::number;
use crate::cel::pattern::{self, PatternError};
use crate::cel::value::Value;

/// Answers `contains`, `startsWith` or `endsWith`, as the name and the test say.
pub(super) fn test<'a>(
    name: &'static str,
    holds: fn(&str, &str) -> bool,
    text: &Value<'a>,
    part: &Value<'a>,
) -> Outcome<'a> {
    let (text, part) = two_texts(name, text, part)?;
    Ok(Value::Bool(holds(text, part)))
}

/// Answers `matches`; a pattern that is a constant of the rule was prepared with it.
pub(super) fn matches<'a>(
    text: &Value<'a>,
    pattern: &Value<'a>,
    prepared: Option<&Result<Regex, PatternError>>,
    budget: &mut Budget,
) -> Outcome<'a> {
    let (text, pattern) = two_texts("matches", text, pattern)?;
    // Looking at a byte costs more than in a plain comparison.
    budget.scan(text.len().saturating_mul(16))?;
    let described = |error: &PatternError| Fault::Described(error.to_string().into());
    let answer = match prepared {
        Some(Ok(regex)) => regex.is_match(text),
        Some(Err(error)) => return Err(described(error)),
        None => {
            let (compiled, _) = pattern::compile_at_cost(pattern, |bytes| budget.allocate(bytes))?;
            compiled.map_err(|error| described(&error))?.is_match(text)
        }
    };
    Ok(Value::Bool(answer))
}

fn two_texts<'v, 'a>(
    name: &'static str,
    first: &'v Value<'a>,
    second: &'v Value<'a>,
) -> Result<(&'v str, &'v str), Fault<'a>> {
    match (first, second) {
        (Value::String(first), Value::String(second)) => Ok((first.as_str(), second.as_str())),
        (Value::String(_), other) | (other, _) => {
            Err(Fault::NoSuchOverload(name, other.type_name()))
        }
    }
}

/// Answers `semver_compare`: -1, 0 or 1.
pub(super) fn semver_compare<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    let left = version_of(left)?;
    let right = version_of(right)?;
    Ok(Value::Int(left.cmp(&right) as i64))
}

/// Upstream: any value is printed and then read as a version, so `1.5` is version 1.5.0. Only
/// texts and numbers can print as one.
fn version_of<'a>(operand: &Value<'a>) -> Result<Version, Fault<'a>> {
    let printed = match operand {
        Value::String(text) => Cow::Borrowed(text.as_str()),
        Value::Int(value) => Cow::Owned(value.to_string()),
        Value::Uint(value) => Cow::Owned(value.to_string()),
        Value::Double(value) => Cow::Owned(number::format_double(*value)),
        other => Cow::Borrowed(other.type_name().name()),
    };
    Version::parse_tolerant(&printed).map_err(|_| {
        let shown: String = printed.chars().take(100).collect();
        Fault::Described(format!("unable to parse '{shown}' to semver format").into())
    })
}
