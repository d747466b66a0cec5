//! Reading a value into a Go type and writing it again, in one walk.
//!
//! Names of fields are matched exactly, as the Kubernetes readers do; Go's plain reader would also
//! take another case.

use std::fmt;

use operon_object::{Timestamp, Value, go_json};
use operon_version::{Release, Version};

use super::{
    quantity::canonical_quantity,
    table::{GoForm, GoStruct, Presence},
};

/// A value that does not fit the Go type it is read into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeFault {
    /// The place, such as `template.spec.containers[0].image`; empty for the value itself.
    pub path: String,
    /// Says what the type takes there, such as `a text`.
    pub expected: String,
    /// Says what was found there.
    pub found: String,
}

impl TypeFault {
    /// Says where the faulty value lies in a larger one.
    #[must_use]
    pub fn inside(self, place: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{place}{separator}{}", self.path), ..self }
    }
}

impl fmt::Display for TypeFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, found } = self;
        let place = if path.is_empty() { "the value" } else { path };
        write!(formatter, "`{place}` must be {expected}, not {found}")
    }
}

impl std::error::Error for TypeFault {}

/// Writes a value in a form.
pub(super) fn write_form(text: &mut String, form: &GoForm, value: &Value) -> Result<(), TypeFault> {
    match form {
        GoForm::Text => text.push_str(&go_json(&Value::text(read_text(value)?))),
        GoForm::Bool => text.push_str(if read_bool(value)? { "true" } else { "false" }),
        GoForm::Int32 => text.push_str(&read_int32(value)?.to_string()),
        GoForm::Int64 => text.push_str(&read_integer(value)?.to_string()),
        GoForm::Quantity => text.push_str(&go_json(&Value::from(read_quantity(value)?))),
        GoForm::IntOrString => match value {
            Value::Text(_) => text.push_str(&go_json(value)),
            _ => text.push_str(&read_int32(value)?.to_string()),
        },
        GoForm::Time => text.push_str(&read_time(value)?),
        GoForm::Version => text.push_str(&go_json(&Value::from(read_version(value)?))),
        GoForm::Release => text.push_str(&go_json(&Value::from(read_release(value)?))),
        GoForm::Raw => text.push_str(&go_json(value)),
        GoForm::Pointer(inner) => match value {
            Value::Null => text.push_str("null"),
            _ => write_form(text, inner, value)?,
        },
        GoForm::List(inner) => write_list(text, inner, value)?,
        GoForm::Map(inner) => write_map(text, inner, value)?,
        GoForm::Struct(go_struct) => write_struct(text, go_struct, value)?,
    }
    Ok(())
}

fn write_list(text: &mut String, inner: &GoForm, value: &Value) -> Result<(), TypeFault> {
    let elements = match value {
        Value::Null => {
            text.push_str("null");
            return Ok(());
        }
        Value::List(elements) => elements,
        _ => return Err(fault("a list", value)),
    };
    text.push('[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_form(text, inner, element).map_err(|fault| fault.inside(&format!("[{index}]")))?;
    }
    text.push(']');
    Ok(())
}

fn write_map(text: &mut String, inner: &GoForm, value: &Value) -> Result<(), TypeFault> {
    let map = match value {
        Value::Null => {
            text.push_str("null");
            return Ok(());
        }
        Value::Map(map) => map,
        _ => return Err(fault("a map", value)),
    };
    text.push('{');
    for (index, (name, element)) in map.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&go_json(&Value::text(name)));
        text.push(':');
        write_form(text, inner, element).map_err(|fault| fault.inside(name))?;
    }
    text.push('}');
    Ok(())
}

