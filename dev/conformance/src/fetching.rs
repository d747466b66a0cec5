//! How catalogs are opened and fetched: the options of `operon`, without a progress bar.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use clap::Args;
use operon_image::{
    CacheDirectory, Fetcher, ImagesOptions, Location, OpenOptions, OpenedCatalog, Progress,
    PullError, open_catalog,
};
use operon_oci::Platform;
use operon_registry::{ClientOptions, Servers};

/// How catalogs are opened and fetched.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FetchOptions {
    /// Read every file again and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// Directory of the cache [default: below the user's cache directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Use cached images only; never contact a registry
    #[arg(long, env = "OPERON_OFFLINE", hide_env_values = true)]
    offline: bool,
    /// Registry to contact without TLS, or whose certificate is not verified; repeatable
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        env = "OPERON_INSECURE_REGISTRIES",
        value_delimiter = ','
    )]
    insecure_registry: Vec<String>,
    /// Additional certificate authorities, as PEM
    #[arg(long, value_name = "FILE", env = "OPERON_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// Registry credentials, as written by `docker login` and `podman login`
    #[arg(long, value_name = "FILE", env = "REGISTRY_AUTH_FILE")]
    auth_file: Option<PathBuf>,
    /// Signature policy in the format of `containers-policy.json`
    #[arg(long, value_name = "FILE", env = "OPERON_SIGNATURE_POLICY")]
    signature_policy: Option<PathBuf>,
    /// Platform to choose from multi-platform images [default: that of this machine]
    #[arg(long, value_name = "OS/ARCHITECTURE", value_parser = Platform::parse)]
    platform: Option<Platform>,
}

impl FetchOptions {
    /// Opens the catalog in a directory or a file.
    pub(crate) fn open_path(&self, path: &Path) -> anyhow::Result<OpenedCatalog> {
        let (cache, progress) = (self.cache(), Progress::default());
        let now = SystemTime::now();
        let options =
            OpenOptions { cache: cache.as_ref(), progress: &progress, now, is_immutable: false };
        Ok(open_catalog(path, &options)?)
    }

    /// Opens the catalog at a location: a path, an image, a server or a ConfigMap.
    pub(crate) fn open_location(&self, location: &str) -> anyhow::Result<OpenedCatalog> {
        let location = Location::parse(location)?;
        if let Location::Path(path) = &location {
            return self.open_path(path);
        }
        let servers = Arc::new(Servers { options: ClientOptions::of_environment() });
        let fetcher = Fetcher::new(self.cache(), |cache| self.options(cache), Some(servers))?;
        let fetched = fetcher.catalog(&location, &[])?;
        if !fetched.staleness.is_empty() {
            eprintln!("warning: {}", fetched.staleness);
        }
        Ok(fetched.opened)
    }

    fn cache(&self) -> Option<CacheDirectory> {
        match &self.cache_dir {
            _ if self.no_cache => None,
            Some(directory) => Some(CacheDirectory::at(directory)),
            None => CacheDirectory::of_user(),
        }
    }

    fn options(&self, cache: CacheDirectory) -> Result<ImagesOptions, PullError> {
        let mut options = ImagesOptions::of_user(cache)?;
        options.offline = self.offline;
        options.insecure.extend(self.insecure_registry.iter().cloned());
        if let Some(file) = &self.ca_file {
            options.authorities.files = vec![file.clone()];
        }
        if let Some(file) = &self.auth_file {
            options.credentials.files = vec![file.clone()];
        }
        options.signatures.file.clone_from(&self.signature_policy);
        if let Some(platform) = &self.platform {
            options.platform = platform.clone();
        }
        Ok(options)
    }
}
