//! Projections: a value decoded into a Go struct and printed again, with the struct as data.
//!
//! Decoding drops what the struct does not know and fills in what is missing; printing leaves out
//! fields that are empty, if the struct says so. There is no tree in between.

use std::collections::BTreeMap;

use operon_document::json::{Mismatch, Node, Shape, canonical, canonical_string, number_value};

use crate::json::{ObjectWriter, list};

/// What a value is decoded into.
#[derive(Debug)]
pub(crate) enum Form {
    /// A string.
    Text,
    /// A bool.
    Bool,
    /// A whole number of 32 bits.
    Integer,
    /// Any JSON, kept as it is.
    Raw,
    /// A list.
    List(&'static Form),
    /// An object with free keys and string values.
    TextMap,
    /// An object with these fields, in the order of their names.
    Struct(&'static [Slot]),
}

/// A field of a [`Form::Struct`].
#[derive(Debug)]
pub(crate) struct Slot {
    /// The name it is printed with.
    pub(crate) name: &'static str,
    form: &'static Form,
    keep_empty: bool,
}

impl Slot {
    /// A field that is printed only if it has a value. Upstream: a struct always has one.
    pub(crate) const fn optional(name: &'static str, form: &'static Form) -> Self {
        Self { name, form, keep_empty: false }
    }

    /// A field that is always printed.
    pub(crate) const fn required(name: &'static str, form: &'static Form) -> Self {
        Self { name, form, keep_empty: true }
    }
}

/// Returns a value as it is printed after having been decoded into `form`, or nothing if it is
/// empty: missing, `null`, `""`, `false`, `0`, or without elements.
///
/// The recursion is as deep as the form, not as the value.
pub(crate) fn project(node: Option<Node<'_>>, form: &Form) -> Result<Option<String>, Mismatch> {
    if let Some(node) = node {
        form.shape().check(node)?;
    }
    Ok(match form {
        Form::Text => node
            .and_then(Node::as_str)
            .filter(|text| !text.is_empty())
            .map(|text| canonical_string(&text)),
        Form::Bool => {
            node.and_then(Node::as_bool).filter(|value| *value).map(|_| "true".to_owned())
        }
        Form::Integer => node
            .and_then(|node| number_value(node.raw()))
            .filter(|value| *value != 0.0)
            .map(|value| value.to_string()),
        Form::Raw => node.map(canonical),
        Form::List(element) => project_list(node, element)?,
        Form::TextMap => node.and_then(project_map),
        Form::Struct(slots) => Some(project_struct(node, slots)?),
    })
}

fn project_list(node: Option<Node<'_>>, element: &Form) -> Result<Option<String>, Mismatch> {
    let mut elements = Vec::new();
    for (index, node) in node.into_iter().flat_map(Node::elements).enumerate() {
        let projected = project(Some(node), element);
        let projected = projected.map_err(|mismatch| inside(mismatch, &index.to_string()))?;
        elements.push(projected.unwrap_or_else(|| element.zero().to_owned()));
    }
    Ok(Some(elements).filter(|elements| !elements.is_empty()).map(list))
}

fn project_map(node: Node<'_>) -> Option<String> {
    let members: BTreeMap<_, _> = node
        .members()
        .map(|(key, value)| (key.as_str().unwrap_or_default(), value.as_str().unwrap_or_default()))
        .collect();
    if members.is_empty() {
        return None;
    }
    let mut writer = ObjectWriter::new();
    for (key, value) in &members {
        writer.text(key, value);
    }
    Some(writer.finish())
}

fn project_struct(node: Option<Node<'_>>, slots: &[Slot]) -> Result<String, Mismatch> {
    let mut writer = ObjectWriter::new();
    for slot in slots {
        let member = node.and_then(|node| node.field(slot.name));
        let projected = project(member, slot.form);
        match projected.map_err(|mismatch| inside(mismatch, slot.name))? {
            Some(value) => {
                writer.member(slot.name, &value);
            }
            None if slot.keep_empty => {
                writer.member(slot.name, slot.form.zero());
            }
            None => {}
        }
    }
    Ok(writer.finish())
}

impl Form {
    /// What the value itself must look like; its parts are checked when their turn comes.
    fn shape(&self) -> Shape {
        match self {
            Form::Text => Shape::Text,
            Form::Bool => Shape::Bool,
            Form::Integer => Shape::Integer(32),
            Form::Raw => Shape::Any,
            Form::List(_) => Shape::List(&Shape::Any),
            Form::TextMap => Shape::Map(&Shape::Text),
            Form::Struct(_) => Shape::Struct(&[]),
        }
    }

    /// What is printed where there must be something, but there is nothing.
    fn zero(&self) -> &'static str {
        match self {
            Form::Text => "\"\"",
            Form::Bool => "false",
            Form::Integer => "0",
            Form::Raw | Form::List(_) | Form::TextMap | Form::Struct(_) => "null",
        }
    }
}

fn inside(mut mismatch: Mismatch, parent: &str) -> Mismatch {
    let separator = if mismatch.path.is_empty() { "" } else { "." };
    mismatch.path = format!("{parent}{separator}{}", mismatch.path);
    mismatch
}
