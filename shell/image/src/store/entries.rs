//! What the cache holds, and making it smaller: what was used longest ago goes first.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    Record, Store, disk_bytes, record,
    tree::{LOCK, RECORD, TreeKind},
    workspace::is_taken,
};
use crate::{CacheDirectory, PullError};

/// How large the cache may grow: fifty catalogs of the largest size known.
pub const MAX_CACHE_BYTES: u64 = 10 << 30;

/// The environment variable that says how large the cache may grow.
const LIMIT_VARIABLE: &str = "OPERON_CACHE_LIMIT";

/// How old a file must be to be left behind: writing one takes seconds.
const WRITING_TIME: Duration = Duration::from_secs(3600);

/// What an entry of the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// The files of a catalog image.
    Catalog,
    /// The files of a bundle image.
    Bundle,
    /// A manifest, an index or a configuration.
    Document,
    /// The image of a catalog that was read.
    Snapshot,
    /// The documents of a catalog that a server gave.
    Served,
}

impl EntryKind {
    /// Returns the word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Bundle => "bundle",
            Self::Document => "document",
            Self::Snapshot => "snapshot",
            Self::Served => "served",
        }
    }
}

/// Something that the cache holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheEntry {
    /// What it is.
    pub kind: EntryKind,
    /// Where it came from; empty when that is not known.
    pub reference: String,
    /// What names its content.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
    /// When it was last used, or written.
    pub last_used: SystemTime,
    path: PathBuf,
}

/// What is to be removed from the cache. What was used longest ago goes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneWish {
    /// Removes things until no more than so many bytes are left; with 0, everything goes.
    pub limit: Option<u64>,
    /// Removes what was not used for so long.
    pub unused_for: Option<Duration>,
}

/// What pruning did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// What was removed.
    pub removed: Vec<CacheEntry>,
    /// What would have been removed, had nobody used it.
    pub in_use: Vec<CacheEntry>,
    /// How many bytes are left.
    pub left_bytes: u64,
}

/// Reads how large the cache may grow: `OPERON_CACHE_LIMIT`, or [`MAX_CACHE_BYTES`].
pub fn cache_limit() -> Result<u64, PullError> {
    match env::var(LIMIT_VARIABLE) {
        Ok(text) if !text.is_empty() => parse_cache_limit(&text)
            .map_err(|problem| PullError::Environment { variable: LIMIT_VARIABLE, problem }),
        _ => Ok(MAX_CACHE_BYTES),
    }
}

/// Reads a number of bytes, such as `500Mi`, `20Gi` or `20GiB`.
pub fn parse_cache_limit(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 5] =
        [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("Ti", 1 << 40), ("", 1)];
    let wrong = || format!("`{text}` is no size; write a number of bytes, or one such as `20Gi`");
    let bare = text.trim();
    let bare = bare.strip_suffix('B').unwrap_or(bare);
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| bare.strip_suffix(name).map(|number| (number, unit)))
        .ok_or_else(wrong)?;
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(*unit).ok_or_else(wrong)
}

impl CacheDirectory {
    /// Returns what the cache holds, what was used last first.
    pub fn entries(&self) -> Vec<CacheEntry> {
        let store = Store::new(self);
        let mut entries = Vec::new();
        for (path, name) in listed(&store.trees()) {
            entries.extend(tree_entry(path, &name));
        }
        for (path, name) in listed(&store.root.join("blobs")) {
            // `sha256-<hex>`, perhaps with a scope behind it.
            let digest: Vec<&str> = name.split('-').take(2).collect();
            entries.extend(file_entry(EntryKind::Document, path, digest.join(":")));
        }
        for (path, name) in listed(&self.root().join("snapshots")) {
            let digest = name.split('-').next().unwrap_or_default().to_owned();
            entries.extend(file_entry(EntryKind::Snapshot, path, digest));
        }
        for (path, name) in listed(&self.documents()) {
            let digest = name.split('.').next().unwrap_or_default().to_owned();
            entries.extend(file_entry(EntryKind::Served, path, digest));
        }
        entries.sort_by(|left, right| {
            right.last_used.cmp(&left.last_used).then_with(|| left.path.cmp(&right.path))
        });
        entries
    }

