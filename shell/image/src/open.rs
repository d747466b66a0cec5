//! Opening a catalog: warm from a snapshot if its files did not change, cold from its files if not.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use operon_catalog::{Catalog, Place};
use operon_document::{
    json::{Tape, canonical},
    yaml::{self, YamlOptions},
};

use crate::{
    Allowance, BodyError, CacheDirectory, OpenError, Progress, Tree, cold,
    directory::{CatalogFile, Stamp, find_files},
    fingerprint::{self, FRESH},
    limits::CatalogLimits,
    quota::MemoryCharge,
    slots::{FairSlot, Slot, Slots},
    snapshot,
};

/// How a catalog is opened.
#[derive(Debug)]
pub struct OpenOptions<'o> {
    /// Where snapshots are kept; `None` opens cold and keeps nothing.
    pub cache: Option<&'o CacheDirectory>,
    /// Is told how far a cold opening has come.
    pub progress: &'o Progress,
    /// The time: files that changed just before it are not trusted to be unchanged.
    pub now: SystemTime,
    /// Whether files are never changed once they are there, as those of an image in the cache: then
    /// those that were made just now are trusted too.
    pub is_immutable: bool,
}

/// How a catalog was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedBy {
    /// From a snapshot, because no file looked changed.
    Stamps,
    /// From a snapshot, because the content had the same hash although files looked changed.
    Content,
    /// From its files.
    Reading,
}

/// A catalog, and the files it came from.
#[derive(Debug)]
pub struct OpenedCatalog {
    catalog: Arc<Catalog>,
    root: PathBuf,
    files: Vec<CatalogFile>,
    opened_by: OpenedBy,
    digest: String,
    /// Keeps the files in the cache while they may be read again.
    tree: Option<Tree>,
    /// Charges the memory of the catalog to the namespace that uses it.
    _charge: Option<MemoryCharge>,
}

/// What opening a catalog may take, and on whose account.
#[derive(Debug)]
pub(crate) struct OpenBounds<'o> {
    pub(crate) limits: &'o CatalogLimits,
    pub(crate) allowance: &'o Allowance,
}

/// Limits the catalogs of one user that are read from their documents at the same time: one alone occupies all
/// processors. Namespaces have slots of their own.
static COLD_READS: Slots = Slots::new(2);

/// Opens the catalog at a path: a directory of documents, or one file.
///
/// Flow: find files, compare their stamps with the last time, else their content, else read them.
/// Guarantees: the answer is the same whichever way it was opened; a damaged, foreign or outdated
/// snapshot is never used. Assumptions: a file whose size, times and identity did not change for two
/// seconds has the same content.
pub fn open_catalog(path: &Path, options: &OpenOptions<'_>) -> Result<OpenedCatalog, OpenError> {
    let bounds =
        OpenBounds { limits: &CatalogLimits::default(), allowance: &Allowance::unlimited() };
    open_within(path, options, &bounds)
}

/// Opens a catalog like [`open_catalog`], unless it exceeds the bounds.
pub(crate) fn open_within(
    path: &Path,
    options: &OpenOptions<'_>,
    bounds: &OpenBounds<'_>,
) -> Result<OpenedCatalog, OpenError> {
    let files = find_files(path)?;
    let root = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let opened = |catalog: Catalog, digest: &blake3::Hash, opened_by| {
        let bytes = catalog.image_bytes().len() as u64;
        Ok(OpenedCatalog {
            catalog: Arc::new(catalog),
            root: root.clone(),
            files: files.clone(),
            opened_by,
            digest: digest.to_hex().to_string(),
            tree: None,
            _charge: bounds.allowance.charge_memory(bytes)?,
        })
    };
    let Some(cache) = options.cache else {
        let _slots = bounds.reading_slot();
        let cold = cold::read(&files, options.progress, bounds.limits)?;
        return opened(cold.catalog, &cold.digest, OpenedBy::Reading);
    };
    let stamps = cache.fingerprint_file(&root);
    let from_snapshot = |digest: &blake3::Hash| snapshot::open(&cache.snapshot_file(digest));

    if let Some(digest) = fingerprint::recall(&stamps, &files)
        && let Some(catalog) = from_snapshot(&digest)
    {
        return opened(catalog, &digest, OpenedBy::Stamps);
    }
    // The cache only makes things faster; if it cannot be written, the answer is still right.
    let remember = |digest: &blake3::Hash| {
        let settled = if options.is_immutable { FRESH } else { Duration::ZERO };
        let _ = fingerprint::record(&stamps, &files, options.now + settled, digest);
    };
    if stamps.exists() {
        let digest = cold::hash(&files);
        if let Some(catalog) = from_snapshot(&digest) {
            remember(&digest);
            return opened(catalog, &digest, OpenedBy::Content);
        }
    }
    let _slots = bounds.reading_slot();
    let cold = cold::read(&files, options.progress, bounds.limits)?;
    if snapshot::write(&cache.snapshot_file(&cold.digest), &cold.catalog).is_ok() {
        remember(&cold.digest);
        cache.prune_snapshots();
    }
    opened(cold.catalog, &cold.digest, OpenedBy::Reading)
}

