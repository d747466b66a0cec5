//! The catalogs of CatalogSources, behind the driver's port.
//!
//! A CatalogSource names an image, a registry server, a ConfigMap, or a directory where others name an
//! image. What was last read well stays in use when its source breaks or vanishes. Whatever comes over a
//! network is fetched beside the loop, which is never kept waiting.

mod defects;
mod directory_entry;
mod fetched_entry;
mod fetching;
mod origin;
mod pulls;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use operon_driver::{CatalogRequest, Catalogs, ClusterError};
use operon_install::ServingCertificate;
use operon_kinds::CatalogSource;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest, ErrorKind};
use operon_object::Timestamp;
use operon_resolve::SourceName;

use self::{
    directory_entry::DirectoryEntry,
    fetched_entry::FetchedEntry,
    fetching::Fetching,
    origin::Origin,
    pulls::{Pulls, Trust},
};
pub use self::{
    fetched_entry::{FIRST_FETCH_PAUSE, LONGEST_FETCH_PAUSE},
    fetching::FailureLog,
    origin::{ADDRESS_INTERVAL, MIN_POLL_INTERVAL},
    pulls::MAX_REMEMBERED_BUNDLES,
};
use crate::{
    BundleError, Fetcher, MAX_NAMESPACE_CATALOGS, OpenedCatalog, bundle_contents,
    certificate::serving_certificate, contents::is_path, slots::Slots,
};

/// How often a directory is looked at again; a person does not notice that, and a catalog of ten
/// thousand files is looked at in a fifth of it.
pub const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The catalogs of CatalogSources.
///
/// Paths of catalogs count from one directory, paths of bundles from the directory of their catalog.
#[derive(Debug)]
pub struct SourceCatalogs {
    /// Where paths count from; without it nothing on this machine is read.
    base: Option<PathBuf>,
    fetching: Fetching,
    shelf: Mutex<Shelf>,
    bundle_reads: Slots,
}

/// Limits the bundles whose contents are read from catalogs and directories at the same time: the largest known
/// take some tens of megabytes while they are read.
const MAX_BUNDLE_READS: usize = 4;

#[derive(Debug, Default)]
struct Shelf {
    entries: BTreeMap<SourceName, Entry>,
    pulls: Pulls,
}

/// A catalog, wherever it comes from.
#[derive(Debug)]
enum Entry {
    Directory(DirectoryEntry),
    Fetched(FetchedEntry),
}

impl Entry {
    fn new(origin: Origin, address: String, now: Timestamp) -> Self {
        match origin {
            Origin::Path(path) => Self::Directory(DirectoryEntry::new(path, address)),
            origin => Self::Fetched(FetchedEntry::new(origin, address, now)),
        }
    }

    fn comes_from(&self, origin: &Origin) -> bool {
        match (self, origin) {
            (Self::Directory(entry), Origin::Path(path)) => entry.path == *path,
            (Self::Fetched(entry), origin) => match (&entry.origin, origin) {
                (Origin::ConfigMap(_), Origin::ConfigMap(_)) => true,
                (known, origin) => known == origin,
            },
            (Self::Directory(_), _) => false,
        }
    }

    fn state(&self) -> &CatalogState {
        match self {
            Self::Directory(entry) => &entry.state,
            Self::Fetched(entry) => &entry.state,
        }
    }

    fn trust(&self, opened: &OpenedCatalog) -> Trust {
        match self {
            Self::Directory(_) => Trust::Everything { directory: opened.directory().to_owned() },
            Self::Fetched(entry) => Trust::Registries { credentials: entry.origin.credentials() },
        }
    }

    fn opened(&self) -> Option<&Arc<OpenedCatalog>> {
        match self {
            Self::Directory(entry) => entry.opened.as_ref(),
            Self::Fetched(entry) => entry.opened.as_ref(),
        }
    }
}

impl SourceCatalogs {
    /// Creates a reader of one user's catalogs; their paths count from a directory.
    pub fn new(base: impl Into<PathBuf>, fetcher: Arc<Fetcher>) -> Self {
        Self::with_base(Some(base.into()), Fetching::of_one_user(fetcher))
    }

    /// Creates a reader for one user who looks at the CatalogSources of others, which must not name files of
    /// this machine.
    pub fn of_strangers(fetcher: Arc<Fetcher>) -> Self {
        Self::with_base(None, Fetching::of_one_user(fetcher))
    }

    /// Creates a reader for the tenants of a cluster. Fetches are shared fairly between namespaces, no files
    /// of this machine are read, and statuses do not reveal why a connection failed: the log has that.
    pub fn of_tenants(fetcher: Arc<Fetcher>, log: FailureLog) -> Self {
        Self::with_base(None, Fetching::of_tenants(fetcher, log))
    }

    fn with_base(base: Option<PathBuf>, fetching: Fetching) -> Self {
        let bundle_reads = Slots::new(MAX_BUNDLE_READS);
        Self { base, fetching, shelf: Mutex::default(), bundle_reads }
    }

