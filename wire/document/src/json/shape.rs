//! Shapes: what Go would accept when it decodes a value into a struct, as data.
//!
//! A shape only says whether a value fits; reading the fields is the caller's business. `null`
//! fits everywhere and unknown members are passed over, as in Go.

use std::ops::Range;

use super::{
    node::{Kind, Node},
    number::number_value,
};
use crate::decode_base64;

/// The form a value must have.
#[derive(Debug)]
pub enum Shape {
    /// Anything at all.
    Any,
    /// A string.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number that fits the given number of bits, sign included.
    Integer(u32),
    /// A string holding base64.
    Base64,
    /// An array whose elements have this shape.
    List(&'static Shape),
    /// An object with free keys whose values have this shape.
    Map(&'static Shape),
    /// An object with these fields, matched without regard to case.
    Struct(&'static [Field]),
}

/// A named member of a [`Shape::Struct`].
#[derive(Debug)]
pub struct Field {
    /// The field's name as it is documented.
    pub name: &'static str,
    /// The form of its value.
    pub shape: &'static Shape,
}

/// The first place where a value does not have its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where the offending value is.
    pub span: Range<usize>,
    /// The fields that lead to it, joined by dots; empty for the value itself.
    pub path: String,
    /// What should be there, such as "a string".
    pub expected: &'static str,
    /// What is there, such as "number".
    pub found: String,
}

impl Shape {
    /// Checks a value against the shape.
    pub fn check(&self, node: Node<'_>) -> Result<(), Mismatch> {
        if node.is_null() {
            return Ok(());
        }
        match self {
            Shape::Any => Ok(()),
            Shape::Text => expect_kind(node, Kind::String, "a string"),
            Shape::Bool => expect_kind(node, Kind::Bool, "true or false"),
            Shape::Integer(bits) => check_integer(node, *bits),
            Shape::Base64 => check_base64(node),
            Shape::List(element) => {
                expect_kind(node, Kind::Array, "a list")?;
                for (index, value) in node.elements().enumerate() {
                    element.check(value).map_err(|mismatch| mismatch.inside(&index.to_string()))?;
                }
                Ok(())
            }
            Shape::Map(value_shape) => {
                expect_kind(node, Kind::Object, "an object")?;
                for (key, value) in node.members() {
                    value_shape
                        .check(value)
                        .map_err(|mismatch| mismatch.inside(&key.as_str().unwrap_or_default()))?;
                }
                Ok(())
            }
            Shape::Struct(fields) => {
                expect_kind(node, Kind::Object, "an object")?;
                for (key, value) in node.members() {
                    if let Some(field) = fields.iter().find(|field| key.folds_to(field.name)) {
                        field.shape.check(value).map_err(|mismatch| mismatch.inside(field.name))?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Mismatch {
    fn inside(mut self, parent: &str) -> Self {
        self.path = if self.path.is_empty() {
            parent.to_owned()
        } else {
            format!("{parent}.{}", self.path)
        };
        self
    }
}

fn expect_kind(node: Node<'_>, kind: Kind, expected: &'static str) -> Result<(), Mismatch> {
    if node.kind() == kind {
        return Ok(());
    }
    Err(mismatch(node, expected, node.kind().name().to_owned()))
}

fn mismatch(node: Node<'_>, expected: &'static str, found: String) -> Mismatch {
    Mismatch { span: node.span(), path: String::new(), expected, found }
}

fn check_integer(node: Node<'_>, bits: u32) -> Result<(), Mismatch> {
    let expected = "a whole number";
    expect_kind(node, Kind::Number, expected)?;
    let literal = String::from_utf8_lossy(node.raw());
    let limit = 1i128 << (bits - 1);
    // Upstream: documents are re-encoded before they are decoded, so `1.0` and `1e3` are whole.
    let value = literal.parse::<f64>().unwrap_or(f64::NAN);
    let fits =
        value.fract() == 0.0 && value.abs() < 1e21 && (-limit..limit).contains(&(value as i128));
    if fits { Ok(()) } else { Err(mismatch(node, expected, format!("number {literal}"))) }
}

fn check_base64(node: Node<'_>) -> Result<(), Mismatch> {
    byte_value(node).map(|_| ())
}

/// Returns the bytes a value stands for: base64 text, or a list of numbers from 0 to 255.
///
/// Upstream: Go reads either into a slice of bytes.
pub fn byte_value(node: Node<'_>) -> Result<Vec<u8>, Mismatch> {
    let expected = "a base64 string";
    if node.is_null() {
        return Ok(Vec::new());
    }
    if node.kind() == Kind::Array {
        return node.elements().map(small_number).collect();
    }
    expect_kind(node, Kind::String, expected)?;
    let text = node.as_str().unwrap_or_default();
    decode_base64(text.as_bytes()).map_err(|error| mismatch(node, expected, error.to_string()))
}

fn small_number(node: Node<'_>) -> Result<u8, Mismatch> {
    if node.is_null() {
        return Ok(0);
    }
    let number = number_value(node.raw())
        .filter(|number| number.fract() == 0.0 && (0.0..256.0).contains(number));
    let found = || mismatch(node, "a number from 0 to 255", node.kind().name().to_owned());
    number.filter(|_| node.kind() == Kind::Number).map(|number| number as u8).ok_or_else(found)
}
