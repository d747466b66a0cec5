//! The values of one evaluation.
//!
//! Values borrow from the rule and from the properties wherever they can; nothing is converted
//! before a rule asks for it. Maps and lists made by the rule are shared, never copied.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::limit::{Limit, MAX_VALUE_NESTING};
use super::literal::Literal;
use super::time::Timestamp;
use super::type_name::TypeName;
use crate::json::{Json, JsonObject};
use crate::property::Property;

/// Holds a value.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Octets<'a>),
    /// Counts nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(List<'a>),
    Map(Map<'a>),
    Type(TypeName),
    /// The value of `google.protobuf.Empty{}`.
    Empty,
}

/// Holds a text that is borrowed or was made by the rule.
#[derive(Clone)]
pub(super) enum Text<'a> {
    Borrowed(&'a str),
    Made(Rc<str>),
}

/// Holds bytes that are borrowed or were made by the rule.
#[derive(Clone)]
pub(super) enum Octets<'a> {
    Borrowed(&'a [u8]),
    Made(Rc<[u8]>),
}

/// Holds a list.
#[derive(Clone)]
pub(super) enum List<'a> {
    Properties(&'a [Property]),
    Json(&'a [Json]),
    Made(Rc<MadeList<'a>>),
}

/// Holds a map.
#[derive(Clone)]
pub(super) enum Map<'a> {
    /// The entries `type` and `value` of a property; none if its value is not JSON.
    Property(&'a Property),
    Json(&'a JsonObject),
    Made(Rc<MadeMap<'a>>),
}

/// Holds a list made by the rule.
pub(super) struct MadeList<'a> {
    pub(super) elements: Vec<Value<'a>>,
    depth: usize,
}

/// Holds a map made by the rule.
pub(super) struct MadeMap<'a> {
    pub(super) entries: BTreeMap<Key<'a>, (Value<'a>, Value<'a>)>,
    depth: usize,
}

/// Holds a map key in a form that can be looked up. Upstream: numbers of different types are
/// different keys, and a list, a map or NaN is a key that no lookup finds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(Text<'a>),
    Duration(i64),
    Timestamp(Timestamp),
    Type(TypeName),
    Empty,
    /// Counts the entries before it, which makes it unique.
    Unfindable(usize),
}

impl<'a> Value<'a> {
    /// Makes the value of a JSON value; numbers are doubles.
    pub(super) fn from_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(value) => Self::Double(*value),
            Json::String(text) => Self::String(Text::Borrowed(text)),
            Json::Array(array) => Self::List(List::Json(array.elements())),
            Json::Object(object) => Self::Map(Map::Json(object)),
        }
    }

    /// Makes the value of a literal.
    pub(super) fn from_literal(literal: &'a Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(value) => Self::Int(*value),
            Literal::Uint(value) => Self::Uint(*value),
            Literal::Double(value) => Self::Double(*value),
            Literal::String(text) => Self::String(Text::Borrowed(text)),
            Literal::Bytes(bytes) => Self::Bytes(Octets::Borrowed(bytes)),
        }
    }

    /// Makes a string value.
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::String(Text::Made(text.into()))
    }

    /// Makes a list value.
    pub(super) fn list(elements: Vec<Self>) -> Result<Self, Limit> {
        let depth = nesting(elements.iter())?;
        Ok(Self::List(List::Made(Rc::new(MadeList { elements, depth }))))
    }

    /// Makes a map value.
    pub(super) fn map(entries: BTreeMap<Key<'a>, (Self, Self)>) -> Result<Self, Limit> {
        let parts = entries.values().flat_map(|(key, value)| [key, value]);
        let depth = nesting(parts)?;
        Ok(Self::Map(Map::Made(Rc::new(MadeMap { entries, depth }))))
    }

    /// Returns the type of the value.
    pub(super) fn type_name(&self) -> TypeName {
        match self {
            Self::Null => TypeName::Null,
            Self::Bool(_) => TypeName::Bool,
            Self::Int(_) => TypeName::Int,
            Self::Uint(_) => TypeName::Uint,
            Self::Double(_) => TypeName::Double,
            Self::String(_) => TypeName::String,
            Self::Bytes(_) => TypeName::Bytes,
            Self::Duration(_) => TypeName::Duration,
            Self::Timestamp(_) => TypeName::Timestamp,
            Self::List(_) => TypeName::List,
            Self::Map(_) => TypeName::Map,
            Self::Type(_) => TypeName::Type,
            Self::Empty => TypeName::Empty,
        }
    }

    /// Returns the bytes of a string or of bytes, which looking at the value costs.
    pub(super) fn text_length(&self) -> usize {
        match self {
            Self::String(text) => text.as_str().len(),
            Self::Bytes(bytes) => bytes.as_slice().len(),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Uint(_)
            | Self::Double(_)
            | Self::Duration(_)
            | Self::Timestamp(_)
            | Self::List(_)
            | Self::Map(_)
            | Self::Type(_)
            | Self::Empty => 0,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::List(List::Made(list)) => list.depth,
            Self::Map(Map::Made(map)) => map.depth,
            Self::List(List::Json(_) | List::Properties(_))
            | Self::Map(Map::Json(_) | Map::Property(_))
            | Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Uint(_)
            | Self::Double(_)
            | Self::String(_)
            | Self::Bytes(_)
            | Self::Duration(_)
            | Self::Timestamp(_)
            | Self::Type(_)
            | Self::Empty => 0,
        }
    }
}

fn nesting<'v, 'a: 'v>(parts: impl Iterator<Item = &'v Value<'a>>) -> Result<usize, Limit> {
    let depth = parts.map(Value::depth).max().unwrap_or(0) + 1;
    if depth > MAX_VALUE_NESTING {
        return Err(Limit::ValueNesting);
    }
    Ok(depth)
}

impl<'a> List<'a> {
    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Properties(properties) => properties.len(),
            Self::Json(elements) => elements.len(),
            Self::Made(list) => list.elements.len(),
        }
    }

    /// Returns the element at a position.
    pub(super) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Properties(properties) => {
                let property = properties.get(index)?;
                Some(Value::Map(Map::Property(property)))
            }
            Self::Json(elements) => elements.get(index).map(Value::from_json),
            Self::Made(list) => list.elements.get(index).cloned(),
        }
    }
}

impl<'a> Map<'a> {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Property(property) => 2 * usize::from(property.value.is_some()),
            Self::Json(object) => object.len(),
            Self::Made(map) => map.entries.len(),
        }
    }

    /// Returns the value of a text key.
    pub(super) fn field(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Self::Property(property) => {
                let value = property.value.as_ref()?;
                match key {
                    "type" => Some(Value::String(Text::Borrowed(&property.property_type))),
                    "value" => Some(Value::from_json(value)),
                    _ => None,
                }
            }
            Self::Json(object) => object.get(key).map(Value::from_json),
            Self::Made(map) => {
                let key = Key::String(Text::Made(key.into()));
                map.entries.get(&key).map(|(_, value)| value.clone())
            }
        }
    }

    /// Returns the keys in an order that is always the same.
    pub(super) fn keys(&self) -> Vec<Value<'a>> {
        let text = |text| Value::String(Text::Borrowed(text));
        match self {
            Self::Property(property) if property.value.is_none() => Vec::new(),
            Self::Property(_) => vec![text("type"), text("value")],
            Self::Json(object) => object.iter().map(|(key, _)| text(key)).collect(),
            Self::Made(map) => map.entries.values().map(|(key, _)| key.clone()).collect(),
        }
    }
}

impl Text<'_> {
    /// Returns the characters.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Octets<'_> {
    /// Returns the bytes.
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }
}
