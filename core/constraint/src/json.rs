//! The JSON value that properties carry.
//!
//! Values are immutable, cheap to clone and safe at any depth: comparing, printing and dropping
//! never recurse. This is deliberately not a general JSON library: numbers are doubles, because
//! that is what every reader of properties upstream sees.

mod object;

use std::fmt;
use std::sync::Arc;

pub use object::JsonObject;
pub use operon_object::{JsonError, JsonFault, MAX_JSON_DEPTH, TrailingText};
pub(crate) use operon_object::{JsonEvent, JsonReader};

/// Holds one JSON value.
#[derive(Clone)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// `3`, `1.5` or `-7`: always a double, so `9007199254740993` reads as 9007199254740992.
    Number(f64),
    /// `"certified"`.
    String(Arc<str>),
    /// `["a", 1]`.
    Array(JsonArray),
    /// `{"packageName": "etcd"}`.
    Object(JsonObject),
}

/// Holds the elements of a JSON array.
#[derive(Clone, Default)]
pub struct JsonArray {
    elements: Arc<[Json]>,
}

impl Json {
    /// Reads one value by the rules of Go's `encoding/json`: the last of several equal keys wins,
    /// and invalid UTF-8 and lone surrogates become U+FFFD.
    pub fn parse(text: impl AsRef<[u8]>, trailing: TrailingText) -> Result<Self, JsonError> {
        let mut reader = JsonReader::new(text.as_ref(), trailing);
        let mut building = Building::default();
        while let Some(event) = reader.next_event()? {
            building.accept(event);
        }
        match building.fault {
            Some(fault) => Err(fault),
            None => Ok(building.finished.unwrap_or(Self::Null)),
        }
    }

    /// Makes an array of the elements.
    pub fn array(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::Array(JsonArray { elements: elements.into_iter().collect() })
    }

    /// Makes an object of the entries; the last of several equal keys wins.
    pub fn object(entries: impl IntoIterator<Item = (String, Self)>) -> Self {
        Self::Object(entries.into_iter().collect())
    }

