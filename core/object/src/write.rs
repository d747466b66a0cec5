//! JSON text, as Go writes it and as it reads back.
//!
//! Digests of Go's text are names and labels on clusters, so each byte matters: no blanks, sorted
//! keys, `<`, `>`, `&` and the two line separators escaped, doubles in Go's notation. There a double
//! that is whole looks like an integer; what is stored and sent keeps them apart. Nothing is indented.

use std::fmt::Write as _;

use crate::Value;

/// Writes a value as Go's `json.Marshal` does.
pub fn go_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, go_float);
    text
}

/// Writes a value so that [`Value::parse_json`] gives it back. What JSON has no word for, a double
/// that is not a number, becomes `null`.
pub fn exact_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, exact_float);
    text
}

fn write_value(text: &mut String, value: &Value, float: fn(f64) -> String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Integer(value) => {
            let _ = write!(text, "{value}");
        }
        Value::Float(value) => text.push_str(&float(*value)),
        Value::Text(value) => write_text(text, value),
        Value::List(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, element, float);
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push('{');
            for (index, (name, element)) in map.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_text(text, name);
                text.push(':');
                write_value(text, element, float);
            }
            text.push('}');
        }
    }
}

/// Writes a text in quotation marks, with Go's escapes.
pub(crate) fn write_text(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => write_code(text, character),
            control if control < ' ' => write_code(text, control),
            other => text.push(other),
        }
    }
    text.push('"');
}

fn write_code(text: &mut String, character: char) {
    let _ = write!(text, "\\u{:04x}", u32::from(character));
}

/// Upstream: the shortest digits that read back, with an exponent below 1e-6 and from 1e21 on.
fn go_float(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// Always with a point or an exponent, which is what tells doubles from integers.
fn exact_float(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{exact_json, go_json};
    use crate::Value;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Integer),
            any::<f64>()
                .prop_filter("JSON has no word for it", |number| number.is_finite())
                .prop_map(Value::Float),
            (-1000_i32..1000).prop_map(|whole| Value::Float(f64::from(whole) * 1e12)),
            "\\PC{0,8}|[\\x00-\\x1f\"\\\\<>&\u{2028}]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,6}", inner, 0..5).prop_map(Value::map),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_exactly_reads_back(value in values()) {
            let text = exact_json(&value);
            prop_assert_eq!(Value::parse_json(&text), Ok(value), "{}", text);
        }
    }

    #[test]
    fn a_double_that_is_no_number_does_not_spoil_the_text() {
        let value = Value::list([Value::Float(f64::NAN), Value::Float(f64::INFINITY)]);
        assert_eq!(exact_json(&value), "[null,null]");
    }

    #[test]
    fn doubles_and_texts_are_written_as_go_does() {
        let claims = [
            ("1.0", "1"),
            ("1e21", "1e+21"),
            ("123456789012345678901234567890", "1.2345678901234568e+29"),
            ("1e20", "100000000000000000000"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-0.0", "-0"),
            ("0.1", "0.1"),
            ("9007199254740993", "9007199254740993"),
            (r#""<a>&\u2028\u0001\u0008é\/""#, r#""\u003ca\u003e\u0026\u2028\u0001\bé/""#),
            (r#"{"b":1,"a":[null,true]}"#, r#"{"a":[null,true],"b":1}"#),
        ];
        for (given, expected) in claims {
            let value = Value::parse_json(given).expect("the claim is JSON");
            assert_eq!(go_json(&value), expected, "{given}");
        }
    }
}