    /// Returns the catalog of a CatalogSource as it is in use.
    pub fn opened(&self, source: &SourceName) -> Option<Arc<OpenedCatalog>> {
        self.lock().entries.get(source)?.opened().cloned()
    }

    /// Returns the directories and files that catalogs are read from.
    pub fn paths(&self) -> Vec<PathBuf> {
        let path = |entry: &Entry| match entry {
            Entry::Directory(entry) => Some(entry.path.clone()),
            Entry::Fetched(_) => None,
        };
        self.lock().entries.values().filter_map(path).collect()
    }

    /// Returns the catalogs that nothing is known of yet, because their servers could not be asked, each with
    /// the time at which that is tried again.
    pub fn awaited(&self) -> Vec<(SourceName, Timestamp)> {
        let next = |entry: &Entry| match entry {
            Entry::Fetched(entry) => entry.next_attempt(),
            Entry::Directory(_) => None,
        };
        let shelf = self.lock();
        let entries = shelf.entries.iter();
        entries.filter_map(|(name, entry)| Some((name.clone(), next(entry)?))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        // Whoever panicked left entries that are whole: they are replaced, never half changed.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, entry: &mut Entry, source: CatalogSource<'_>, now: Timestamp) {
        match entry {
            Entry::Directory(entry) if entry.is_due(now) => {
                let milliseconds = u64::try_from(now.milliseconds()).unwrap_or(0);
                let time = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
                entry.look(now, |path| self.fetching.fetcher.open(path, time));
            }
            Entry::Directory(_) => {}
            Entry::Fetched(entry) => entry.look(source, now, &self.fetching),
        }
    }
}

impl Catalogs for SourceCatalogs {
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState> {
        let mut shelf = self.lock();
        let mut known = std::mem::take(&mut shelf.entries);
        let mut states = BTreeMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for request in requests {
            let source = CatalogSource::read(request.source);
            let name = source.source_name();
            let count = counts.entry(name.namespace.clone()).or_default();
            *count += 1;
            if self.fetching.has_tenants() && *count > MAX_NAMESPACE_CATALOGS {
                states.insert(name.clone(), left_out(source, &name));
                continue;
            }
            let origin = Origin::of(request, self.base.as_deref());
            let mut entry = match known.remove(&name).filter(|entry| entry.comes_from(&origin)) {
                Some(Entry::Fetched(mut entry)) => {
                    entry.follow(origin, now);
                    Entry::Fetched(entry)
                }
                Some(entry) => entry,
                None => Entry::new(origin, Origin::address(source), now),
            };
            self.look(&mut entry, source, now);
            states.insert(name.clone(), entry.state().clone());
            shelf.entries.insert(name, entry);
        }
        states
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        let stale = || BundleState::Pending { message: "the catalog is read again".to_owned() };
        let opened = {
            let shelf = self.lock();
            let entry = shelf.entries.get(&key.source);
            let Some(entry) = entry.filter(|entry| entry.state().digest == key.digest) else {
                return stale();
            };
            let Some(opened) = entry.opened().cloned() else { return stale() };
            if matches!(entry, Entry::Fetched(_)) && is_path(&key.image) {
                return unreadable(format!(
                    "bundle {}: `{}` is a path, and a catalog that was fetched cannot name paths",
                    key.name, key.image
                ));
            }
            opened
        };
        // Reading takes long, and the loop looks at the catalogs meanwhile: nothing is locked.
        let read = {
            let _slot = self.bundle_reads.take();
            bundle_contents(&opened, &key.name, &key.image, opened.directory())
        };
        let error = match read {
            Ok(contents) => return BundleState::Ready(Arc::new(contents)),
            Err(error) => error,
        };
        let shelf = &mut *self.lock();
        let entry = shelf.entries.get_mut(&key.source);
        let Some(entry) = entry.filter(|entry| entry.state().digest == key.digest) else {
            return stale();
        };
        if matches!(error, BundleError::InAnImage { .. }) {
            return shelf.pulls.ask(key, entry.trust(&opened), &self.fetching);
        }
        if let Entry::Directory(entry) = entry {
            entry.note_failure();
        }
        unreadable(error.to_string())
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        serving_certificate(&request.hosts, request.replaces.as_ref(), now).map_err(|error| {
            ClusterError {
                kind: ErrorKind::Other,
                message: format!(
                    "cannot make a certificate for Deployment {}: {error}",
                    request.deployment
                ),
            }
        })
    }
}

/// Returns the state of a CatalogSource that is not read because its namespace has too many.
fn left_out(source: CatalogSource<'_>, name: &SourceName) -> CatalogState {
    let problem = format!(
        "namespace `{}` has more than {MAX_NAMESPACE_CATALOGS} CatalogSources, and this one is not read; delete \
         some of them",
        name.namespace
    );
    CatalogState { address: Origin::address(source), problem, ..CatalogState::default() }
}

fn unreadable(message: String) -> BundleState {
    BundleState::Failed { reason: "BundleNotReadable".to_owned(), message, is_retried: false }
}
