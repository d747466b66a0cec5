//! JSON and YAML documents: splitting a stream, reading with places, re-encoding canonically.
//!
//! Everything Operon reads arrives as a stream of documents that upstream's tools read with Go's
//! JSON and YAML libraries. This room reproduces what those libraries accept and mean, and keeps
//! the byte range of every value, so that a message can always point at its place. It knows no
//! schema: what a document says is decided by the rooms above.

mod base64;
pub mod json;
mod printable;
pub mod stream;
pub mod yaml;

pub use base64::{Base64Error, decode_base64, encode_base64};
pub use printable::{
    escape_json, has_workflow_command, is_unprintable, starts_pipeline_command,
    starts_workflow_command,
};
