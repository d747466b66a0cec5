//! An `olm.constraint` value as it was written, before anything is made of it.
//!
//! A document may state several kinds of constraint in one object, or none; whether that means
//! anything is decided in `resolve`. Constraints are kept in one list and refer to each other by
//! position, so that depth costs no stack.

mod decode;
mod text;

use crate::api::GroupVersionKind;
use crate::dialect::Dialect;
use crate::error::ConstraintFault;

/// Holds an `olm.constraint` value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintDocument {
    /// Holds the constraints; the first one is the value itself.
    pub(crate) constraints: Vec<WrittenConstraint>,
}

/// Holds one object that may state constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenConstraint {
    pub(crate) failure_message: String,
    pub(crate) cel: Option<String>,
    pub(crate) package: Option<WrittenPackage>,
    pub(crate) gvk: Option<GroupVersionKind>,
    pub(crate) compounds: [Option<WrittenCompound>; 3],
}

/// Holds a `package` object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenPackage {
    pub(crate) name: String,
    pub(crate) range: String,
    /// Says that the name was written as `name`, which upstream refuses.
    pub(crate) documented_name: bool,
}

/// Holds an `all`, `any` or `not` object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenCompound {
    /// Holds the positions of the parts, and of parts that an earlier, longer list had.
    slots: Vec<usize>,
    /// Counts the parts; nothing if there is no list.
    length: Option<usize>,
}

/// Names a compound constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompoundKind {
    All,
    Any,
    Not,
}

impl ConstraintDocument {
    /// Reads an `olm.constraint` value.
    pub fn parse(value_text: impl AsRef<[u8]>, dialect: Dialect) -> Result<Self, ConstraintFault> {
        decode::decode(value_text.as_ref(), dialect)
    }

    /// Returns the document as upstream's `json.Marshal` prints it.
    pub fn to_upstream_json(&self) -> String {
        text::to_upstream_json(self)
    }
}

impl WrittenConstraint {
    /// Returns the compound of a kind.
    pub(crate) fn compound(&self, kind: CompoundKind) -> Option<&WrittenCompound> {
        self.compounds[kind.position()].as_ref()
    }
}

impl WrittenCompound {
    /// Returns the positions of the parts.
    pub(crate) fn parts(&self) -> &[usize] {
        &self.slots[..self.length.unwrap_or(0)]
    }
}

impl CompoundKind {
    /// Lists the kinds in the order of precedence.
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Any, Self::Not];

    /// Returns the key that states the compound.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
            Self::Not => "not",
        }
    }

    fn position(self) -> usize {
        match self {
            Self::All => 0,
            Self::Any => 1,
            Self::Not => 2,
        }
    }
}
