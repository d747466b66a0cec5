//! The one door: a catalog or a bundle, from wherever it is.
//!
//! Images, archives, registry servers and ConfigMaps become directories of documents and are then opened
//! like any other. Work is done where it is asked for; who does it beside other things is decided by the
//! caller.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use operon_api::read_objects;
use operon_bundle::{ConfigMapCatalog, LegacyDocuments, MAX_CONFIG_MAP_BYTES, render_config_map};
use operon_driver::{CatalogServerError, CatalogServers};
use operon_object::{Object, Timestamp, Value};

use crate::{
    Allowance, CacheDirectory, Images, ImagesOptions, Location, LocationError, OpenError,
    OpenOptions, OpenedCatalog, Progress, PullError, Tree,
    cache::private_directory,
    limits::BundleLimits,
    open::{OpenBounds, open_within},
    open_catalog,
    quota::Charge,
    store::disk_bytes,
};

/// How many problems of a ConfigMap are told.
const TOLD_PROBLEMS: usize = 3;

/// How many sets of credentials are kept ready, with the connections and tokens that they gave.
const MAX_CREDENTIAL_SETS: usize = 64;

/// Brings catalogs and bundles here.
#[derive(Debug)]
pub struct Fetcher {
    /// Where snapshots are kept; nothing when everything is read again each time.
    cache: Option<CacheDirectory>,
    options: ImagesOptions,
    /// What fetches images, by the credentials beside those of the user; made when first wanted.
    images: Mutex<BTreeMap<Vec<Vec<u8>>, Arc<Images>>>,
    servers: Option<Arc<dyn CatalogServers>>,
    /// Stands in for the cache when there is none; goes with this.
    _scratch: Option<tempfile::TempDir>,
}

/// A catalog that was fetched.
#[derive(Debug)]
pub struct FetchedCatalog {
    /// The catalog.
    pub opened: OpenedCatalog,
    /// Names the content.
    pub digest: String,
    /// Why it may be old; empty when it is not.
    pub staleness: String,
    /// The same as a status may say it; see [`FetchError::summary`].
    pub staleness_summary: String,
    /// Its file, if it did not come as a tree.
    pub(crate) document: Option<KeptDocument>,
}

/// The file of a catalog, kept in the cache as long as this lives.
#[derive(Debug)]
pub(crate) struct KeptDocument {
    /// Guards the file against being pruned.
    _lock: File,
    /// Charges the file to the namespace that uses it.
    _charge: Charge,
}

/// Why a catalog or a bundle could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The text names no place.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// The image could not be had.
    #[error(transparent)]
    Pull(#[from] PullError),
    /// What is there cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A registry server gave no catalog.
    #[error("{}", .0.message)]
    Server(CatalogServerError),
    /// The ConfigMap is not there.
    #[error("there is no ConfigMap of that name; apply it, or correct `spec.configMap`")]
    NoConfigMap,
    /// A ConfigMap is no catalog.
    #[error("the ConfigMap holds no catalog: {0}")]
    ConfigMap(String),
    /// It could not be kept.
    #[error("what was fetched cannot be kept: {0}")]
    Keep(io::Error),
}

impl Fetcher {
    /// Fetches into the cache, or without one into a directory that goes with this; `options` says how
    /// images are fetched into a directory.
    pub fn new(
        cache: Option<CacheDirectory>,
        options: impl FnOnce(CacheDirectory) -> Result<ImagesOptions, PullError>,
        servers: Option<Arc<dyn CatalogServers>>,
    ) -> Result<Self, FetchError> {
        let (place, scratch) = match &cache {
            Some(cache) => (cache.clone(), None),
            None => {
                let scratch = tempfile::tempdir().map_err(FetchError::Keep)?;
                (CacheDirectory::at(scratch.path()), Some(scratch))
            }
        };
        let options = options(place)?;
        Ok(Self { cache, options, images: Mutex::default(), servers, _scratch: scratch })
    }

    /// Returns what is told how far fetching and reading have come.
    pub fn progress(&self) -> &Progress {
        &self.options.progress
    }

    /// Returns the directory that images are fetched into.
    pub(crate) fn cache_in_use(&self) -> &CacheDirectory {
        &self.options.cache
    }

    /// Returns what reading the manifests of a bundle may take.
    pub(crate) fn bundle_limits(&self) -> &BundleLimits {
        &self.options.limits.bundles
    }

