//! One level of a schema, ready to judge values.
//!
//! A node only says what is asked; how values are judged, filled in and dropped is said elsewhere.

use std::{collections::BTreeMap, sync::Arc};

use operon_object::Value;

use crate::{format::FormatRule, pattern::Pattern};

/// What a schema asks of one value.
#[derive(Default)]
pub(crate) struct Node {
    /// The types a value may have; empty for any.
    pub(crate) types: Vec<Arc<str>>,
    pub(crate) is_nullable: bool,
    /// The format, where an API server knows it for the type.
    pub(crate) format: Option<Format>,
    pub(crate) number: NumberRules,
    pub(crate) text: TextRules,
    pub(crate) list: ListRules,
    pub(crate) map: MapRules,
    /// The values that are allowed; empty for all.
    pub(crate) allowed: Vec<Value>,
    pub(crate) combinations: Option<Box<Combinations>>,
    pub(crate) default: Option<Value>,
    pub(crate) preserves_unknown_fields: bool,
    pub(crate) is_embedded_resource: bool,
}

/// A format by name; numbers have formats without a rule for texts.
pub(crate) struct Format {
    pub(crate) name: Arc<str>,
    pub(crate) rule: Option<FormatRule>,
}

#[derive(Default)]
pub(crate) struct NumberRules {
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) excludes_minimum: bool,
    pub(crate) excludes_maximum: bool,
    pub(crate) multiple_of: Option<f64>,
}

#[derive(Default)]
pub(crate) struct TextRules {
    pub(crate) min_length: Option<i64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) pattern: Option<Arc<Pattern>>,
}

#[derive(Default)]
pub(crate) struct ListRules {
    pub(crate) items: Items,
    pub(crate) additional_items: Additional,
    pub(crate) min_items: Option<i64>,
    pub(crate) max_items: Option<i64>,
    pub(crate) has_unique_items: bool,
}

/// What the elements of a list are.
#[derive(Default)]
pub(crate) enum Items {
    /// Anything.
    #[default]
    Any,
    /// Each is like this.
    All(Box<Node>),
    /// The first is like the first, and so on.
    Each(Vec<Node>),
}

#[derive(Default)]
pub(crate) struct MapRules {
    pub(crate) properties: BTreeMap<Arc<str>, Node>,
    pub(crate) additional: Additional,
    pub(crate) patterns: Vec<(Arc<Pattern>, Node)>,
    pub(crate) required: Vec<Arc<str>>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) dependencies: BTreeMap<Arc<str>, Dependency>,
}

/// What the entries are that nobody names.
#[derive(Default)]
pub(crate) enum Additional {
    /// Nothing is said about them.
    #[default]
    Unsaid,
    /// They are allowed, or not.
    Allowed(bool),
    /// Each is like this.
    Like(Box<Node>),
}

/// What must hold where a property is there.
pub(crate) enum Dependency {
    /// The map is like this.
    Like(Box<Node>),
    /// These properties are there too.
    Names(Vec<Arc<str>>),
}

#[derive(Default)]
pub(crate) struct Combinations {
    pub(crate) all_of: Vec<Node>,
    pub(crate) any_of: Vec<Node>,
    pub(crate) one_of: Vec<Node>,
    pub(crate) not: Option<Node>,
}

impl Node {
    /// Tells whether a type is among those allowed.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|given| &**given == name)
    }

    /// Returns what a schema says about an entry of a map; nothing where it is unknown or any.
    pub(crate) fn entry(&self, name: &str) -> Option<&Self> {
        match self.map.properties.get(name) {
            Some(property) => Some(property),
            None => self.map.additional.node(),
        }
    }

    /// Returns what a schema says about every element of a list.
    pub(crate) fn element(&self) -> Option<&Self> {
        match &self.list.items {
            Items::All(node) => Some(node),
            Items::Any | Items::Each(_) => None,
        }
    }
}

impl Additional {
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Self::Like(node) => Some(node),
            Self::Unsaid | Self::Allowed(_) => None,
        }
    }
}
