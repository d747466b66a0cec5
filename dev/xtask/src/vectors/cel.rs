//! CEL rules: compiled, evaluated, and as a predicate sees them.

use operon_constraint::{CelError, CelRule, Property};
use serde_json::Value;

use super::{LineVerdict, same, text};

/// The one compile error whose text upstream's users match on.
const NOT_BOOLEAN: &str = "cel expressions must have type Bool";

/// Checks a line of `cel.jsonl`. Other errors are told in our own words, so only the fact counts.
pub(super) fn check(line: &Value) -> LineVerdict {
    let rule = text(line, "rule");
    let what = format!("rule {rule}");
    let compiled = CelRule::compile(rule);
    let got = match &compiled {
        Ok(_) => "ok",
        Err(CelError::NotBoolean) => NOT_BOOLEAN,
        Err(_) => "an error",
    };
    let expected = match line["compileError"].as_str() {
        None => "ok",
        Some(NOT_BOOLEAN) => NOT_BOOLEAN,
        Some(_) => "an error",
    };
    same(&format!("compiling {what}"), expected, got)?;
    let Ok(program) = compiled else { return Ok(()) };

    let properties: Vec<Property> = properties(&line["properties"]);
    let answer = program.evaluate(&properties);
    let got = answer.as_ref().map_or("an error".to_owned(), bool::to_string);
    let expected = match line["evalError"].as_str() {
        Some(_) => "an error".to_owned(),
        None => line["result"].to_string(),
    };
    same(&format!("evaluating {what}"), &expected, &got)?;
    let predicate = matches!(answer, Ok(true)).to_string();
    same(&format!("predicate of {what}"), &line["predicateTest"].to_string(), &predicate)
}

/// Reads properties, given as type and text of the value.
pub(super) fn properties(listed: &Value) -> Vec<Property> {
    let listed = listed.as_array().into_iter().flatten();
    listed
        .map(|property| Property::from_text(text(property, "type"), text(property, "value")))
        .collect()
}