    /// Opens the catalog at a path.
    pub fn open(&self, path: &Path, now: SystemTime) -> Result<OpenedCatalog, OpenError> {
        open_catalog(path, &OpenOptions { now, is_immutable: false, ..self.open_options() })
    }

    fn open_options(&self) -> OpenOptions<'_> {
        OpenOptions {
            cache: self.cache.as_ref(),
            progress: self.progress(),
            now: SystemTime::now(),
            is_immutable: true,
        }
    }

    /// Fetches the catalog at a location, with these credentials besides those of the user.
    pub fn catalog(
        &self,
        location: &Location,
        credentials: &[Vec<u8>],
    ) -> Result<FetchedCatalog, FetchError> {
        self.catalog_for(location, credentials, &Allowance::unlimited())
    }

    /// Fetches a catalog like [`Self::catalog`], on the account of a namespace.
    pub fn catalog_for(
        &self,
        location: &Location,
        credentials: &[Vec<u8>],
        allowance: &Allowance,
    ) -> Result<FetchedCatalog, FetchError> {
        match location {
            Location::Path(path) => {
                let opened = self.open(path, SystemTime::now())?;
                let digest = opened.digest().to_owned();
                Ok(FetchedCatalog::fresh(opened, digest))
            }
            Location::Address(address) => {
                let servers = self.servers.as_ref().ok_or_else(|| {
                    let message = format!("no server can be asked here, so not `{address}`");
                    let summary = message.clone();
                    FetchError::Server(CatalogServerError {
                        message,
                        summary,
                        is_unreachable: false,
                    })
                })?;
                let write =
                    |file: &mut dyn Write| servers.fetch(address, file).map_err(FetchError::Server);
                self.documents(address, allowance, write)
            }
            Location::ConfigMap(path) => {
                self.config_map_for(read_config_map(path)?.at(&["data"]), allowance)
            }
            image => {
                let tree = self.images(credentials)?.fetch_catalog_for(image, allowance)?;
                let mut fetched = self.opened(
                    &tree.directory,
                    tree.digest.as_ref().map(|digest| digest.hex().to_owned()),
                    allowance,
                )?;
                // A time and not an age: what is said of a catalog is written down, and must not change
                // while nothing happens.
                if let Some(stale) = &tree.stale {
                    let seen = timestamp(tree.seen);
                    let dated = |reason: &str| format!("{location} as of {seen}: {reason}");
                    fetched.staleness = dated(&stale.reason);
                    fetched.staleness_summary = dated(&stale.summary);
                }
                fetched.opened = fetched.opened.kept_by(tree);
                Ok(fetched)
            }
        }
    }

    /// Fetches the bundle at a location, with these credentials besides those of the user.
    pub fn bundle(&self, location: &Location, credentials: &[Vec<u8>]) -> Result<Tree, FetchError> {
        self.bundle_for(location, credentials, &Allowance::unlimited())
    }

    /// Fetches a bundle like [`Self::bundle`], on the account of a namespace.
    pub fn bundle_for(
        &self,
        location: &Location,
        credentials: &[Vec<u8>],
        allowance: &Allowance,
    ) -> Result<Tree, FetchError> {
        Ok(self.images(credentials)?.fetch_bundle_for(location, allowance)?)
    }

    /// Returns what fetches images with these credentials beside those of the user.
    pub fn images(&self, credentials: &[Vec<u8>]) -> Result<Arc<Images>, PullError> {
        let mut kept = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(images) = kept.get(credentials) {
            return Ok(Arc::clone(images));
        }
        let mut options = self.options.clone();
        options.credentials.pull_secrets.extend_from_slice(credentials);
        let images = Arc::new(Images::new(options)?);
        if kept.len() >= MAX_CREDENTIAL_SETS {
            kept.clear();
        }
        kept.insert(credentials.to_vec(), Arc::clone(&images));
        Ok(images)
    }

    /// Opens the catalog that the data of a ConfigMap are, on the account of a namespace.
    pub(crate) fn config_map_for(
        &self,
        data: &Value,
        allowance: &Allowance,
    ) -> Result<FetchedCatalog, FetchError> {
        let member = |name: &str| data.get(name).str();
        let LegacyDocuments { text, problems } = render_config_map(&ConfigMapCatalog {
            packages: member("packages"),
            service_versions: member("clusterServiceVersions"),
            definitions: member("customResourceDefinitions"),
        });
        if text.is_empty() || !problems.is_empty() {
            let told = match problems.as_slice() {
                [] => "`data.packages` names no package".to_owned(),
                problems => problems[..problems.len().min(TOLD_PROBLEMS)].join("; "),
            };
            return Err(FetchError::ConfigMap(told));
        }
        let write =
            |file: &mut dyn Write| file.write_all(text.as_bytes()).map_err(FetchError::Keep);
        self.documents("the ConfigMap", allowance, write)
    }

    /// Keeps documents in a file that is named by their content, and opens it. The file is charged as long as
    /// the catalog is in use.
    fn documents(
        &self,
        source: &str,
        allowance: &Allowance,
        write: impl FnOnce(&mut dyn Write) -> Result<(), FetchError>,
    ) -> Result<FetchedCatalog, FetchError> {
        let directory = self.options.cache.documents();
        private_directory(&directory).map_err(FetchError::Keep)?;
        let temporary = tempfile::NamedTempFile::new_in(&directory).map_err(FetchError::Keep)?;
        let limited = Limited { file: temporary.as_file(), left: allowance.left() };
        let mut file = BufWriter::new(limited);
        let written = write(&mut file).and_then(|()| file.flush().map_err(FetchError::Keep));
        if file.get_ref().left == 0 {
            return Err(allowance.exceeded(source).into());
        }
        written?;
        drop(file);
        let size = temporary.as_file().metadata().map_err(FetchError::Keep)?.len();
        let charge = allowance.charge(source, disk_bytes(size))?;
        let digest = content_digest(temporary.path()).map_err(FetchError::Keep)?;
        let path = directory.join(format!("{digest}.json"));
        // Content names the file, so one that is there already is the same.
        if !path.exists() {
            temporary.persist(&path).map_err(|error| FetchError::Keep(error.error))?;
        }
        let lock = File::open(&path).map_err(FetchError::Keep)?;
        // A file system without locks cannot be pruned by locks either.
        let _ = lock.lock_shared();
        let mut fetched = self.opened(&path, Some(digest), allowance)?;
        fetched.document = Some(KeptDocument { _lock: lock, _charge: charge });
        Ok(fetched)
    }

    /// Opens what lies in the cache and is never changed there.
    fn opened(
        &self,
        path: &Path,
        digest: Option<String>,
        allowance: &Allowance,
    ) -> Result<FetchedCatalog, FetchError> {
        let bounds = OpenBounds { limits: &self.options.limits.catalogs, allowance };
        let opened = open_within(path, &self.open_options(), &bounds)?;
        let digest = digest.unwrap_or_else(|| opened.digest().to_owned());
        Ok(FetchedCatalog::fresh(opened, digest))
    }
}

