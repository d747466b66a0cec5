//! Selectors of optional validators, in the notation of Kubernetes label selectors.

use std::{collections::BTreeSet, str::FromStr};

use super::OptionalValidator;

/// A choice of optional validators, such as `suite=operatorframework` or
/// `name in (good-practices, bundle-objects)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

/// Why a selector cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError(String);

impl std::fmt::Display for SelectorError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}

/// One condition; a validator must meet all of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    /// The label has one of these values.
    Among(String, Vec<String>),
    /// The label is absent or has none of these values.
    NotAmong(String, Vec<String>),
    /// The label is there.
    Present(String),
    /// The label is not there.
    Absent(String),
}

impl Selector {
    /// Returns the validators it selects.
    pub fn validators(&self) -> BTreeSet<OptionalValidator> {
        let is_selected =
            |validator: &OptionalValidator| self.0.iter().all(|one| one.is_met_by(*validator));
        OptionalValidator::ALL.into_iter().filter(is_selected).collect()
    }
}

impl Requirement {
    fn is_met_by(&self, validator: OptionalValidator) -> bool {
        let has_any = |key: &str, values: &[String]| {
            values.iter().any(|value| validator.has_label(key, value))
        };
        match self {
            Self::Among(key, values) => has_any(key, values),
            Self::NotAmong(key, values) => !has_any(key, values),
            Self::Present(key) => validator.has_key(key),
            Self::Absent(key) => !validator.has_key(key),
        }
    }
}

impl FromStr for Selector {
    type Err = SelectorError;

    /// Reads a selector; one that selects nothing is refused, because it is a mistake.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let requirements: Result<Vec<Requirement>, SelectorError> =
            split_outside_parentheses(text).into_iter().map(read).collect();
        let selector = Self(requirements?);
        if selector.validators().is_empty() {
            let names: Vec<&str> = OptionalValidator::ALL.map(OptionalValidator::name).to_vec();
            return Err(SelectorError(format!(
                "`{text}` selects no validator; there are `name=` {} and `suite=operatorframework`",
                names.join(", ")
            )));
        }
        Ok(selector)
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut is_inside) = (0, false);
    for (index, character) in text.char_indices() {
        match character {
            '(' => is_inside = true,
            ')' => is_inside = false,
            ',' if !is_inside => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn read(part: &str) -> Result<Requirement, SelectorError> {
    let part = part.trim();
    let one = |text: &str| vec![text.trim().to_owned()];
    if let Some((key, value)) = part.split_once("!=") {
        return Ok(Requirement::NotAmong(read_key(key, part)?, one(value)));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Requirement::Among(read_key(key, part)?, one(value)));
    }
    if let Some((head, rest)) = part.split_once('(') {
        let values = rest.trim_end().strip_suffix(')').ok_or_else(|| misread(part))?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let mut words = head.split_whitespace();
        return match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => Ok(Requirement::Among(read_key(key, part)?, values)),
            (Some(key), Some("notin"), None) => {
                Ok(Requirement::NotAmong(read_key(key, part)?, values))
            }
            _ => Err(misread(part)),
        };
    }
    match part.strip_prefix('!') {
        Some(key) => Ok(Requirement::Absent(read_key(key, part)?)),
        None => Ok(Requirement::Present(read_key(part, part)?)),
    }
}

fn read_key(key: &str, part: &str) -> Result<String, SelectorError> {
    match key.trim() {
        key @ ("name" | "suite") => Ok(key.to_owned()),
        _ => Err(misread(part)),
    }
}

fn misread(part: &str) -> SelectorError {
    SelectorError(format!(
        "`{part}` is not a selector; write `name=…`, `suite=…` or `name in (…, …)`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_choose_by_name_and_suite() {
        let select = |text: &str| {
            let selector: Selector = text.parse().map_err(|error: SelectorError| error.0)?;
            let names = selector.validators().into_iter().map(OptionalValidator::name);
            Ok::<String, String>(names.collect::<Vec<_>>().join(" "))
        };
        for (text, expected) in [
            ("name=good-practices", "good-practices"),
            ("name=operatorhubv2", "operatorhub/v2"),
            ("name == operatorhub/v2", "operatorhub/v2"),
            ("name in (community, multiarch)", "community multiarch"),
            ("suite=operatorframework,name=bundle-objects", "bundle-objects"),
            ("!suite", "community operatorhub multiarch"),
            (
                "suite,name notin (operatorhub/v2,standardcapabilities,standardcategories)",
                "bundle-objects alpha-deprecated-apis good-practices",
            ),
            ("suite!=operatorframework,name!=multiarch", "community operatorhub"),
        ] {
            assert_eq!(select(text).as_deref(), Ok(expected), "{text}");
        }
        for text in
            ["", "good-practices", "name=none", "name in (a", "name of (a)", "color=red", "(("]
        {
            assert!(select(text).is_err(), "{text}");
        }
    }
}
