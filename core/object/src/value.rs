//! The tree that every object is.
//!
//! Values are immutable in practice and cheap to clone: containers are shared and copied when they
//! are changed. Integers stay integers, because a port written as `8080.0` is refused by a cluster.
//! The order of keys is not kept: no reader of Kubernetes objects may depend on it.

use std::{fmt, sync::Arc};

use crate::{JsonError, JsonReader, Map, TrailingText, building::Building};

/// Limits how deeply a value nests. The deepest schema published in a catalog has about 60 levels;
/// walking a value recurses, so the stack is what is protected.
pub const MAX_VALUE_DEPTH: usize = 400;

/// Holds one value of an object.
#[derive(Clone, Default)]
pub enum Value {
    /// `null`, and everything that is not there.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// `3` or `-7`.
    Integer(i64),
    /// `1.5`, and every number that fits no 64-bit integer.
    Float(f64),
    /// `"Succeeded"`.
    Text(Arc<str>),
    /// `["a", 1]`.
    List(Arc<Vec<Value>>),
    /// `{"name": "etcd"}`.
    Map(Map),
}

/// Says why a text is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueError {
    /// The text is not JSON.
    Json(JsonError),
    /// It nests deeper than [`MAX_VALUE_DEPTH`].
    TooDeep,
}

impl fmt::Display for ValueError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(formatter),
            Self::TooDeep => write!(formatter, "nests deeper than {MAX_VALUE_DEPTH} levels"),
        }
    }
}

impl std::error::Error for ValueError {}

static ABSENT: Value = Value::Null;

/// What is shared is equal without a look: most comparisons are of an object with its last state,
/// which differ in a few fields. No value is a NaN, so nothing differs from itself.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Integer(left), Self::Integer(right)) => left == right,
            (Self::Float(left), Self::Float(right)) => left == right,
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::List(left), Self::List(right)) => Arc::ptr_eq(left, right) || left == right,
            (Self::Map(left), Self::Map(right)) => left == right,
            _ => false,
        }
    }
}

impl Value {
    /// Makes a text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().into())
    }

    /// Makes a list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(Arc::new(elements.into_iter().collect()))
    }

    /// Makes a map; the last of several equal names wins.
    pub fn map<K: AsRef<str>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().collect())
    }

    /// Makes a list of texts.
    pub fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::list(texts.into_iter().map(Self::text))
    }

    /// Reads JSON.
    pub fn parse_json(text: impl AsRef<[u8]>) -> Result<Self, ValueError> {
        let mut reader = JsonReader::new(text.as_ref(), TrailingText::Refuse);
        let mut building = Building::default();
        while let Some(event) = reader.next_event().map_err(ValueError::Json)? {
            building.accept(event)?;
        }
        Ok(building.finish())
    }

    /// Tells whether it is `null` or not there.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Tells whether it is `null`, an empty text, an empty list or an empty map.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(_) | Self::Integer(_) | Self::Float(_) => false,
            Self::Text(text) => text.is_empty(),
            Self::List(elements) => elements.is_empty(),
            Self::Map(map) => map.is_empty(),
        }
    }

    /// Returns a text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Map(_) => None,
        }
    }

    /// Returns its text, or the empty text: in Kubernetes the two mean the same almost everywhere.
    pub fn str(&self) -> &str {
        self.as_text().unwrap_or_default()
    }

    /// Returns a truth value, where it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer; a whole double counts as one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and in range, see the guard"
            )]
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => {
                Some(*value as i64)
            }
            _ => None,
        }
    }

    /// Returns the elements of a list; anything else has none.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns a map, where it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Returns the entries of a map, sorted by name; anything else has none.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.as_map().into_iter().flat_map(Map::iter)
    }

    /// Returns the value of a name; `null` where there is none, or where this is no map.
    pub fn get(&self, name: &str) -> &Self {
        self.as_map().map_or(&ABSENT, |map| map.get(name))
    }

    /// Returns the value at a path of names; `null` where it ends.
    pub fn at(&self, path: &[&str]) -> &Self {
        path.iter().fold(self, |value, name| value.get(name))
    }

    /// Returns the texts of a list; other elements are left out.
    pub fn iter_texts(&self) -> impl Iterator<Item = &str> {
        self.elements().iter().filter_map(Self::as_text)
    }

    /// Returns the map to change, after making it one.
    pub fn make_map(&mut self) -> &mut Map {
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Map::default());
        }
        match self {
            Self::Map(map) => map,
            _ => unreachable!("bug: it was made a map just now"),
        }
    }

    /// Returns the list to change, after making it one.
    pub fn make_list(&mut self) -> &mut Vec<Self> {
        if !matches!(self, Self::List(_)) {
            *self = Self::List(Arc::default());
        }
        match self {
            Self::List(elements) => Arc::make_mut(elements),
            _ => unreachable!("bug: it was made a list just now"),
        }
    }

    /// Returns the place at a path of names to change, after making maps on the way.
    pub fn place(&mut self, path: &[&str]) -> &mut Self {
        path.iter().fold(self, |value, name| value.make_map().place(name))
    }

    /// Puts a value at a path of names, making maps on the way.
    pub fn set(&mut self, path: &[&str], value: impl Into<Self>) {
        *self.place(path) = value.into();
    }

    /// Takes the value at a path of names away.
    pub fn remove(&mut self, path: &[&str]) -> Option<Self> {
        let (last, way) = path.split_last()?;
        if !matches!(self.at(way), Self::Map(_)) {
            return None;
        }
        self.place(way).make_map().remove(last)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Self>> for Value {
    fn from(elements: Vec<Self>) -> Self {
        Self::List(Arc::new(elements))
    }
}

/// Shows a value as JSON.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&crate::go_json(self))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Makes a map of names and values: `map! { "kind" => "Role", "rules" => rules }`.
#[macro_export]
macro_rules! map {
    ($($name:expr => $value:expr),* $(,)?) => {
        $crate::Value::map::<&str>([$(($name, $crate::Value::from($value))),*])
    };
}

/// Makes a list of values: `list!["get", "list"]`.
#[macro_export]
macro_rules! list {
    ($($value:expr),* $(,)?) => {
        $crate::Value::list([$($crate::Value::from($value)),*])
    };
}
