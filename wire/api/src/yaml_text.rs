//! YAML as `kubectl get -o yaml` prints it: blocks, sorted keys, quotes where they are needed.
//!
//! Every reader of YAML 1.1 or 1.2 gets the same value back. Long lines are not folded, so that they
//! can be searched.

mod plain;
mod scalar;

use operon_object::{Map, Value};

/// Limits how long a key may be to stand before its colon on one line. Upstream: the limit at which
/// go-yaml changes to `? key`; readers refuse keys beyond 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 128;

/// How many blanks each level is indented by.
const STEP: usize = 2;

/// Writes a value as one YAML document, with a line break at the end.
///
/// Upstream: a whole double is written without a point, so it reads back as an integer.
pub fn write_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Map(map) if !map.is_empty() => write_map(&mut text, map, 0, false),
        Value::List(elements) if !elements.is_empty() => write_list(&mut text, elements, 0, false),
        other => {
            scalar::write(&mut text, other, STEP);
            text.push('\n');
        }
    }
    text
}

/// Writes entries at a column; the first may be there already, behind a dash.
fn write_map(text: &mut String, map: &Map, column: usize, mut is_placed: bool) {
    for (name, value) in map.iter() {
        begin_line(text, column, &mut is_placed);
        let start = text.len();
        scalar::write_key(text, name);
        if text.len() - start > LONGEST_SIMPLE_KEY {
            text.insert_str(start, "? ");
            text.push('\n');
            begin_line(text, column, &mut is_placed);
        }
        text.push(':');
        match value {
            Value::Map(map) if !map.is_empty() => {
                text.push('\n');
                write_map(text, map, column + STEP, false);
            }
            // Upstream: the dashes of a list stand below its key, not indented.
            Value::List(elements) if !elements.is_empty() => {
                text.push('\n');
                write_list(text, elements, column, false);
            }
            other => write_leaf(text, other, column),
        }
    }
}

fn write_list(text: &mut String, elements: &[Value], column: usize, mut is_placed: bool) {
    for value in elements {
        begin_line(text, column, &mut is_placed);
        text.push('-');
        match value {
            Value::Map(map) if !map.is_empty() => {
                text.push(' ');
                write_map(text, map, column + STEP, true);
            }
            Value::List(elements) if !elements.is_empty() => {
                text.push(' ');
                write_list(text, elements, column + STEP, true);
            }
            other => write_leaf(text, other, column),
        }
    }
}

fn write_leaf(text: &mut String, value: &Value, column: usize) {
    text.push(' ');
    scalar::write(text, value, column + STEP);
    text.push('\n');
}

fn begin_line(text: &mut String, column: usize, is_placed: &mut bool) {
    if !std::mem::take(is_placed) {
        text.extend(std::iter::repeat_n(' ', column));
    }
}