impl FetchedCatalog {
    fn fresh(opened: OpenedCatalog, digest: String) -> Self {
        let (staleness, staleness_summary) = (String::new(), String::new());
        Self { opened, digest, staleness, staleness_summary, document: None }
    }
}

/// A file that takes no more than so many bytes.
struct Limited<'f> {
    file: &'f File,
    /// How many bytes it takes; 0 as soon as one did not fit.
    left: u64,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(bytes.len() as u64) {
            Some(left) if left > 0 => self.left = left,
            _ => {
                self.left = 0;
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
        }
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads the ConfigMap in a file.
fn read_config_map(path: &Path) -> Result<Object, FetchError> {
    let unusable =
        |reason: String| FetchError::ConfigMap(format!("`{}`: {reason}", path.display()));
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| unusable(error.to_string()))?;
    let limit = MAX_CONFIG_MAP_BYTES as u64;
    file.take(limit + 1).read_to_end(&mut text).map_err(|error| unusable(error.to_string()))?;
    if text.len() as u64 > limit {
        return Err(unusable(format!("it is larger than {limit} bytes")));
    }
    let read = read_objects(&path.display().to_string(), &text);
    let found = read.objects.into_iter().map(|located| located.object);
    found
        .into_iter()
        .find(|object| object.kind() == operon_object::known::CONFIG_MAP)
        .ok_or_else(|| unusable("there is no ConfigMap in it".to_owned()))
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(i64::try_from(since_1970.as_millis()).unwrap_or(0))
}

fn content_digest(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
