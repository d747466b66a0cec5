//! YAML read as upstream's tools read it, into JSON text that knows the place of every value.
//!
//! Catalogs were written against `sigs.k8s.io/yaml` on `go.yaml.in/yaml/v2`: YAML 1.1 scalars
//! (`yes` is true, `0644` is 420), merge keys, a refused `%YAML 1.2`. The text is cut into events
//! by `libyaml-safer`, a sister of the scanner upstream uses; where the two sisters disagree, the
//! `repair` and `upstream` rooms side with upstream. Only the first document of a text is read, and
//! nothing here writes YAML.
//!
//! The way of a document: `intake` settles the encoding, `compose` turns events into a flat
//! list of nodes with their scalars resolved, `aliases` checks what expansion would cost, and
//! `output` writes JSON with sorted keys.

mod aliases;
mod brackets;
mod compose;
mod composer;
mod document;
mod error;
mod intake;
mod literal;
mod number;
mod output;
mod places;
mod repair;
mod resolve;
mod tags;
mod timestamp;
mod upstream;

use std::ops::Range;

pub use self::{
    aliases::{
        FREE_ALIAS_REPEATS, FREE_ALIAS_VISITS, LARGE_DOCUMENT_ALIAS_SHARE, LARGE_DOCUMENT_VISITS,
        SMALL_DOCUMENT_ALIAS_SHARE, SMALL_DOCUMENT_VISITS,
    },
    brackets::MAX_BRACKET_LOOKS,
    error::YamlError,
    places::SourceMap,
    repair::MAX_RESCANNED_BYTES,
    upstream::MAX_TAG_DIRECTIVES,
};
use self::{error::Problem, intake::Intake};

/// How deep brackets, and separately indented blocks, may nest.
///
/// Upstream: go-yaml stops at the same depth. Nothing here recurses, so the limit guards callers.
pub const MAX_YAML_DEPTH: usize = 10_000;

/// The longest text that is read.
///
/// Places are kept in 32 bits; the largest public catalog, all its documents together, is less
/// than half of this.
pub const MAX_YAML_BYTES: usize = 256 << 20;

/// JSON text may grow to this many times the YAML text before conversion gives up.
///
/// Without aliases it cannot: the worst character, `<`, becomes six bytes.
pub const MAX_JSON_GROWTH: usize = 8;

/// JSON text up to this size is never refused, however short the YAML text is.
///
/// Go-yaml counts the nodes that aliases repeat, not their bytes, so a long scalar repeated
/// a hundred thousand times would pass its rule.
pub const SMALLEST_JSON_LIMIT: usize = 64 << 20;

/// How a mapping that sets the same key twice is treated. The last value wins in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateKeys {
    /// Says nothing, as upstream's `YAMLToJSON`: `{a: 1, a: 2}` is `{"a":2}`.
    #[default]
    LastWins,
    /// Lists the keys that upstream's strict reading refuses, those set again by a merge included.
    Report,
}

/// The choices of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct YamlOptions {
    /// What becomes of repeated keys.
    pub duplicate_keys: DuplicateKeys,
    /// Whether `<`, `>` and `&` are written as `\u003c`, `\u003e` and `\u0026`, as upstream does.
    pub html_escape: bool,
}

/// One YAML document as JSON text, and where each piece of it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The compact JSON text, its keys sorted by their bytes.
    pub json: Vec<u8>,
    /// The place in the YAML text of every value and key of the JSON text.
    pub places: SourceMap,
    /// The repeated keys in the order of the text; empty unless [`DuplicateKeys::Report`] is asked.
    pub duplicates: Vec<DuplicateKey>,
}

/// A key that a mapping sets although it is set already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key, as it reads in JSON.
    pub key: String,
    /// Where the key was set first, as a byte range of the YAML text.
    pub first: Range<usize>,
    /// Where it was set again; inside an anchored mapping when a merge key brought it in.
    pub second: Range<usize>,
}

/// Converts the first document of `text`; a text without any document is `null`.
///
/// The text may be UTF-8, or UTF-16 when it starts with a byte order mark.
pub fn to_json(text: &[u8], options: &YamlOptions) -> Result<Converted, YamlError> {
    if text.len() > MAX_YAML_BYTES {
        let message = format!("the text is longer than {MAX_YAML_BYTES} bytes; split it up");
        return Err(YamlError::unplaced(message));
    }
    let intake = Intake::new(text);
    convert(&intake, options).map_err(|problem| intake.place_problem(problem))
}

fn convert(intake: &Intake<'_>, options: &YamlOptions) -> Result<Converted, Problem> {
    let document = compose::compose(intake)?;
    aliases::check(&document)?;
    output::write(document, intake, options)
}
