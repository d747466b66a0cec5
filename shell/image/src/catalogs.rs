//! Catalogs from directories, behind the driver's port.
//!
//! A CatalogSource names a directory where others name an image. What was last read well stays in use
//! when the directory breaks or vanishes. Nothing is pulled and nothing is written here but the cache.

mod state;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use operon_driver::{Catalogs, ClusterError};
use operon_install::ServingCertificate;
use operon_kinds::CatalogSource;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest, ErrorKind};
use operon_object::{Object, Timestamp};
use operon_resolve::SourceName;

use self::state::Entry;
use crate::{
    CacheDirectory, OpenError, OpenOptions, OpenedCatalog, Progress, bundle_contents,
    certificate::serving_certificate, contents::is_path, open_catalog,
};

/// How often a directory is looked at again; a person does not notice that, and a catalog of ten
/// thousand files is looked at in a fifth of it.
pub const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The catalogs of CatalogSources whose `spec.image` is the path of a directory or a file.
///
/// Paths of catalogs count from one directory, paths of bundles from the directory of their catalog.
#[derive(Debug)]
pub struct DirectoryCatalogs {
    base: PathBuf,
    cache: Option<CacheDirectory>,
    entries: Mutex<BTreeMap<SourceName, Entry>>,
}

impl DirectoryCatalogs {
    /// Reads catalogs whose paths count from a directory; snapshots are kept in the cache.
    pub fn new(base: impl Into<PathBuf>, cache: Option<CacheDirectory>) -> Self {
        Self { base: base.into(), cache, entries: Mutex::default() }
    }

    /// Returns the catalog of a CatalogSource as it is in use.
    pub fn opened(&self, source: &SourceName) -> Option<Arc<OpenedCatalog>> {
        self.lock().get(source)?.opened.clone()
    }

    /// Returns the directories and files that catalogs are read from.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.lock().values().map(|entry| self.path_of(entry)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SourceName, Entry>> {
        // Whoever panicked left entries that are whole: they are replaced, never half changed.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, path: &Path, now: Timestamp) -> Result<OpenedCatalog, OpenError> {
        let since_1970 = Duration::from_millis(u64::try_from(now.milliseconds()).unwrap_or(0));
        let progress = Progress::default();
        let options = OpenOptions {
            cache: self.cache.as_ref(),
            progress: &progress,
            now: SystemTime::UNIX_EPOCH + since_1970,
        };
        open_catalog(path, &options)
    }

    fn path_of(&self, entry: &Entry) -> PathBuf {
        self.base.join(entry.image.trim_start_matches("./"))
    }

    fn look(&self, entry: &mut Entry, now: Timestamp) {
        let path = self.path_of(entry);
        entry.look(&path, now, |path| self.open(path, now));
    }
}

impl Catalogs for DirectoryCatalogs {
    fn read(&self, sources: &[&Object], now: Timestamp) -> BTreeMap<SourceName, CatalogState> {
        let mut entries = self.lock();
        let mut known = std::mem::take(&mut *entries);
        let mut states = BTreeMap::new();
        for source in sources {
            let source = CatalogSource::read(source);
            let name = source.source_name();
            if let Some(problem) = foreign(source) {
                let address = source.image().to_owned();
                states.insert(name, CatalogState { address, problem, ..CatalogState::default() });
                continue;
            }
            let mut entry = known
                .remove(&name)
                .filter(|entry| entry.image == source.image())
                .unwrap_or_else(|| Entry::new(source.image()));
            if entry.is_due(now) {
                self.look(&mut entry, now);
            }
            states.insert(name.clone(), entry.state.clone());
            entries.insert(name, entry);
        }
        states
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        let mut entries = self.lock();
        let stale = || BundleState::Pending { message: "the catalog is read again".to_owned() };
        let Some(entry) = entries.get_mut(&key.source) else { return stale() };
        if entry.state.digest != key.digest {
            return stale();
        }
        let Some(opened) = entry.opened.clone() else { return stale() };
        let contents = bundle_contents(&opened, &key.name, &key.image, opened.directory());
        match contents {
            Ok(contents) => BundleState::Ready(Arc::new(contents)),
            Err(error) => {
                entry.note_failure();
                BundleState::Failed {
                    reason: "BundleNotReadable".to_owned(),
                    message: error.to_string(),
                }
            }
        }
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        serving_certificate(&request.hosts, now).map_err(|error| ClusterError {
            kind: ErrorKind::Other,
            message: format!(
                "cannot make a certificate for Deployment {}: {error}",
                request.deployment
            ),
        })
    }
}

/// Says why a CatalogSource cannot be read from a directory.
fn foreign(source: CatalogSource<'_>) -> Option<String> {
    const HINT: &str = "name a directory as `image`, such as `./catalog`";
    match (source.source_type(), source.image(), source.address()) {
        ("grpc", image, _) if is_path(image) => None,
        ("grpc", "", address) => Some(format!(
            "`{address}` is an address; registries behind addresses come with a later version: {HINT}"
        )),
        ("grpc", image, _) => {
            Some(format!("`{image}` is an image; images come with a later version: {HINT}"))
        }
        (kind, _, _) => Some(format!(
            "catalogs of type `{kind}` come with a later version: use type `grpc` and {HINT}"
        )),
    }
}
