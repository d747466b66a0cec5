//! JSON text read once into a flat tape of values, with the byte range of each.
//!
//! The tape makes every later question (members, elements, skipping a body of a megabyte) cheap,
//! and keeps no copy of the text. Rules are those of Go's `encoding/json`, which catalogs were
//! written against; there is no mutable tree here.

mod canonical;
mod literal;
mod node;
mod number;
mod shape;
mod tape;

pub(crate) use self::literal::skip_string;
pub use self::{
    canonical::{
        alphabetical, canonical, canonical_string, write_canonical, write_pretty, write_string,
    },
    node::{Elements, Kind, Members, Node},
    number::{format_float, number_value},
    shape::{Field, Mismatch, Shape, byte_value},
    tape::{JsonError, MAX_DEPTH, MAX_DOCUMENT_BYTES, Tape},
};
