//! JSON for people: one member per line.
//!
//! Nothing is read here, and the compact form that digests are made of is `go_json`.

use operon_object::{Value, go_json};

/// Writes a value as `kubectl get -o json` does: four blanks per level, keys sorted, a line break at
/// the end.
///
/// Upstream: a whole double is written without a point, so it reads back as an integer.
pub fn write_json_pretty(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text.push('\n');
    text
}

fn write_value(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::List(elements) if !elements.is_empty() => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                begin_line(text, index > 0, depth + 1);
                write_value(text, element, depth + 1);
            }
            begin_line(text, false, depth);
            text.push(']');
        }
        Value::Map(map) if !map.is_empty() => {
            text.push('{');
            for (index, (name, element)) in map.iter().enumerate() {
                begin_line(text, index > 0, depth + 1);
                text.push_str(&go_json(&Value::text(name)));
                text.push_str(": ");
                write_value(text, element, depth + 1);
            }
            begin_line(text, false, depth);
            text.push('}');
        }
        // JSON has no word for the doubles that are no numbers; no object that was read holds one.
        Value::Float(number) if !number.is_finite() => text.push_str("null"),
        Value::Null
        | Value::Bool(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => text.push_str(&go_json(value)),
    }
}

fn begin_line(text: &mut String, is_after_another: bool, depth: usize) {
    text.push_str(if is_after_another { ",\n" } else { "\n" });
    text.extend(std::iter::repeat_n("    ", depth));
}
