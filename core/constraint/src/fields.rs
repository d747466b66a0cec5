//! Reads flat objects of texts by Go's rules: keys in any case, null is the empty text, and any
//! other kind of value makes the whole object unusable.

use crate::error::{ConstraintFault, WrongType};
use crate::json::{Json, JsonEvent, JsonReader, TrailingText};
use crate::property::Property;

/// Tells whether a key names a field. Upstream: besides ASCII case, the long s and the Kelvin sign
/// count as `s` and `k`.
pub(crate) fn names_field(key: &str, field: &str) -> bool {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(field.chars().map(fold))
}

/// Returns the text fields of a property value, or nothing if it cannot be read.
pub(crate) fn fields_of<'a, const COUNT: usize>(
    property: &'a Property,
    names: [&str; COUNT],
) -> Option<[&'a str; COUNT]> {
    let mut fields = [""; COUNT];
    let object = match property.value.as_ref()? {
        Json::Null => return Some(fields),
        Json::Object(object) => object,
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => return None,
    };
    for (key, value) in object.iter() {
        let Some(place) = names.iter().position(|name| names_field(key, name)) else {
            continue;
        };
        match value {
            Json::String(text) => fields[place] = text,
            Json::Null => {}
            Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => return None,
        }
    }
    Some(fields)
}

/// Reads the text fields of a JSON text; `structure` is how upstream prints the wanted type.
pub(crate) fn read_fields<const COUNT: usize>(
    text: &[u8],
    names: [&'static str; COUNT],
    structure: &'static str,
) -> Result<[String; COUNT], ConstraintFault> {
    // The whole text is checked first: its form matters more than its content.
    let mut check = JsonReader::new(text, TrailingText::Refuse);
    while check.next_event().map_err(ConstraintFault::Json)?.is_some() {}
    let mut fields = [const { String::new() }; COUNT];
    let mut reader = JsonReader::new(text, TrailingText::Refuse);
    let mut depth = 0_usize;
    let mut wanted = None;
    while let Some(event) = reader.next_event().map_err(ConstraintFault::Json)? {
        match (&event, depth, wanted) {
            (JsonEvent::BeginObject | JsonEvent::Null, 0, _) => {}
            (_, 0, _) => {
                return Err(ConstraintFault::WrongType(WrongType {
                    found: kind_of(&event),
                    wanted: structure,
                    place: None,
                }));
            }
            (JsonEvent::Key(key), 1, _) => {
                wanted = names.iter().position(|name| names_field(key, name));
            }
            (JsonEvent::EndObject, 1, _) | (_, _, None) => {}
            (JsonEvent::String(text), _, Some(place)) => fields[place] = text.to_string(),
            (JsonEvent::Null, _, Some(_)) => {}
            (_, _, Some(place)) => {
                return Err(ConstraintFault::WrongType(WrongType {
                    found: kind_of(&event),
                    wanted: "string",
                    place: Some(("", names[place].to_owned())),
                }));
            }
        }
        match event {
            JsonEvent::BeginObject | JsonEvent::BeginArray => depth += 1,
            JsonEvent::EndObject | JsonEvent::EndArray => depth -= 1,
            JsonEvent::Key(_)
            | JsonEvent::String(_)
            | JsonEvent::Number { .. }
            | JsonEvent::Bool(_)
            | JsonEvent::Null => {}
        }
    }
    Ok(fields)
}

/// Names the kind of the value that an event begins.
pub(crate) fn kind_of(event: &JsonEvent<'_>) -> &'static str {
    match event {
        JsonEvent::BeginObject | JsonEvent::EndObject => "object",
        JsonEvent::BeginArray | JsonEvent::EndArray => "array",
        JsonEvent::Key(_) | JsonEvent::String(_) => "string",
        JsonEvent::Number { .. } => "number",
        JsonEvent::Bool(_) => "bool",
        JsonEvent::Null => "null",
    }
}
