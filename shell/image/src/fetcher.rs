//! The one door: a catalog or a bundle, from wherever it is.
//!
//! Images, archives, registry servers and ConfigMaps become directories of documents and are then opened
//! like any other. Work is done where it is asked for; who does it beside other things is decided by the
//! caller.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use operon_api::read_objects;
use operon_bundle::{ConfigMapCatalog, LegacyDocuments, MAX_CONFIG_MAP_BYTES, render_config_map};
use operon_driver::CatalogServers;
use operon_object::{Object, Timestamp, Value};

use crate::{
    CacheDirectory, Images, ImagesOptions, Location, LocationError, OpenError, OpenOptions,
    OpenedCatalog, Progress, PullError, Tree, open_catalog,
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
    #[error("{0}")]
    Server(String),
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

    /// Fetches the catalog at a location, with these credentials beside those of the user.
    pub fn catalog(
        &self,
        location: &Location,
        credentials: &[Vec<u8>],
    ) -> Result<FetchedCatalog, FetchError> {
        match location {
            Location::Path(path) => {
                let opened = self.open(path, SystemTime::now())?;
                let digest = opened.digest().to_owned();
                Ok(FetchedCatalog { opened, digest, staleness: String::new() })
            }
            Location::Address(address) => {
                let servers = self.servers.as_ref().ok_or_else(|| {
                    FetchError::Server(format!("nothing here can ask a server, so not `{address}`"))
                })?;
                let write =
                    |file: &mut dyn Write| servers.fetch(address, file).map_err(FetchError::Server);
                self.documents(write)
            }
            Location::ConfigMap(path) => self.config_map(read_config_map(path)?.at(&["data"])),
            image => {
                let tree = self.images(credentials)?.fetch_catalog(image)?;
                let mut fetched = self.opened(
                    &tree.directory,
                    tree.digest.as_ref().map(|digest| digest.hex().to_owned()),
                )?;
                // A time and not an age: what is said of a catalog is written down, and must not change
                // while nothing happens.
                if let Some(stale) = &tree.stale {
                    let seen = timestamp(tree.seen);
                    fetched.staleness = format!("{location} as of {seen}: {}", stale.reason);
                }
                fetched.opened = fetched.opened.kept_by(tree);
                Ok(fetched)
            }
        }
    }

    /// Fetches the bundle at a location, with these credentials beside those of the user.
    pub fn bundle(&self, location: &Location, credentials: &[Vec<u8>]) -> Result<Tree, FetchError> {
        Ok(self.images(credentials)?.fetch_bundle(location)?)
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

    /// Opens the catalog that the data of a ConfigMap are.
    pub fn config_map(&self, data: &Value) -> Result<FetchedCatalog, FetchError> {
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
        self.documents(write)
    }

    /// Keeps documents in a file that is named by their content, and opens it.
    fn documents(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), FetchError>,
    ) -> Result<FetchedCatalog, FetchError> {
        let directory = self.options.cache.documents();
        fs::create_dir_all(&directory).map_err(FetchError::Keep)?;
        let temporary = tempfile::NamedTempFile::new_in(&directory).map_err(FetchError::Keep)?;
        let mut file = BufWriter::new(temporary.as_file());
        write(&mut file)?;
        file.flush().map_err(FetchError::Keep)?;
        drop(file);
        let digest = content_digest(temporary.path()).map_err(FetchError::Keep)?;
        let path = directory.join(format!("{digest}.json"));
        // Content names the file, so one that is there already is the same.
        if !path.exists() {
            temporary.persist(&path).map_err(|error| FetchError::Keep(error.error))?;
        }
        self.opened(&path, Some(digest))
    }

    /// Opens what lies in the cache and is never changed there.
    fn opened(&self, path: &Path, digest: Option<String>) -> Result<FetchedCatalog, FetchError> {
        let opened = open_catalog(path, &self.open_options())?;
        let digest = digest.unwrap_or_else(|| opened.digest().to_owned());
        Ok(FetchedCatalog { opened, digest, staleness: String::new() })
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
