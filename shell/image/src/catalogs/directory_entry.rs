//! One catalog: what was last read, and whether its files are still the same.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use operon_lifecycle::CatalogState;
use operon_object::Timestamp;

use super::{LOOK_AGAIN_AFTER, defects::defects};
use crate::{
    CatalogFile, OpenError, OpenedCatalog,
    contents::{is_path, manifest_files},
    directory::{Stamp, find_files},
    fingerprint::FRESH,
};

/// A catalog in a directory.
#[derive(Debug)]
pub(super) struct DirectoryEntry {
    /// The directory or file.
    pub(super) path: PathBuf,
    /// What is in use.
    pub(super) opened: Option<Arc<OpenedCatalog>>,
    /// What is told of it.
    pub(super) state: CatalogState,
    /// How the files looked when they were last read; nothing if they must be read.
    seen: Option<Seen>,
    looked: Option<Timestamp>,
    /// The bundle directories that it names.
    bundles: Vec<(String, PathBuf)>,
    /// Whether what is in use is a catalog without errors.
    is_sound: bool,
    /// Whether contents could not be read, so that they are worth asking for again after a change.
    has_failed: bool,
    /// How often there was such a change.
    retries: u32,
}

/// How the files looked.
#[derive(Debug, PartialEq)]
struct Seen {
    files: Vec<CatalogFile>,
    manifests: Vec<CatalogFile>,
    /// When they are old enough for their stamps to tell a change, if they were not.
    recheck: Option<Timestamp>,
}

impl DirectoryEntry {
    pub(super) fn new(path: PathBuf, address: String) -> Self {
        Self {
            path,
            opened: None,
            state: CatalogState { address, ..CatalogState::default() },
            seen: None,
            looked: None,
            bundles: Vec::new(),
            is_sound: false,
            has_failed: false,
            retries: 0,
        }
    }

    /// Tells whether the directory is to be looked at.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        // A clock that was set back must not keep it from being looked at.
        self.looked.is_none_or(|looked| now < looked || now >= looked.after(LOOK_AGAIN_AFTER))
    }

    /// Notes that contents could not be read. Whatever changes next gives the catalog another digest,
    /// even if it is a return to what was before, so that they are asked for again.
    pub(super) fn note_failure(&mut self) {
        self.has_failed = true;
    }

    /// Looks at the directory, and reads what changed.
    pub(super) fn look(
        &mut self,
        now: Timestamp,
        open: impl Fn(&Path) -> Result<OpenedCatalog, OpenError>,
    ) {
        self.looked = Some(now);
        let files = match find_files(&self.path) {
            Ok(files) => files,
            Err(error) => return self.hinder(error.to_string()),
        };
        let manifests = self.manifests();
        let is_unchanged = self.seen.as_ref().is_some_and(|seen| {
            seen.recheck.is_none_or(|recheck| now < recheck)
                && files == seen.files
                && manifests == seen.manifests
        });
        if is_unchanged {
            return;
        }
        match open(&self.path) {
            Ok(opened) => self.take(opened, files, now),
            Err(error) => self.hinder(error.to_string()),
        }
    }

    fn hinder(&mut self, problem: String) {
        self.seen = None;
        self.state.problem = problem;
    }

    fn take(&mut self, opened: OpenedCatalog, files: Vec<CatalogFile>, now: Timestamp) {
        let problem = defects(&opened, &self.state.address, true);
        if problem.is_empty() || !self.is_sound {
            self.is_sound = problem.is_empty();
            self.retries += u32::from(std::mem::take(&mut self.has_failed));
            self.bundles = bundle_directories(&opened);
            let digest = self.digest(&opened);
            if digest != self.state.digest || self.opened.is_none() {
                self.state.read = now;
            }
            self.state.digest = digest;
            self.state.catalog = Some(opened.shared_catalog());
            self.opened = Some(Arc::new(opened));
        }
        self.state.problem = problem;
        let manifests = self.manifests();
        let recheck = recheck(files.iter().chain(&manifests), now);
        self.seen = Some(Seen { files, manifests, recheck });
    }

    /// Names the content of the catalog and of the bundle directories that it names.
    fn digest(&self, opened: &OpenedCatalog) -> String {
        if self.bundles.is_empty() && self.retries == 0 {
            return opened.digest().to_owned();
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(opened.digest().as_bytes());
        hasher.update(&self.retries.to_le_bytes());
        for file in self.manifests() {
            hasher.update(file.path.as_bytes());
            let opened = std::fs::File::open(&file.location);
            if opened.and_then(|opened| hasher.update_reader(opened).map(drop)).is_err() {
                hasher.update(b"unreadable");
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Finds the manifests of the bundle directories; one that cannot be looked into has none, and
    /// whoever wants its contents is told why.
    fn manifests(&self) -> Vec<CatalogFile> {
        let mut found = Vec::new();
        for (name, directory) in &self.bundles {
            for location in manifest_files(name, directory).unwrap_or_default() {
                let stamp = std::fs::metadata(&location).ok().as_ref().map(Stamp::of);
                let path = location.to_string_lossy().into_owned();
                found.push(CatalogFile { path, location, stamp });
            }
        }
        found
    }
}

/// Returns the bundles whose image is a path, with their directories.
fn bundle_directories(opened: &OpenedCatalog) -> Vec<(String, PathBuf)> {
    let directory = opened.directory();
    let bundles = opened.catalog().bundles();
    bundles
        .filter_map(|bundle| {
            let image = bundle.image().filter(|image| is_path(image))?;
            Some((bundle.name().to_owned(), directory.join(image)))
        })
        .collect()
}

/// Returns when stamps are old enough to be trusted; nothing if they are.
fn recheck<'f>(files: impl Iterator<Item = &'f CatalogFile>, now: Timestamp) -> Option<Timestamp> {
    let newest = files.filter_map(|file| file.stamp.map(Stamp::newest)).max()?;
    let trusted = i64::try_from((newest + FRESH.as_nanos() as i128) / 1_000_000 + 1).ok()?;
    let trusted = Timestamp::from_milliseconds(trusted);
    // A time in the future says nothing; waiting for it would mean reading again for ever.
    let latest = now.after(FRESH);
    (trusted > now).then(|| trusted.min(latest))
}