    /// Makes a string value.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// Returns the text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Returns the entries of an object value.
    pub fn as_object(&self) -> Option<&JsonObject> {
        match self {
            Self::Object(object) => Some(object),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    fn has_children(&self) -> bool {
        match self {
            Self::Array(array) => !array.elements.is_empty(),
            Self::Object(object) => !object.is_empty(),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => false,
        }
    }
}

impl JsonArray {
    /// Returns the elements in order.
    pub fn elements(&self) -> &[Json] {
        &self.elements
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = vec![(self, other)];
        while let Some(pair) = pairs.pop() {
            match pair {
                (Self::Null, Self::Null) => {}
                (Self::Bool(left), Self::Bool(right)) if left == right => {}
                (Self::Number(left), Self::Number(right)) if left == right => {}
                (Self::String(left), Self::String(right)) if left == right => {}
                (Self::Array(left), Self::Array(right))
                    if left.elements.len() == right.elements.len() =>
                {
                    pairs.extend(left.elements.iter().zip(right.elements.iter()));
                }
                (Self::Object(left), Self::Object(right)) if left.has_keys_of(right) => {
                    pairs.extend(left.values().zip(right.values()));
                }
                _ => return false,
            }
        }
        true
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Debug for JsonArray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Json::Array(self.clone()), formatter)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut waiting = vec![Piece::Value(self)];
        while let Some(piece) = waiting.pop() {
            match piece {
                Piece::Text(text) => formatter.write_str(text)?,
                Piece::Key(key) => {
                    write_string(formatter, key)?;
                    formatter.write_str(":")?;
                }
                Piece::Value(value) => write_value(formatter, value, &mut waiting)?,
            }
        }
        Ok(())
    }
}

impl Drop for JsonArray {
    fn drop(&mut self) {
        let mut orphans = Vec::new();
        self.release_children(&mut orphans);
        object::drop_all(orphans);
    }
}

impl JsonArray {
    /// Moves the nested containers out, so that dropping them one by one does not recurse.
    fn release_children(&mut self, orphans: &mut Vec<Json>) {
        if let Some(elements) = Arc::get_mut(&mut self.elements) {
            let nested = elements.iter_mut().filter(|element| element.has_children());
            orphans.extend(nested.map(|element| std::mem::replace(element, Json::Null)));
        }
    }
}

/// Collects events into values without recursion.
#[derive(Default)]
struct Building {
    open: Vec<Container>,
    finished: Option<Json>,
    /// Holds the first number out of range; a fault in the form of later text goes before it.
    fault: Option<JsonError>,
}

enum Container {
    Array(Vec<Json>),
    Object(Vec<(String, Json)>, Option<String>),
}

impl Building {
    fn accept(&mut self, event: JsonEvent<'_>) {
        let value = match event {
            JsonEvent::BeginArray => {
                self.open.push(Container::Array(Vec::new()));
                return;
            }
            JsonEvent::BeginObject => {
                self.open.push(Container::Object(Vec::new(), None));
                return;
            }
            JsonEvent::Key(key) => {
                if let Some(Container::Object(_, pending)) = self.open.last_mut() {
                    *pending = Some(key.into_owned());
                }
                return;
            }
            JsonEvent::EndArray | JsonEvent::EndObject => match self.open.pop() {
                Some(Container::Array(elements)) => Json::array(elements),
                Some(Container::Object(entries, _)) => Json::object(entries),
                None => return,
            },
            JsonEvent::Null => Json::Null,
            JsonEvent::Bool(value) => Json::Bool(value),
            JsonEvent::Number { text, offset } => Json::Number(self.number(text, offset)),
            JsonEvent::String(text) => Json::string(text),
        };
        match self.open.last_mut() {
            Some(Container::Array(elements)) => elements.push(value),
            Some(Container::Object(entries, pending)) => {
                entries.push((pending.take().unwrap_or_default(), value));
            }
            None => self.finished = Some(value),
        }
    }

    fn number(&mut self, text: &str, offset: usize) -> f64 {
        let number = text.parse().unwrap_or(f64::INFINITY);
        if !f64::is_finite(number) && self.fault.is_none() {
            self.fault =
                Some(JsonError { offset, fault: JsonFault::NumberOutOfRange(text.to_owned()) });
        }
        number
    }
}

enum Piece<'a> {
    Text(&'static str),
    Key(&'a str),
    Value(&'a Json),
}

fn write_value<'a>(
    formatter: &mut fmt::Formatter<'_>,
    value: &'a Json,
    waiting: &mut Vec<Piece<'a>>,
) -> fmt::Result {
    match value {
        Json::Null => formatter.write_str("null"),
        Json::Bool(value) => write!(formatter, "{value}"),
        Json::Number(value) => write!(formatter, "{value}"),
        Json::String(text) => write_string(formatter, text),
        Json::Array(array) => {
            waiting.push(Piece::Text("]"));
            for (index, element) in array.elements.iter().enumerate().rev() {
                waiting.push(Piece::Value(element));
                if index > 0 {
                    waiting.push(Piece::Text(","));
                }
            }
            formatter.write_str("[")
        }
        Json::Object(object) => {
            waiting.push(Piece::Text("}"));
            for (index, (key, element)) in object.iter().enumerate().rev() {
                waiting.push(Piece::Value(element));
                waiting.push(Piece::Key(key));
                if index > 0 {
                    waiting.push(Piece::Text(","));
                }
            }
            formatter.write_str("{")
        }
    }
}

fn write_string(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    formatter.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => formatter.write_str("\\\"")?,
            '\\' => formatter.write_str("\\\\")?,
            control if control < ' ' => write!(formatter, "\\u{:04x}", u32::from(control))?,
            other => write!(formatter, "{other}")?,
        }
    }
    formatter.write_str("\"")
}

#[cfg(test)]
mod tests;
