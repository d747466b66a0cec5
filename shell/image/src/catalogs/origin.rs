//! Where the catalog of a CatalogSource comes from.
//!
//! Nothing is read here.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use operon_driver::CatalogRequest;
use operon_kinds::{CatalogSource, parse_duration};
use operon_object::{Object, Value};
use operon_oci::Reference;

use crate::contents::is_path;

/// Upstream: how often a newer image is looked for when nobody can read how often it should be.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// However short an interval is written, a registry is not asked more often than this.
pub const MIN_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How often a registry behind an address is asked again. Upstream keeps what it read for five minutes.
pub const ADDRESS_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Where a catalog comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// A directory or a file.
    Path(PathBuf),
    /// An image.
    Image {
        /// As it is written.
        image: String,
        /// Where paths count from, if it may lie on this machine and not only in a registry.
        base: Option<PathBuf>,
        /// The contents of the pull secrets.
        credentials: Vec<Vec<u8>>,
    },
    /// A registry server.
    Address(String),
    /// What a ConfigMap holds; `None` while there is none of that name.
    ConfigMap(Option<Value>),
}

impl Origin {
    /// Says where the catalog of a CatalogSource comes from; paths count from `base`, and without one
    /// nothing on this machine is meant.
    pub(super) fn of(request: &CatalogRequest<'_>, base: Option<&Path>) -> Self {
        let source = CatalogSource::read(request.source);
        if source.reads_config_map().is_some() {
            return Self::ConfigMap(request.config_map.map(|found| found.at(&["data"]).clone()));
        }
        match (source.image(), source.address(), base) {
            ("", address, _) => Self::Address(address.to_owned()),
            (image, _, Some(base)) if is_path(image) => {
                Self::Path(base.join(image.trim_start_matches("./")))
            }
            (image, _, base) => Self::Image {
                image: image.to_owned(),
                base: base.map(Path::to_owned),
                credentials: request
                    .pull_secrets
                    .iter()
                    .filter_map(|secret| auth(secret))
                    .collect(),
            },
        }
    }

    /// Says how often it is asked whether there is something newer.
    pub(super) fn interval(&self, source: CatalogSource<'_>) -> Option<Duration> {
        match self {
            // What a digest names never changes.
            Self::Image { image, .. } if image.contains("@sha256:") => None,
            Self::Image { .. } => source
                .poll_interval()
                .map(|written| parse_duration(written).unwrap_or(DEFAULT_POLL_INTERVAL))
                .map(|interval| interval.max(MIN_POLL_INTERVAL)),
            Self::Address(_) => Some(ADDRESS_INTERVAL),
            Self::Path(_) | Self::ConfigMap(_) => None,
        }
    }

    /// Returns the contents of the pull secrets.
    pub(super) fn credentials(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Image { credentials, .. } => credentials.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the host that is asked for it, as registries are named; empty if none is.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Image { image, .. } => registry_host(image),
            Self::Address(address) => address.to_ascii_lowercase(),
            Self::Path(_) | Self::ConfigMap(_) => String::new(),
        }
    }

    /// Names the place for people.
    pub(super) fn address(source: CatalogSource<'_>) -> String {
        let written = [source.image(), source.address(), source.config_map()];
        written.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
    }
}

/// Returns the host of the registry that an image is in; empty if the image is not in one.
pub(super) fn registry_host(image: &str) -> String {
    let reference = Reference::parse(image);
    reference.map_or_else(|_| String::new(), |found| found.registry_host().to_ascii_lowercase())
}

/// Returns the credentials in a Secret.
fn auth(secret: &Object) -> Option<Vec<u8>> {
    let names = [".dockerconfigjson", ".dockercfg"];
    let found = names.map(|name| secret.at(&["data", name]).str());
    let encoded = found.into_iter().find(|text| !text.is_empty())?;
    operon_document::decode_base64(encoded.as_bytes()).ok()
}
