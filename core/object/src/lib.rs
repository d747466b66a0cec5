//! Kubernetes objects as plain values: trees, metadata, JSON, hashes, times.
//!
//! An [`Object`] keeps every field it was read with, also those nobody here knows. What a field means
//! is decided by the rooms above.

mod base64;
mod building;
mod hash;
mod json;
mod kind;
pub mod known;
mod map;
mod object;
mod owner;
mod quote;
mod selector;
mod time;
mod value;
mod write;

pub use self::{
    base64::{decode_base64, encode_base64},
    hash::{base62_sha224, fnv64_hex, sha256_hex},
    json::{JsonError, JsonEvent, JsonFault, JsonReader, MAX_JSON_DEPTH, TrailingText},
    kind::{ApiKind, Kind, ObjectKey},
    map::Map,
    object::{MalformedObject, Object},
    owner::OwnerReference,
    quote::{escape, quote},
    selector::{REQUIREMENTS_LIMIT, Selector, SelectorError},
    time::Timestamp,
    value::{MAX_VALUE_DEPTH, Value, ValueError},
    write::{exact_json, go_json},
};
