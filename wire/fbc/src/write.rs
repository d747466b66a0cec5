//! Writing a catalog: the same documents always give the same bytes.
//!
//! Documents are sorted by package, then the package itself, its channels, bundles, others and
//! deprecations, each by name. JSON keeps upstream's order of fields; YAML is sorted by key, as
//! upstream's is.

use std::{error::Error, fmt};

use operon_document::json::{JsonError, Node, Tape, write_pretty};

mod yaml;

pub use self::yaml::yaml_text;

/// Spaces for each level of JSON, as upstream indents it.
const JSON_INDENT: usize = 4;

/// The notation a catalog is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// JSON objects one after another.
    Json,
    /// YAML documents, each behind a line `---`.
    Yaml,
}

/// A document handed to the writer is not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    index: usize,
    error: JsonError,
}

impl fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "document {} cannot be written: {}", self.index, self.error)
    }
}

impl Error for WriteError {}

/// Writes documents, given as JSON texts, in their order.
pub fn write_documents<T: AsRef<str>>(
    documents: &[T],
    format: OutputFormat,
) -> Result<String, WriteError> {
    let mut sorted = Vec::with_capacity(documents.len());
    let mut tape = Tape::new();
    for (index, document) in documents.iter().enumerate() {
        let text = document.as_ref();
        let root = tape.read(text.as_bytes()).map_err(|error| WriteError { index, error })?;
        sorted.push((sort_key(root), index, text));
    }
    sorted.sort();
    let mut out = Vec::new();
    for (key, index, text) in sorted {
        let root = tape.read(text.as_bytes()).map_err(|error| WriteError { index, error })?;
        match format {
            OutputFormat::Json => {
                let depth = if key.schema == "olm.deprecations" { 4 } else { 3 };
                write_pretty(
                    root,
                    JSON_INDENT,
                    &|level, name| field_rank(level, depth, name),
                    &mut out,
                );
                out.push(b'\n');
            }
            OutputFormat::Yaml => {
                out.extend_from_slice(b"---\n");
                out.extend_from_slice(yaml_text(root).as_bytes());
            }
        }
    }
    Ok(String::from_utf8(out).expect("bug: the writers emit UTF-8 only"))
}

/// Where a document stands in a written catalog.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    /// Documents without a package come last.
    has_no_package: bool,
    package: String,
    group: u8,
    /// Set for others only, which are grouped by schema.
    other_schema: String,
    name: String,
    schema: String,
}

fn sort_key(root: Node<'_>) -> SortKey {
    let text = |name| root.field(name).and_then(Node::as_str).unwrap_or_default().into_owned();
    let (schema, name) = (text("schema"), text("name"));
    let package = if schema == "olm.package" { name.clone() } else { text("package") };
    let group = match schema.as_str() {
        "olm.package" => 0,
        "olm.channel" => 1,
        "olm.bundle" => 2,
        "olm.deprecations" => 4,
        _ => 3,
    };
    let other_schema = if group == 3 { schema.clone() } else { String::new() };
    SortKey { has_no_package: package.is_empty(), package, group, other_schema, name, schema }
}

/// Ranks the fields of a document as upstream's structs order them, down to `deepest`; the values of
/// properties beneath are sorted by key.
fn field_rank(depth: usize, deepest: usize, name: &str) -> usize {
    const ORDER: &[&str] = &[
        "schema",
        "name",
        "package",
        "defaultChannel",
        "icon",
        "description",
        "image",
        "entries",
        "replaces",
        "skips",
        "skipRange",
        "type",
        "value",
        "reference",
        "message",
        "properties",
        "relatedImages",
    ];
    if depth > deepest {
        return 0;
    }
    ORDER.iter().position(|field| *field == name).unwrap_or(ORDER.len())
}
