//! What was pulled, kept by its digest: manifests and configurations, unpacked trees, and what tags stood
//! for.
//!
//! Nothing here is trusted because of its name: documents are hashed again when they are read, trees are
//! compared with the record that was written with them. Nothing is ever half visible: everything is made
//! in a workspace of its own, brought to the disk and moved into place. Locks guard only what somebody
//! uses against being pruned; they end with their process, however it ends. Nothing is fetched here.
//!
//! ```text
//! images/blobs/sha256-<hex>[-<scope>]   a manifest, an index or a configuration
//! images/trees/sha256-<hex>[-<scope>]-catalog/    contents/, record, lock
//! images/references/<hash>              what a reference stood for, and when
//! images/temporary/<unique>/            a workspace, with a lock while its maker lives
//! images/key                            the secret that the names of scopes are made with
//! ```
//!
//! What was pulled with a pull secret is in a scope of its own: knowing a digest is not enough to read it.

mod entries;
mod record;
mod scope;
mod tree;
mod workspace;

use std::{
    fs::{self, File},
    io::Read,
    path::PathBuf,
    time::SystemTime,
};

use operon_object::{Value, map};
use operon_oci::{Digest, Reference, Verifier};

pub use self::entries::{
    CacheEntry, EntryKind, MAX_CACHE_BYTES, PruneWish, Pruned, cache_limit, parse_cache_limit,
};
pub(crate) use self::{
    record::{Record, disk_bytes},
    scope::CacheScope,
    tree::{KeptTree, TreeKey, TreeKind},
    workspace::Workspace,
};
use crate::{CacheDirectory, PullError, cache::write_privately};

/// The most bytes of a document that is kept: those of the largest that is read.
const MAX_DOCUMENT_BYTES: u64 = 4 << 20;

/// The store below a cache directory.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
}

impl Store {
    pub(crate) fn new(cache: &CacheDirectory) -> Self {
        Self { root: cache.root().join("images") }
    }

    fn blob_file(&self, digest: &Digest, scope: &CacheScope) -> PathBuf {
        self.root.join("blobs").join(file_name(digest, scope))
    }

    /// Returns a document that was kept in a scope or in the shared one; one that is damaged is removed.
    pub(crate) fn document(&self, digest: &Digest, scope: &CacheScope) -> Option<Vec<u8>> {
        scope.readable().find_map(|scope| self.whole_document(digest, scope))
    }

    fn whole_document(&self, digest: &Digest, scope: &CacheScope) -> Option<Vec<u8>> {
        let path = self.blob_file(digest, scope);
        let mut bytes = Vec::new();
        let file = File::options().read(true).write(true).open(&path).ok()?;
        (&file).take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).ok()?;
        let mut verifier = Verifier::new(digest.clone());
        verifier.update(&bytes);
        if verifier.finish().is_err() {
            let _ = fs::remove_file(&path);
            return None;
        }
        // Only the order in which things are pruned depends on it.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Keeps a document whose digest was compared.
    pub(crate) fn keep_document(
        &self,
        digest: &Digest,
        scope: &CacheScope,
        bytes: &[u8],
    ) -> Result<(), PullError> {
        let path = self.blob_file(digest, scope);
        write_privately(&path, &[bytes]).map_err(PullError::disk("write", path))
    }

    fn reference_file(&self, reference: &Reference, scope: &CacheScope) -> PathBuf {
        let key = blake3::hash(format!("{reference}{}", scope.suffix()).as_bytes());
        self.root.join("references").join(&key.to_hex()[..32])
    }

    /// Remembers what a reference stands for, once everything behind it is kept.
    pub(crate) fn remember(
        &self,
        reference: &Reference,
        scope: &CacheScope,
        digest: &Digest,
        now: SystemTime,
    ) -> Result<(), PullError> {
        let path = self.reference_file(reference, scope);
        let note = map! {
            "reference" => reference.to_string(),
            "digest" => digest.to_string(),
            "seen" => milliseconds(now),
        };
        record::write(&path, &note)
    }

    /// Returns what a reference stood for when it was last seen.
    pub(crate) fn recall(
        &self,
        reference: &Reference,
        scope: &CacheScope,
    ) -> Option<(Digest, SystemTime)> {
        let note = record::read(&self.reference_file(reference, scope))?;
        if note.get("reference").str() != reference.to_string() {
            return None;
        }
        let digest = Digest::parse(note.get("digest").str()).ok()?;
        Some((digest, time_of(note.get("seen"))?))
    }
}

fn file_name(digest: &Digest, scope: &CacheScope) -> String {
    format!("{}-{}{}", digest.algorithm().name(), digest.hex(), scope.suffix())
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn time_of(value: &Value) -> Option<SystemTime> {
    let milliseconds = u64::try_from(value.as_integer()?).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_millis(milliseconds))
}