impl OpenBounds<'_> {
    /// Waits until a catalog may be read from its documents.
    fn reading_slot(&self) -> (Option<FairSlot<'_>>, Option<Slot<'_>>) {
        let fair = self.allowance.reading_slot();
        let shared = fair.is_none().then(|| COLD_READS.take());
        (fair, shared)
    }
}

impl OpenedCatalog {
    /// Returns the catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns why there is no catalog at `address`, if not one package was found there.
    pub fn emptiness(&self, address: &str) -> Option<String> {
        let is_empty = self.catalog.counts().packages == 0;
        is_empty.then(|| format!("`{address}` holds no catalog: no olm.package document was found"))
    }

    /// Returns the catalog, whose files are those of a tree in the cache.
    pub(crate) fn kept_by(self, tree: Tree) -> Self {
        Self { tree: Some(tree), ..self }
    }

    /// Returns what the catalog was fetched as, if it was.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// Returns the catalog to keep.
    pub fn shared_catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    /// Returns the directory or file it was opened from.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory it was opened from, or in which its only file lies.
    pub fn directory(&self) -> &Path {
        match self.root.parent() {
            Some(parent) if !self.root.is_dir() => parent,
            _ => &self.root,
        }
    }

    /// Returns how it was opened.
    pub fn opened_by(&self) -> OpenedBy {
        self.opened_by
    }

    /// Returns the hash of the files' paths and contents, in hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the path to open for a file of the catalog.
    pub fn location(&self, place: Place) -> &Path {
        &self.files[place.file.0 as usize].location
    }

    /// Reads the text at a place again, exactly as it is written.
    pub fn text(&self, place: Place) -> Result<Vec<u8>, BodyError> {
        let file = &self.files[place.file.0 as usize];
        let path = || file.location.clone();
        let unreadable = |source| BodyError::Unreadable { path: path(), source };
        let mut opened = File::open(&file.location).map_err(unreadable)?;
        let stamp = Stamp::of(&opened.metadata().map_err(unreadable)?);
        if file.stamp.is_some_and(|before| before != stamp) {
            return Err(BodyError::Changed { path: path() });
        }
        let range = place.range();
        opened.seek(SeekFrom::Start(range.start as u64)).map_err(unreadable)?;
        let mut text = vec![0; range.len()];
        opened.read_exact(&mut text).map_err(unreadable)?;
        Ok(text)
    }

    /// Reads the document at a place again, as compact JSON with sorted keys.
    pub fn document(&self, place: Place) -> Result<String, BodyError> {
        let text = self.text(place)?;
        let path = || self.location(place).to_owned();
        let mut tape = Tape::new();
        if let Ok(root) = tape.read(&text) {
            return Ok(canonical(root));
        }
        let converted = yaml::to_json(&text, &YamlOptions::default())
            .map_err(|source| BodyError::NotYaml { path: path(), source })?;
        let root = tape
            .read(&converted.json)
            .map_err(|source| BodyError::NotJson { path: path(), source })?;
        Ok(canonical(root))
    }
}

#[cfg(test)]
mod tests;
