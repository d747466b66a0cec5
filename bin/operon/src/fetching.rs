//! How catalogs and bundles are brought here: what can be typed about it, and the door that is set up so.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use operon_driver::AddressPolicy;
use operon_image::{CacheDirectory, Fetcher, ImagesOptions, Limits, PullError};
use operon_oci::Platform;
use operon_registry::{ClientOptions, Servers};

/// The environment variable that names the signature policy.
pub(crate) const SIGNATURE_POLICY_VARIABLE: &str = "OPERON_SIGNATURE_POLICY";

/// How catalogs and bundles are brought here.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FetchOptions {
    /// Reads every file again and keeps nothing
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
    /// Where what was fetched and read is kept [default: below the user's cache directory]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "no_cache")]
    pub(crate) cache_dir: Option<PathBuf>,
    /// Asks no registry: uses what was fetched before
    #[arg(long, global = true, env = "OPERON_OFFLINE", hide_env_values = true)]
    pub(crate) offline: bool,
    /// A registry that may be talked to without TLS, or with a certificate that nobody vouches for; may be
    /// given several times
    #[arg(
        long,
        global = true,
        value_name = "HOST[:PORT]",
        env = "OPERON_INSECURE_REGISTRIES",
        value_delimiter = ','
    )]
    pub(crate) insecure_registry: Vec<String>,
    /// Certificates of authorities to trust beside those of the system, as PEM
    #[arg(long, global = true, value_name = "FILE", env = "OPERON_CA_FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Credentials for registries, as `docker login` and `podman login` write them
    #[arg(long, global = true, value_name = "FILE", env = "REGISTRY_AUTH_FILE")]
    pub(crate) auth_file: Option<PathBuf>,
    /// Policy that says which signatures images must have, in the format of `containers-policy.json`
    ///
    /// Without it, signatures are not verified. Podman's own files are used only when they are named here,
    /// for instance `/etc/containers/policy.json`.
    #[arg(long, global = true, value_name = "FILE", env = SIGNATURE_POLICY_VARIABLE)]
    pub(crate) signature_policy: Option<PathBuf>,
    /// The platform to choose where an image is made for several [default: that of this machine]
    #[arg(long, global = true, value_name = "OS/ARCHITECTURE", value_parser = Platform::parse)]
    pub(crate) platform: Option<Platform>,
}

impl FetchOptions {
    /// Returns the cache, unless it is not to be used.
    pub(crate) fn cache(&self) -> Option<CacheDirectory> {
        match &self.cache_dir {
            _ if self.no_cache => None,
            Some(directory) => Some(CacheDirectory::at(directory)),
            None => CacheDirectory::of_user(),
        }
    }

    /// Sets up the one door for catalogs and bundles.
    pub(crate) fn fetcher(&self) -> anyhow::Result<Arc<Fetcher>> {
        self.fetcher_with(|_| {})
    }

    /// Sets up the fetcher of a controller, which fetches what tenants name: only from addresses that they
    /// may reach, and within the limits of tenants.
    pub(crate) fn fetcher_of_tenants(
        &self,
        addresses: &AddressPolicy,
    ) -> anyhow::Result<Arc<Fetcher>> {
        let servers = Servers {
            options: ClientOptions {
                addresses: addresses.clone(),
                ..ClientOptions::of_environment()
            },
        };
        let options = |cache| {
            let addresses = addresses.clone();
            Ok(ImagesOptions { addresses, limits: Limits::of_tenants(), ..self.options(cache)? })
        };
        Ok(Arc::new(Fetcher::new(self.cache(), options, Some(Arc::new(servers)))?))
    }

    /// Sets up the one door for catalogs and bundles, with something changed.
    pub(crate) fn fetcher_with(
        &self,
        change: impl FnOnce(&mut ImagesOptions),
    ) -> anyhow::Result<Arc<Fetcher>> {
        let servers = Arc::new(Servers { options: ClientOptions::of_environment() });
        let options = |cache| {
            let mut options = self.options(cache)?;
            change(&mut options);
            Ok(options)
        };
        Ok(Arc::new(Fetcher::new(self.cache(), options, Some(servers))?))
    }

    /// Says how images are fetched: as the user has it, and as it was typed.
    fn options(&self, cache: CacheDirectory) -> Result<ImagesOptions, PullError> {
        let mut options = ImagesOptions::of_user(cache)?;
        options.offline = self.offline;
        options.insecure.extend(self.insecure_registry.iter().cloned());
        // What was typed counts alone, as with other tools.
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