    /// Removes what was used longest ago until no more than so many bytes are left, and what killed
    /// processes left behind. What somebody uses stays.
    pub fn prune(&self, limit: u64) -> Result<Pruned, PullError> {
        self.prune_by(PruneWish { limit: Some(limit), unused_for: None }, SystemTime::now())
    }

    /// Removes what is to be removed, and what killed processes left behind. What somebody uses stays.
    pub fn prune_by(&self, wish: PruneWish, now: SystemTime) -> Result<Pruned, PullError> {
        let store = Store::new(self);
        store.sweep();
        for directory in ["images/blobs", "images/references", "snapshots", "catalogs"] {
            sweep_files(&self.root().join(directory));
        }
        let entries = self.entries();
        let mut pruned = Pruned {
            left_bytes: entries.iter().map(|entry| entry.size).sum(),
            ..Pruned::default()
        };
        for entry in entries.into_iter().rev() {
            let unused_for = now.duration_since(entry.last_used).unwrap_or_default();
            let is_too_old = wish.unused_for.is_some_and(|longest| unused_for >= longest);
            let is_too_much =
                wish.limit.is_some_and(|limit| limit == 0 || pruned.left_bytes > limit);
            if !is_too_old && !is_too_much {
                continue;
            }
            let is_removed = match entry.kind {
                EntryKind::Catalog | EntryKind::Bundle => store.remove_unused(&entry.path)?,
                // The file is opened again for its documents as long as the catalog is in use.
                EntryKind::Served if is_in_use(&entry.path) => false,
                // Open files and maps stay whole when their name goes.
                EntryKind::Document | EntryKind::Snapshot | EntryKind::Served => {
                    fs::remove_file(&entry.path).is_ok()
                }
            };
            if is_removed {
                pruned.left_bytes -= entry.size;
                pruned.removed.push(entry);
            } else {
                pruned.in_use.push(entry);
            }
        }
        if wish.limit == Some(0) && pruned.in_use.is_empty() {
            // Notes about things that are gone: what references stood for, and how files looked.
            for notes in [store.root.join("references"), self.root().join("catalogs")] {
                for (path, _) in listed(&notes) {
                    let _ = fs::remove_file(path);
                }
            }
        }
        Ok(pruned)
    }
}

/// Removes what was written, but never moved into place, because its process was killed.
fn sweep_files(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_temporary = entry.path().extension().is_some_and(|extension| extension == "tmp");
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if is_temporary && age.is_some_and(|age| age > WRITING_TIME) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns `true` if a file is locked by those who use it.
fn is_in_use(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| is_taken(&file.try_lock()))
}

fn listed(directory: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        (!name.starts_with('.')).then(|| (entry.path(), name))
    };
    entries.flatten().filter_map(named).collect()
}

fn tree_entry(path: PathBuf, name: &str) -> Option<CacheEntry> {
    let kind = match name.rsplit('-').next() {
        Some(kind) if kind == TreeKind::Catalog.name() => EntryKind::Catalog,
        _ => EntryKind::Bundle,
    };
    let used = fs::metadata(path.join(LOCK)).or_else(|_| fs::metadata(&path)).ok()?;
    let record = record::read(&path.join(RECORD)).as_ref().and_then(Record::of_value);
    Some(CacheEntry {
        kind,
        size: record.as_ref().map_or(0, Record::bytes),
        digest: record.as_ref().map_or_else(String::new, |record| record.digest.to_string()),
        reference: record.map_or_else(String::new, |record| record.reference),
        last_used: used.modified().ok()?,
        path,
    })
}

fn file_entry(kind: EntryKind, path: PathBuf, digest: String) -> Option<CacheEntry> {
    let metadata = fs::metadata(&path).ok()?;
    Some(CacheEntry {
        kind,
        reference: String::new(),
        digest,
        size: disk_bytes(metadata.len()),
        last_used: metadata.modified().ok()?,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        let claims = [
            ("0", Some(0)),
            ("1234", Some(1234)),
            ("20Gi", Some(20 << 30)),
            (" 500 Mi ", Some(500 << 20)),
            ("2GiB", Some(2 << 30)),
            ("7B", Some(7)),
            ("", None),
            ("Gi", None),
            ("-1", None),
            ("1.5Gi", None),
            ("10G", None),
            ("99999999999Ti", None),
        ];
        for (text, expected) in claims {
            assert_eq!(parse_cache_limit(text).ok(), expected, "{text:?}");
        }
    }
}
