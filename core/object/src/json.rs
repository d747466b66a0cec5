//! JSON text, as Go's `encoding/json` reads it.
//!
//! Reading yields events, so that every value type of the house is built by the same reader; which
//! of them keeps integers apart from doubles is not decided here.

mod error;
mod reader;
mod text;

pub use self::{
    error::{JsonError, JsonFault},
    reader::{JsonEvent, JsonReader},
};

/// Limits how deeply arrays and objects nest. Upstream: `encoding/json` stops at the same depth,
/// so no catalog that was ever served is deeper.
pub const MAX_JSON_DEPTH: usize = 10_000;

/// Says what to do with text after the first JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailingText {
    /// Refuses it, as `json.Unmarshal` does.
    Refuse,
    /// Leaves it unread, as `json.Decoder` does.
    Ignore,
}
