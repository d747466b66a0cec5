//! Records: small JSON files that begin with the hash of the rest, so that a torn one is never believed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use operon_object::{Value, map};
use operon_oci::Digest;

use crate::{PullError, cache::write_privately};

/// The most bytes of a record: a million paths of a hundred bytes.
const MAX_RECORD_BYTES: u64 = 256 << 20;

/// What is known of a tree without looking at its files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// Where it came from first.
    pub(crate) reference: String,
    /// The digest of the image's manifest, or of the archive.
    pub(crate) digest: Digest,
    /// The labels of the image.
    pub(crate) labels: BTreeMap<String, String>,
    /// What was left out, for people.
    pub(crate) notes: Vec<String>,
    /// The files below `contents`, with their sizes.
    pub(crate) files: BTreeMap<String, u64>,
}

impl Record {
    pub(super) fn to_value(&self) -> Value {
        let size = |size: &u64| Value::Integer(i64::try_from(*size).unwrap_or(i64::MAX));
        map! {
            "reference" => self.reference.as_str(),
            "digest" => self.digest.to_string(),
            "labels" => Value::map(self.labels.iter().map(|(name, text)| (name, Value::text(text)))),
            "notes" => Value::texts(&self.notes),
            "files" => Value::map(self.files.iter().map(|(path, bytes)| (path, size(bytes)))),
        }
    }

    pub(super) fn of_value(value: &Value) -> Option<Self> {
        let label = |(name, text): (&str, &Value)| (name.to_owned(), text.str().to_owned());
        let file = |(path, size): (&str, &Value)| {
            Some((path.to_owned(), u64::try_from(size.as_integer()?).ok()?))
        };
        Some(Self {
            reference: value.get("reference").str().to_owned(),
            digest: Digest::parse(value.get("digest").str()).ok()?,
            labels: value.get("labels").entries().map(label).collect(),
            notes: value.get("notes").iter_texts().map(str::to_owned).collect(),
            files: value.get("files").entries().map(file).collect::<Option<_>>()?,
        })
    }

    /// Returns how many bytes of the disk the files and their directories take.
    pub(crate) fn bytes(&self) -> u64 {
        let files: u64 = self.files.values().map(|size| disk_bytes(*size)).sum();
        let mut directories = BTreeSet::new();
        for path in self.files.keys() {
            let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
            // A directory that is known has known parents.
            let _ = parents.rev().take_while(|parent| directories.insert(*parent)).count();
        }
        files + directories.len() as u64 * BLOCK_BYTES
    }
}

/// The unit in which a disk gives space to files and directories.
const BLOCK_BYTES: u64 = 4 << 10;

/// Returns how many bytes of the disk a file takes.
pub(crate) fn disk_bytes(size: u64) -> u64 {
    size.next_multiple_of(BLOCK_BYTES).max(BLOCK_BYTES)
}

/// Writes a record.
pub(super) fn write(path: &Path, value: &Value) -> Result<(), PullError> {
    let text = value.to_string();
    let hash = format!("{}\n", blake3::hash(text.as_bytes()).to_hex());
    write_privately(path, &[hash.as_bytes(), text.as_bytes()])
        .map_err(PullError::disk("write", path))
}

/// Reads a record; `None` when there is none, or it is damaged.
pub(super) fn read(path: &Path) -> Option<Value> {
    if fs::metadata(path).ok()?.len() > MAX_RECORD_BYTES {
        return None;
    }
    let text = fs::read(path).ok()?;
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let (hash, rest) = (&text[..end], &text[end + 1..]);
    if blake3::hash(rest).to_hex().as_bytes() != hash {
        return None;
    }
    Value::parse_json(rest).ok()
}

/// Finds the files below a directory, with their sizes; `None` when something else is there.
pub(super) fn files_below(root: &Path) -> Option<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    let mut pending: Vec<(PathBuf, String)> = vec![(root.to_owned(), String::new())];
    while let Some((directory, prefix)) = pending.pop() {
        for entry in fs::read_dir(directory).ok()? {
            let entry = entry.ok()?;
            let path = format!("{prefix}{}", entry.file_name().to_str()?);
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                pending.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                files.insert(path, entry.metadata().ok()?.len());
            } else {
                return None;
            }
        }
    }
    Some(files)
}
