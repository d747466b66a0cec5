//! A document as a flat list of nodes, and the few questions that are asked of it.
//!
//! Nodes stand in the order of the text; each knows where the next one behind its contents is, so
//! there is no tree to build, to walk recursively or to drop.

use super::{
    number::Number,
    resolve::{MERGE_TAG, Scalar, resolve},
};

/// A document as a flat list of nodes.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The nodes in the order of the text; the root is the first.
    pub(super) nodes: Vec<Node>,
    /// The texts of scalars, one behind the other.
    pub(super) pool: Vec<u8>,
    /// Whether any node is an alias.
    pub(super) has_aliases: bool,
}

/// A value, a key, or an alias of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Where its text starts.
    pub(super) start: u32,
    /// Where its text ends.
    pub(super) end: u32,
    /// The index of the first node that is not inside this one.
    pub(super) after: u32,
    /// What it is.
    pub(super) content: Content,
}

/// What a node is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text: its start and length in the pool.
    Text(u32, u32),
    /// The word `<<`: a merge key in front of a value, a text anywhere else.
    Merge,
    /// The nodes up to `after` that are not inside one another.
    Sequence,
    /// The same, alternately keys and values.
    Mapping,
    /// The node with this index once more.
    Alias(u32),
}

impl Document {
    /// Returns a node, or what it stands for when it is an alias.
    pub(super) fn resolved(&self, index: u32) -> (u32, Node) {
        let node = self.nodes[index as usize];
        match node.content {
            Content::Alias(target) => (target, self.nodes[target as usize]),
            _ => (index, node),
        }
    }

    /// Returns the indices of the nodes right inside a collection.
    pub(super) fn children(&self, index: u32) -> impl Iterator<Item = u32> {
        let after = self.nodes[index as usize].after;
        let mut next = index + 1;
        std::iter::from_fn(move || {
            let child = (next < after).then_some(next)?;
            next = self.nodes[child as usize].after;
            Some(child)
        })
    }

    /// Finds out what a scalar is, and puts its text into the pool if it is one.
    pub(super) fn scalar(
        &mut self,
        tag: Option<&str>,
        is_implicit: bool,
        value: &str,
    ) -> Result<Content, String> {
        if value == "<<" && (is_implicit || tag == Some(MERGE_TAG)) {
            return Ok(Content::Merge);
        }
        let (start, length) = match resolve(tag, is_implicit, value)? {
            Scalar::Null => return Ok(Content::Null),
            Scalar::Bool(value) => return Ok(Content::Bool(value)),
            Scalar::Number(number) => return Ok(Content::Number(number)),
            Scalar::Text => self.pool_text(value.as_bytes()),
            Scalar::Binary(bytes) => self.pool_text(&bytes),
        };
        Ok(Content::Text(start, length))
    }

    /// Puts a text into the pool; returns its start and length.
    pub(super) fn pool_text(&mut self, text: &[u8]) -> (u32, u32) {
        let start = self.pool.len();
        self.pool.extend_from_slice(text);
        (start as u32, text.len() as u32)
    }

    /// Returns a text of the pool.
    pub(super) fn pooled(&self, (start, length): (u32, u32)) -> &[u8] {
        &self.pool[start as usize..][..length as usize]
    }

    /// Returns what tells keys apart whose texts are equal, as Go's maps do; `.nan` is never
    /// equal to anything.
    pub(super) fn key_identity(&self, key: u32) -> Option<(u8, u64)> {
        match self.resolved(key).1.content {
            Content::Text(..) | Content::Merge => Some((0, 0)),
            Content::Bool(_) => Some((1, 0)),
            Content::Number(Number::Integer(_)) => Some((2, 0)),
            // Adding zero makes the two zeros one.
            Content::Number(Number::Float(value)) if !value.is_nan() => {
                Some((3, (value + 0.0).to_bits()))
            }
            Content::Number(Number::Float(_) | Number::Unsigned(_))
            | Content::Null
            | Content::Sequence
            | Content::Mapping
            | Content::Alias(_) => None,
        }
    }
}
