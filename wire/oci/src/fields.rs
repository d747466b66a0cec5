//! Reading fields of a document with errors that name the way to them.
//!
//! `null` means the same as a field that is not there, as everywhere in this world. Which fields a
//! document has is said by those who read it.

use std::collections::BTreeMap;

use operon_object::Value;

use crate::{Digest, DocumentError};

/// A value in a document and the way to it.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    what: &'static str,
    way: String,
    value: &'a Value,
}

/// Reads the JSON of a document that may have so many bytes.
pub(crate) fn parse(
    what: &'static str,
    bytes: &[u8],
    limit: usize,
) -> Result<Value, DocumentError> {
    if bytes.len() > limit {
        return Err(DocumentError::TooLarge { what, bytes: bytes.len(), limit });
    }
    Value::parse_json(bytes).map_err(|source| DocumentError::NotJson { what, source })
}

impl<'a> Place<'a> {
    /// Starts at the top of a document, which has to be a map.
    pub(crate) fn top(what: &'static str, value: &'a Value) -> Result<Self, DocumentError> {
        let top = Self { what, way: String::new(), value };
        match value {
            Value::Map(_) => Ok(top),
            _ => Err(top.wrong("a map")),
        }
    }

    /// Goes to a field; nothing where it is not there.
    pub(crate) fn field(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name);
        let way =
            if self.way.is_empty() { name.to_owned() } else { format!("{}.{name}", self.way) };
        (!value.is_null()).then_some(Self { what: self.what, way, value })
    }

    /// Goes to a field that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<Self, DocumentError> {
        self.field(name).ok_or_else(|| {
            let way =
                if self.way.is_empty() { name.to_owned() } else { format!("{}.{name}", self.way) };
            DocumentError::Missing { what: self.what, field: way }
        })
    }

    /// Goes to a field that is a map where it is there.
    pub(crate) fn map(&self, name: &str) -> Result<Option<Self>, DocumentError> {
        match self.field(name) {
            Some(place) if place.value.as_map().is_none() => Err(place.wrong("a map")),
            place => Ok(place),
        }
    }

    /// Returns the text of a field; an empty one counts as none.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, DocumentError> {
        let text = self.field(name).map(|place| place.as_text()).transpose()?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// Returns the texts of a field that is a list.
    pub(crate) fn texts(&self, name: &str, limit: usize) -> Result<Vec<String>, DocumentError> {
        self.list(name, limit)?.iter().map(|place| place.as_text().map(str::to_owned)).collect()
    }

    /// Returns the elements of a field that is a list; none where it is not there.
    pub(crate) fn list(&self, name: &str, limit: usize) -> Result<Vec<Self>, DocumentError> {
        match self.field(name) {
            Some(place) => place.elements(limit),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the elements of this list.
    pub(crate) fn elements(&self, limit: usize) -> Result<Vec<Self>, DocumentError> {
        let Value::List(elements) = self.value else {
            return Err(self.wrong("a list"));
        };
        if elements.len() > limit {
            let (what, field, count) = (self.what, self.way.clone(), elements.len());
            return Err(DocumentError::TooMany { what, field, count, limit });
        }
        let place = |(index, value)| {
            let way = format!("{}[{index}]", self.way);
            Self { what: self.what, way, value }
        };
        Ok(elements.iter().enumerate().map(place).collect())
    }

    /// Returns the names and texts of a field that is a map.
    pub(crate) fn text_map(&self, name: &str) -> Result<BTreeMap<String, String>, DocumentError> {
        let Some(map) = self.map(name)? else {
            return Ok(BTreeMap::new());
        };
        let mut texts = BTreeMap::new();
        for (name, _) in map.value.entries() {
            // `null` is the empty text, as for those who read with Go.
            let text = map.field(name).map_or(Ok(""), |place| place.as_text())?;
            texts.insert(name.to_owned(), text.to_owned());
        }
        Ok(texts)
    }

    /// Returns this text.
    pub(crate) fn as_text(&self) -> Result<&'a str, DocumentError> {
        self.value.as_text().ok_or_else(|| self.wrong("a text"))
    }

    /// Returns this text as a digest.
    pub(crate) fn as_digest(&self) -> Result<Digest, DocumentError> {
        let (what, field) = (self.what, &self.way);
        Digest::parse(self.as_text()?).map_err(|source| DocumentError::BadDigest {
            what,
            field: field.clone(),
            source,
        })
    }

    /// Returns this number of bytes.
    pub(crate) fn as_size(&self) -> Result<u64, DocumentError> {
        let size = match self.value {
            Value::Integer(size) => u64::try_from(*size).ok(),
            _ => None,
        };
        size.ok_or_else(|| self.wrong("a number of bytes"))
    }

    /// Says that something else should be here.
    pub(crate) fn wrong(&self, expected: &'static str) -> DocumentError {
        let found = match self.value {
            Value::Null => "`null`",
            Value::Bool(_) => "a truth value",
            Value::Integer(number) if *number < 0 => "a negative number",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        };
        let field = if self.way.is_empty() { "the whole".to_owned() } else { self.way.clone() };
        DocumentError::WrongType { what: self.what, field, expected, found: found.to_owned() }
    }
}
