//! Texts and numbers: which notation gives each of them back unchanged.
//!
//! Nothing here knows where in a document it stands, but for the column of a block.

use std::fmt::Write as _;

use operon_document::{has_workflow_command, is_unprintable, starts_pipeline_command};
use operon_object::{Value, go_json};

use super::plain::{is_of_another_type, may_stand_plain};

/// Writes a value that has no lines of its own; a text of several lines becomes a block at `column`.
/// The last line break is left to the caller.
pub(super) fn write(text: &mut String, value: &Value, column: usize) {
    match value {
        Value::Text(words) if words.contains('\n') && may_be_block(words) => {
            write_block(text, words, column);
        }
        Value::Text(words) => write_key(text, words),
        Value::Float(number) => text.push_str(&double(*number)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::List(_) | Value::Map(_) => {
            text.push_str(&go_json(value));
        }
    }
}

/// Writes a text on one line.
pub(super) fn write_key(text: &mut String, words: &str) {
    if !words.chars().all(is_harmless) || is_of_another_type(words) || has_workflow_command(words) {
        write_escaped(text, words);
    } else if may_stand_plain(words) {
        text.push_str(words);
    } else {
        let _ = write!(text, "'{}'", words.replace('\'', "''"));
    }
}

/// Returns `true` if a character stands for itself in every reader: it is printable, breaks no line
/// and does not change the reading direction.
///
/// YAML 1.1 breaks lines at U+0085, U+2028 and U+2029 too; the byte order mark is dropped by some.
fn is_harmless(character: char) -> bool {
    !is_unprintable(character)
}

fn may_be_block(words: &str) -> bool {
    let is_kept = |character| matches!(character, '\n' | '\t') || is_harmless(character);
    // A line of a block is a line of the output, and CI systems read those.
    words.chars().all(is_kept)
        && words.chars().any(|character| character != '\n')
        && !has_workflow_command(words)
}

/// Writes a literal block. How it begins says how many line breaks end it, and, where its first
/// line begins with white space, how far it is indented.
fn write_block(text: &mut String, words: &str, column: usize) {
    text.push('|');
    if words.starts_with([' ', '\t', '\n']) {
        let _ = write!(text, "{}", super::STEP);
    }
    let body = match words.strip_suffix('\n') {
        None => {
            text.push('-');
            words
        }
        Some(body) if body.ends_with('\n') => {
            text.push('+');
            body
        }
        Some(body) => body,
    };
    for line in body.split('\n') {
        text.push('\n');
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', column));
            text.push_str(line);
        }
    }
}

/// Writes a text between double quotation marks, with escapes that JSON has too where it has any.
fn write_escaped(text: &mut String, words: &str) {
    text.push('"');
    for (at, character) in words.char_indices() {
        match character {
            '#' if starts_pipeline_command(&words[at..]) => text.push_str("\\u0023"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            harmless if is_harmless(harmless) => text.push(harmless),
            other => {
                let _ = write!(text, "\\u{:04X}", u32::from(other));
            }
        }
    }
    text.push('"');
}

/// Writes a double. YAML 1.1 takes `1e+21` for a text, so an exponent always follows a point.
fn double(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf".to_owned() } else { "-.inf".to_owned() };
    }
    let written = go_json(&Value::Float(number));
    match written.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => written,
    }
}