fn write_struct(text: &mut String, go_struct: &GoStruct, value: &Value) -> Result<(), TypeFault> {
    if !matches!(value, Value::Null | Value::Map(_)) {
        return Err(fault("a map", value));
    }
    text.push('{');
    let begin = text.len();
    for field in go_struct.fields {
        let element = value.get(field.name);
        let is_left_out = match (field.presence, &field.form) {
            (Presence::Always, _) => false,
            // Upstream: a raw message that was given as `null` holds that word, so it is not empty.
            (Presence::UnlessEmpty, GoForm::Raw) => {
                !value.as_map().is_some_and(|map| map.contains(field.name))
            }
            (Presence::UnlessEmpty, form) => is_empty(form, element),
            (Presence::UnlessZero, _) => element.is_empty(),
        };
        if is_left_out {
            continue;
        }
        if text.len() > begin {
            text.push(',');
        }
        text.push_str(&go_json(&Value::text(field.name)));
        text.push(':');
        write_form(text, &field.form, element).map_err(|fault| fault.inside(field.name))?;
    }
    text.push('}');
    Ok(())
}

/// Upstream: `omitempty` never leaves out a struct, however empty; a value of the wrong shape is not
/// empty, so that writing it tells what is wrong.
fn is_empty(form: &GoForm, value: &Value) -> bool {
    match form {
        GoForm::Struct(_) | GoForm::Quantity | GoForm::IntOrString | GoForm::Version => false,
        GoForm::Time | GoForm::Release | GoForm::Raw => false,
        GoForm::Pointer(_) => value.is_null(),
        GoForm::Text => matches!(value, Value::Null | Value::Text(_)) && value.is_empty(),
        GoForm::Bool => value.is_null() || value.as_bool() == Some(false),
        GoForm::Int32 | GoForm::Int64 => value.is_null() || value.as_integer() == Some(0),
        GoForm::List(_) => matches!(value, Value::Null | Value::List(_)) && value.is_empty(),
        GoForm::Map(_) => matches!(value, Value::Null | Value::Map(_)) && value.is_empty(),
    }
}

fn read_text(value: &Value) -> Result<&str, TypeFault> {
    match value {
        Value::Null => Ok(""),
        _ => value.as_text().ok_or_else(|| fault("a text", value)),
    }
}

fn read_bool(value: &Value) -> Result<bool, TypeFault> {
    match value {
        Value::Null => Ok(false),
        _ => value.as_bool().ok_or_else(|| fault("true or false", value)),
    }
}

fn read_integer(value: &Value) -> Result<i64, TypeFault> {
    match value {
        Value::Null => Ok(0),
        _ => value.as_integer().ok_or_else(|| fault("a whole number", value)),
    }
}

fn read_int32(value: &Value) -> Result<i32, TypeFault> {
    i32::try_from(read_integer(value)?).map_err(|_| fault("a whole number of 32 bits", value))
}

fn read_quantity(value: &Value) -> Result<String, TypeFault> {
    let text = match value {
        Value::Null => return Ok("0".to_owned()),
        Value::Text(text) => text.to_string(),
        Value::Integer(_) | Value::Float(_) => go_json(value),
        Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            return Err(fault("a quantity such as `500Mi`", value));
        }
    };
    canonical_quantity(&text).ok_or_else(|| fault("a quantity such as `500Mi`", value))
}

fn read_time(value: &Value) -> Result<String, TypeFault> {
    if value.is_null() {
        return Ok("null".to_owned());
    }
    let time = value.as_text().and_then(Timestamp::parse);
    let time = time.ok_or_else(|| fault("a time such as `2026-11-16T05:54:39Z`", value))?;
    Ok(format!("\"{time}\""))
}

fn read_version(value: &Value) -> Result<String, TypeFault> {
    if value.is_null() {
        return Ok("0.0.0".to_owned());
    }
    let version = Version::parse_tolerant(read_text(value)?);
    version
        .map(|version| version.to_string())
        .map_err(|_| fault("a version such as `1.2.3`", value))
}

fn read_release(value: &Value) -> Result<String, TypeFault> {
    let release = Release::parse(read_text(value)?).map_err(|_| fault("a release", value))?;
    Ok(release.map_or_else(String::new, |release| release.to_string()))
}

fn fault(expected: &str, found: &Value) -> TypeFault {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => format!("`{found}`"),
        Value::Text(text) => format!("the text {}", operon_object::quote(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    };
    TypeFault { path: String::new(), expected: expected.to_owned(), found }
}
