//! What a scalar means: its tag, its quotes, and YAML 1.1's reading of plain words.
//!
//! Only scalars are looked at here; merge keys are the business of the mapping they stand in.

use super::{
    number::{Number, read_dotted, read_number},
    timestamp::is_timestamp,
};
use crate::decode_base64;

/// What the standard tags start with when they are written in full.
const STANDARD_PREFIX: &str = "tag:yaml.org,2002:";

/// The tag of an explicit merge key.
pub(super) const MERGE_TAG: &str = "tag:yaml.org,2002:merge";

/// The meaning of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true`, `yes`, `on`, `y`, and their opposites.
    Bool(bool),
    /// Any notation of a number, the infinities and `.nan` included.
    Number(Number),
    /// The text as it stands.
    Text,
    /// The bytes that `!!binary` spells; they need not be UTF-8.
    Binary(Vec<u8>),
}

/// Finds the meaning of a scalar, or says why it cannot be what its tag claims.
///
/// `is_implicit` tells that neither quotes nor a tag stand against reading it as a plain word.
pub(super) fn resolve(tag: Option<&str>, is_implicit: bool, value: &str) -> Result<Scalar, String> {
    let Some(tag) = tag else {
        return Ok(if is_implicit { read_plain(value) } else { Scalar::Text });
    };
    let Some(standard) = tag.strip_prefix(STANDARD_PREFIX) else {
        return Ok(Scalar::Text);
    };
    let meaning = match standard {
        "null" | "bool" | "int" => Some(read_plain(value)),
        "float" => Some(widened(read_plain(value))),
        "timestamp" => is_timestamp(value).then_some(Scalar::Text),
        "binary" => decode_base64(value.as_bytes()).ok().map(Scalar::Binary),
        // Upstream: `!!str` and tags that mean nothing to a scalar leave the text as it is.
        _ => return Ok(Scalar::Text),
    };
    meaning
        .filter(|meaning| fits(standard, meaning))
        .ok_or_else(|| format!("`{}` is not a value of type !!{standard}", shortened(value)))
}

/// Reads a plain scalar.
///
/// Dates stay texts: upstream recognises them and then keeps the text all the same.
fn read_plain(value: &str) -> Scalar {
    let number = match value.as_bytes().first() {
        None => return Scalar::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            return read_word(value);
        }
        Some(b'0'..=b'9') => read_number(value),
        Some(b'+' | b'-') => read_special(value).or_else(|| read_number(value)),
        Some(b'.') => read_special(value).or_else(|| read_dotted(value)),
        Some(_) => None,
    };
    number.map_or(Scalar::Text, Scalar::Number)
}

fn read_word(value: &str) -> Scalar {
    match value {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text,
    }
}

fn read_special(value: &str) -> Option<Number> {
    match value {
        ".nan" | ".NaN" | ".NAN" => Some(Number::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            Some(Number::Float(f64::INFINITY))
        }
        "-.inf" | "-.Inf" | "-.INF" => Some(Number::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

/// Reads an integer as the float it equals.
fn widened(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Number(Number::Integer(value)) => Scalar::Number(Number::Float(value as f64)),
        other => other,
    }
}

fn fits(standard: &str, meaning: &Scalar) -> bool {
    match meaning {
        Scalar::Null => standard == "null",
        Scalar::Bool(_) => standard == "bool",
        Scalar::Number(Number::Integer(_) | Number::Unsigned(_)) => standard == "int",
        Scalar::Number(Number::Float(_)) => standard == "float",
        Scalar::Text => standard == "timestamp",
        Scalar::Binary(_) => standard == "binary",
    }
}

fn shortened(value: &str) -> String {
    const SHOWN_CHARACTERS: usize = 40;
    match value.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    }
}
