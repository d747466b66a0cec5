//! Writing image layouts: blobs first, then the index that names them.
//!
//! Every file is moved into place whole. Several programs may write to one layout: its index is changed
//! under a lock. Nothing is ever removed from a layout.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime},
};

use operon_oci::{
    Descriptor, Digest, Index, LAYOUT_FILE, LAYOUT_INDEX, OCI_INDEX, Verifier, check_layout,
    layout_file,
};

use crate::{PullError, cache::write_atomically};

/// What the names of unfinished blobs begin with.
const UNFINISHED: &str = ".unfinished-";

/// How old an unfinished blob must be to count as left behind: one that is being written is younger.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 3600);

/// A layout that is written to.
#[derive(Debug)]
pub(super) struct LayoutWriter {
    directory: PathBuf,
}

impl LayoutWriter {
    /// Opens a layout, or makes one.
    pub(super) fn open(directory: &Path) -> Result<Self, PullError> {
        let file = directory.join(LAYOUT_FILE);
        match fs::read(&file) {
            Ok(bytes) => check_layout(&bytes)
                .map_err(PullError::document(&directory.display().to_string()))?,
            Err(_) => write_atomically(&file, &[&layout_file()])
                .map_err(PullError::disk("write", &file))?,
        }
        let writer = Self { directory: directory.to_owned() };
        writer.sweep();
        Ok(writer)
    }

    fn blob(&self, digest: &Digest) -> PathBuf {
        self.directory.join("blobs").join(digest.algorithm().name()).join(digest.hex())
    }

    /// Tells whether a blob is there and whole.
    pub(super) fn has(&self, digest: &Digest) -> Result<bool, PullError> {
        let path = self.blob(digest);
        let Ok(mut file) = File::open(&path) else { return Ok(false) };
        let mut verifier = Verifier::new(digest.clone());
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer).map_err(PullError::disk("read", &path))? {
                0 => return Ok(verifier.finish().is_ok()),
                read => verifier.update(&buffer[..read]),
            }
        }
    }

    /// Returns a name beside a blob, for a file that is to become it.
    pub(super) fn aside(&self, digest: &Digest) -> PathBuf {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let directory = self.directory.join("blobs").join(digest.algorithm().name());
        // A directory that cannot be made is told of when the file is written.
        let _ = fs::create_dir_all(&directory);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        directory.join(format!("{UNFINISHED}{}-{number}", process::id()))
    }

    /// Removes what processes that were killed left unfinished.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.directory.join("blobs/sha256")) else { return };
        for entry in entries.flatten() {
            let is_unfinished =
                entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
            let changed = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let age = || SystemTime::now().duration_since(changed()?).ok();
            if is_unfinished && age().is_some_and(|age| age > LEFT_BEHIND) {
                // Whoever is faster may remove it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Makes a file that was compared with its digest a blob.
    pub(super) fn keep(&self, file: &Path, digest: &Digest) -> Result<(), PullError> {
        let path = self.blob(digest);
        fs::rename(file, &path).map_err(PullError::disk("write", path))
    }

    pub(super) fn write(&self, digest: &Digest, bytes: &[u8]) -> Result<(), PullError> {
        if self.has(digest)? {
            return Ok(());
        }
        let path = self.blob(digest);
        write_atomically(&path, &[bytes]).map_err(PullError::disk("write", path))
    }

    /// Gives an image its tag.
    pub(super) fn name(&self, tag: &str, image: &Descriptor) -> Result<(), PullError> {
        let lock_file = self.directory.join(LAYOUT_FILE);
        let lock = File::open(&lock_file).map_err(PullError::disk("read", &lock_file))?;
        lock.lock().map_err(PullError::disk("lock", &lock_file))?;
        let path = self.directory.join(LAYOUT_INDEX);
        let mut index = match fs::read(&path) {
            Ok(bytes) => Index::parse(&bytes)
                .map_err(PullError::document(&self.directory.display().to_string()))?,
            Err(_) => Index {
                media_type: OCI_INDEX.to_owned(),
                manifests: Vec::new(),
                annotations: std::collections::BTreeMap::new(),
            },
        };
        index.set_named(tag, image.clone());
        write_atomically(&path, &[&index.to_bytes()]).map_err(PullError::disk("write", path))
    }
}
