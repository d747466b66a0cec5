//! `olm.constraint` and the older requirement properties.

use operon_constraint::{
    Candidate, CelError, ConstraintDocument, ConstraintFault, Dialect, Property, matches,
    parse_property, upstream_predicate_text,
};
use serde_json::Value;

use super::{Disagreement, LineVerdict, cel::properties, same, text};

/// The entries that predicates are tested on; the first line of the file lists them.
pub(super) struct Entries(Vec<(String, Vec<Property>)>);

impl Entries {
    /// Reads the first line of `constraints.jsonl`.
    pub(super) fn read(first: Option<&Value>) -> Self {
        let listed = first.and_then(|line| line["entries"].as_array()).into_iter().flatten();
        Self(
            listed
                .map(|entry| (text(entry, "name").to_owned(), properties(&entry["properties"])))
                .collect(),
        )
    }

    /// Checks a line.
    pub(super) fn check(&self, line: &Value) -> LineVerdict {
        if text(line, "kind") != "constraint" {
            return Ok(());
        }
        let value = value_text(line);
        let kind = line["type"].as_str().unwrap_or("olm.constraint");
        if kind == "olm.constraint" {
            check_document(line, &value)?;
        }
        let what = format!("{kind} {}", value.chars().take(120).collect::<String>());
        let panics = line["tests"].to_string().contains("panic");
        let constraint = match parse_property(kind, &value, Dialect::Upstream) {
            Ok(None) => return same(&what, &line["predicate"].to_string(), "null"),
            Ok(Some(parsed)) => parsed.constraint,
            // Upstream panics when it tests such a range; here it is refused when it is read.
            Err(_) if panics => return Ok(()),
            Err(error) => {
                let own_words = matches!(
                    error.fault,
                    ConstraintFault::Rule(CelError::Invalid(_) | CelError::Limit(_))
                );
                let expected = text(line, "predicateError");
                // What is wrong with a rule is told in our own words.
                if own_words && expected.contains("ERROR: <input>") {
                    return Ok(());
                }
                return same(&what, expected, &error.to_string());
            }
        };
        let printed = upstream_predicate_text(&constraint);
        check_text(&what, line, "predicate", "predicateBytes", &printed)?;
        for ((name, properties), expected) in
            self.0.iter().zip(line["tests"].as_array().into_iter().flatten())
        {
            let candidate = Candidate { name, package: "", version: None, properties };
            let answer = matches(&constraint, &candidate).to_string();
            same(&format!("{what} on {name}"), &expected.to_string(), &answer)?;
        }
        Ok(())
    }
}

fn value_text(line: &Value) -> String {
    let Some(repeat) = line.get("repeat") else {
        return text(line, "value").to_owned();
    };
    let count = usize::try_from(repeat["n"].as_u64().unwrap_or(0)).unwrap_or(0);
    [text(repeat, "prefix"), &text(repeat, "unit").repeat(count), text(repeat, "suffix")].concat()
}

fn check_document(line: &Value, value: &str) -> LineVerdict {
    match ConstraintDocument::parse(value, Dialect::Upstream) {
        Ok(document) => {
            check_text("document", line, "parsed", "parsedBytes", &document.to_upstream_json())
        }
        Err(fault) => same("document", text(line, "parseError"), &fault.to_string()),
    }
}

/// Compares a text, or its length where the text was too long to be listed.
fn check_text(what: &str, line: &Value, name: &str, length: &str, got: &str) -> LineVerdict {
    match line[length].as_u64() {
        Some(expected) if expected == got.len() as u64 => Ok(()),
        Some(expected) => Err(Disagreement {
            what: what.to_owned(),
            expected: format!("{expected} bytes"),
            got: format!("{} bytes", got.len()),
        }),
        None => same(what, text(line, name), got),
    }
}
