//! Values as JSON that reads back as the same value.
//!
//! Objects on disk and on the socket are written this way. It is not the text that hashes are made
//! of: there a double that is whole looks like an integer, here it must stay a double.

use operon_object::{Value, go_json};

/// Writes a value so that [`Value::parse_json`] gives it back. What JSON has no word for, a double
/// that is not a number, becomes `null`.
pub(crate) fn write_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Text(_) => {
            text.push_str(&go_json(value));
        }
        // Always with a point or an exponent, which is what tells doubles from integers.
        Value::Float(number) if number.is_finite() => text.push_str(&format!("{number:?}")),
        Value::Float(_) => text.push_str("null"),
        Value::List(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, element);
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push('{');
            for (index, (name, element)) in map.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&go_json(&Value::text(name)));
                text.push(':');
                write_value(text, element);
            }
            text.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use operon_object::Value;
    use proptest::prelude::*;

    use super::write_json;

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
        fn what_is_written_reads_back(value in values()) {
            let text = write_json(&value);
            prop_assert_eq!(Value::parse_json(&text), Ok(value), "{}", text);
        }
    }

    #[test]
    fn a_double_that_is_no_number_does_not_spoil_the_text() {
        let value = Value::list([Value::Float(f64::NAN), Value::Float(f64::INFINITY)]);
        assert_eq!(write_json(&value), "[null,null]");
    }
}
