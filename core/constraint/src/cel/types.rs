//! The types that expressions have before they are evaluated.
//!
//! `any` and `dyn` both mean "known only at run time"; they are kept apart because a macro takes
//! a `dyn` range but refuses an `any` one.

use std::fmt::{self, Write};
use std::rc::Rc;

use super::limit::{Limit, MAX_TYPE_NESTING};

/// Names a static type.
#[derive(Clone, Debug)]
pub(super) enum Type {
    /// Anything, as `dyn(x)` or a field of an `any`.
    Dyn,
    /// Anything, as the value of a property.
    Any,
    /// The type of `null`.
    Null,
    /// `bool`, `int` and so on.
    Scalar(Scalar),
    /// A scalar or null, as `google.protobuf.Int64Value{}`.
    Wrapper(Scalar),
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `google.protobuf.Empty`, the only message without a meaning of its own.
    Empty,
    /// A list, a map, or the type of a type.
    Composite(Rc<Composite>),
    /// A type that is not known yet, as the elements of `[]`.
    Variable(usize),
}

/// Names a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Bytes,
    Double,
    Int,
    String,
    Uint,
}

/// Holds a type made of other types.
#[derive(Debug)]
pub(super) struct Composite {
    pub(super) constructor: Constructor,
    pub(super) parameters: Vec<Type>,
    depth: usize,
}

/// Names a way to make a type of other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constructor {
    /// `list(element)`.
    List,
    /// `map(key, value)`.
    Map,
    /// `type(inner)`, the type of `type(1)`.
    TypeOf,
}

impl Type {
    pub(super) const BOOL: Self = Self::Scalar(Scalar::Bool);
    pub(super) const INT: Self = Self::Scalar(Scalar::Int);
    pub(super) const STRING: Self = Self::Scalar(Scalar::String);

    /// Makes a type of other types.
    pub(super) fn composite(
        constructor: Constructor,
        parameters: Vec<Self>,
    ) -> Result<Self, Limit> {
        let deepest = parameters.iter().map(Self::depth).max();
        let depth = deepest.unwrap_or(0) + 1;
        if depth > MAX_TYPE_NESTING {
            return Err(Limit::TypeNesting);
        }
        Ok(Self::Composite(Rc::new(Composite { constructor, parameters, depth })))
    }

    /// Makes the type of lists of the element type.
    pub(super) fn list(element: Self) -> Result<Self, Limit> {
        Self::composite(Constructor::List, vec![element])
    }

    /// Makes the type of maps from the key type to the value type.
    pub(super) fn map(key: Self, value: Self) -> Result<Self, Limit> {
        Self::composite(Constructor::Map, vec![key, value])
    }

    /// Makes the type of the type.
    pub(super) fn type_of(inner: Self) -> Result<Self, Limit> {
        Self::composite(Constructor::TypeOf, vec![inner])
    }

    /// Tells whether the type is known only at run time.
    pub(super) fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    /// Tells whether values of the type are types themselves.
    pub(super) fn is_type_of(&self) -> bool {
        matches!(self, Self::Composite(composite) if composite.constructor == Constructor::TypeOf)
    }

    /// Tells whether null is also a value of the type.
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::Dyn
            | Self::Any
            | Self::Null
            | Self::Wrapper(_)
            | Self::Duration
            | Self::Timestamp
            | Self::Empty => true,
            Self::Scalar(_) | Self::Composite(_) | Self::Variable(_) => false,
        }
    }

    /// Writes the type for a message, cut off if it is long.
    pub(super) fn describe(&self) -> String {
        let mut writer = BoundedText { text: String::new(), room: 200 };
        if write!(writer, "{self}").is_err() {
            writer.text.push('…');
        }
        writer.text
    }

    fn depth(&self) -> usize {
        match self {
            Self::Composite(composite) => composite.depth,
            Self::Dyn
            | Self::Any
            | Self::Null
            | Self::Scalar(_)
            | Self::Wrapper(_)
            | Self::Duration
            | Self::Timestamp
            | Self::Empty
            | Self::Variable(_) => 0,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn | Self::Variable(_) => formatter.write_str("dyn"),
            Self::Any => formatter.write_str("any"),
            Self::Null => formatter.write_str("null"),
            Self::Scalar(scalar) => formatter.write_str(scalar.name()),
            Self::Wrapper(scalar) => write!(formatter, "wrapper({})", scalar.name()),
            Self::Duration => formatter.write_str("duration"),
            Self::Timestamp => formatter.write_str("timestamp"),
            Self::Empty => formatter.write_str("google.protobuf.Empty"),
            Self::Composite(composite) => {
                formatter.write_str(composite.constructor.name())?;
                for (index, parameter) in composite.parameters.iter().enumerate() {
                    let before = if index == 0 { "(" } else { ", " };
                    write!(formatter, "{before}{parameter}")?;
                }
                formatter.write_str(")")
            }
        }
    }
}

impl Scalar {
    /// Returns the name of the scalar type in rules.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Int => "int",
            Self::String => "string",
            Self::Uint => "uint",
        }
    }
}

impl Constructor {
    /// Returns the name of the constructor in rules.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Map => "map",
            Self::TypeOf => "type",
        }
    }
}

/// Takes text until there is no room. Types share their parts, so their text can be exponentially
/// longer than the rule.
struct BoundedText {
    text: String,
    room: usize,
}

impl Write for BoundedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > self.room {
            return Err(fmt::Error);
        }
        self.room -= text.len();
        self.text.push_str(text);
        Ok(())
    }
}
