//! Strict JSON: unknown, repeated and missing members are errors, and so is `null`.

use std::{borrow::Cow, collections::BTreeMap};

use operon_document::{
    decode_base64,
    json::{Kind, Node, Tape},
};

use super::PolicyError;
use crate::printable::excerpt;

/// How many characters of an unexpected name or value are repeated in a message.
const SHOWN_CHARACTERS: usize = 80;

/// A value, and the path to it.
#[derive(Debug, Clone)]
pub(super) struct Strict<'a> {
    text: &'a [u8],
    node: Node<'a>,
    path: String,
}

impl<'a> Strict<'a> {
    /// Parses a text that holds one JSON value.
    pub(super) fn parse(text: &'a [u8], tape: &'a mut Tape) -> Result<Self, PolicyError> {
        match tape.read(text) {
            Ok(node) => Ok(Self { text, node, path: String::new() }),
            Err(error) => Err(PolicyError::NotJson {
                line: line_of(text, error.offset()),
                problem: error.message().to_owned(),
            }),
        }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> PolicyError {
        let path = &self.path;
        PolicyError::Field {
            line: line_of(self.text, self.node.span().start),
            field: if path.is_empty() { "the document".to_owned() } else { format!("`{path}`") },
            problem: problem.into(),
        }
    }

    fn expect(&self, kind: Kind) -> Result<(), PolicyError> {
        let found = self.node.kind();
        if found == kind {
            return Ok(());
        }
        Err(self.error(format!("expected {}, found {}", with_article(kind), with_article(found))))
    }

    /// Returns the text as it is written.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.node.raw()
    }

    pub(super) fn is_null(&self) -> bool {
        self.node.is_null()
    }

    /// Returns the members of an object with arbitrary names.
    pub(super) fn entries(&self) -> Result<BTreeMap<String, Self>, PolicyError> {
        self.expect(Kind::Object)?;
        let mut entries = BTreeMap::new();
        for (key, node) in self.node.members() {
            let name = key.as_str().unwrap_or_default().into_owned();
            let value = Self { text: self.text, node, path: self.member_path(&name) };
            if let Some(first) = entries.insert(name, value) {
                return Err(Self { node: key, ..first }.error("is written twice"));
            }
        }
        Ok(entries)
    }

    /// Returns the members of an object that may have these and no others.
    pub(super) fn members(&self, known: &[&str]) -> Result<BTreeMap<String, Self>, PolicyError> {
        let members = self.entries()?;
        match members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(members),
            Some((_, value)) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                Err(value.error(format!("unknown field; expected {}", known.join(", "))))
            }
        }
    }

    /// Returns the members of an object that must have these and no others.
    pub(super) fn exactly<const N: usize>(
        &self,
        known: [&str; N],
    ) -> Result<[Self; N], PolicyError> {
        let mut members = self.members(&known)?;
        let mut missing = None;
        let found = known.map(|name| {
            members.remove(name).unwrap_or_else(|| {
                missing = Some(name);
                self.clone()
            })
        });
        match missing {
            None => Ok(found),
            Some(name) => Err(self.missing(name)),
        }
    }

    pub(super) fn missing(&self, name: &str) -> PolicyError {
        self.error(format!("the field `{name}` is missing"))
    }

    pub(super) fn elements(&self) -> Result<Vec<Self>, PolicyError> {
        self.expect(Kind::Array)?;
        let element = |(index, node)| {
            let path = format!("{}[{index}]", self.path);
            Self { text: self.text, node, path }
        };
        Ok(self.node.elements().enumerate().map(element).collect())
    }

    pub(super) fn string(&self) -> Result<Cow<'a, str>, PolicyError> {
        self.expect(Kind::String)?;
        Ok(self.node.as_str().unwrap_or_default())
    }

    pub(super) fn base64(&self) -> Result<Vec<u8>, PolicyError> {
        let text = self.string()?;
        decode_base64(text.as_bytes()).map_err(|error| self.error(error.to_string()))
    }

    pub(super) fn integer(&self) -> Result<i64, PolicyError> {
        self.expect(Kind::Number)?;
        let text = std::str::from_utf8(self.raw()).unwrap_or_default();
        text.parse().map_err(|_| self.error("expected an integer"))
    }

    fn member_path(&self, name: &str) -> String {
        let is_word = |letter: char| letter.is_ascii_alphanumeric();
        if name.is_empty() || !name.chars().all(is_word) {
            return format!("{}[\"{}\"]", self.path, excerpt(name, SHOWN_CHARACTERS));
        }
        let name = excerpt(name, SHOWN_CHARACTERS);
        if self.path.is_empty() { name } else { format!("{}.{name}", self.path) }
    }
}

/// Quotes a value for a message.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", excerpt(text, SHOWN_CHARACTERS))
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

fn line_of(text: &[u8], offset: usize) -> usize {
    text.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
