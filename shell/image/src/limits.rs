//! How long and how much a registry may keep us busy.
//!
//! Every number has a name and a reason; tests shorten them. What a single document may hold is
//! limited where it is read, in `wire/oci`.

use std::time::Duration;

use operon_document::json::MAX_DOCUMENT_BYTES;
use operon_fbc::ReadLimits;
use operon_oci::layer::LayerLimits;

use crate::{MAX_BUNDLE_BYTES, MAX_READERS};

/// How long a connection may take to come about: ten times what the slowest known registry needs.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a registry may take to begin its answer; a cold object store behind it needs seconds.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a body is watched before it counts as stalled.
pub const STALL_WINDOW: Duration = Duration::from_secs(30);

/// The fewest bytes of a body that must arrive in a [`STALL_WINDOW`]: 8 KiB per second, which the slowest
/// line in use gives to each of [`PARALLEL_DOWNLOADS`]. A server that drips bytes is given up.
pub const STALL_BYTES: u64 = 256 << 10;

/// The same where tenants choose the servers: 34 KiB per second. Clusters have good lines, and a server
/// that drips holds a thread that others wait for.
pub const TENANT_STALL_BYTES: u64 = 1 << 20;

/// How long one registry may take for the manifests and the configuration of an image, attempts and pauses
/// included. They have kilobytes, and most registries send them within a second.
pub const MANIFEST_DEADLINE: Duration = Duration::from_secs(2 * 60);

/// How long one fetch may talk to registries in total: half a gigabyte over a slow line.
pub const FETCH_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// The same where tenants choose the servers: the largest image that they may have takes as long at 2.3 MB
/// per second.
pub const TENANT_FETCH_DEADLINE: Duration = Duration::from_secs(15 * 60);

/// The most bytes that the layers of a tenant's image decompress to: more than twice the largest catalog image
/// known. Time is what they cost.
pub const MAX_TENANT_DECOMPRESSED_BYTES: u64 = 8 << 30;

/// The most bytes of the files that are kept of a tenant's image: as much as is read of a catalog.
pub const MAX_TENANT_KEPT_BYTES: u64 = MAX_TENANT_CATALOG_BYTES;

/// The most files, directories and links of a tenant's image that are kept: five times the largest catalog known.
pub const MAX_TENANT_TREE_ENTRIES: usize = 50_000;

/// The most bytes that their paths have together. Several copies are in memory while a catalog is opened.
pub const MAX_TENANT_NAME_BYTES: usize = 8 << 20;

/// The most bytes that all documents of a tenant's catalog have: twice the largest catalog known. Time is what they
/// cost, as they are read piece by piece.
pub const MAX_TENANT_CATALOG_BYTES: u64 = 512 << 20;

/// The most bytes of one document of a tenant's catalog: more than twice the largest known, and as much as a registry
/// server can send in one message. Hostile documents take thirty times their size or more while they are read.
pub const MAX_TENANT_DOCUMENT_BYTES: usize = 4 << 20;

/// The most bytes of memory that the declarations of a tenant's catalog may take, counted generously. Of hostile
/// catalogs just below it, eleven families of them, building took 70 to 160 MB in all; the largest catalog known,
/// with 218 MB of documents, takes 73 MB.
pub const MAX_TENANT_DECLARED_BYTES: u64 = 128 << 20;

/// The most bundles of a tenant's catalog: twenty times the largest catalog known, and as many as are fetched from a
/// registry server.
pub const MAX_TENANT_BUNDLES: u64 = 200_000;

/// The most bytes of a name in a tenant's catalog: names become parts of Kubernetes names, which have 253.
pub const MAX_TENANT_CATALOG_NAME_BYTES: usize = 4 << 10;

/// The most bytes of the manifests of a tenant's bundle: more than twice the largest known.
pub const MAX_TENANT_BUNDLE_BYTES: u64 = 16 << 20;

/// The most bytes of one manifest of a tenant's bundle: more than twice what an API server stores of one object. It is
/// read like a document of a catalog.
pub const MAX_TENANT_MANIFEST_BYTES: u64 = 4 << 20;

/// The most threads that read a tenant's catalog: each holds a document.
pub const MAX_TENANT_READERS: usize = 2;

/// How often a request is tried, the first time included.
pub const MAX_ATTEMPTS: u32 = 5;

/// How long to wait before the second attempt; each further pause is twice as long.
pub const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause between attempts, and the longest `Retry-After` that is waited for.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How many redirects are followed; registries need one, their object stores another.
pub const MAX_REDIRECTS: usize = 5;

/// The most bytes of one layer as it travels: ten times the largest catalog layer known.
pub const MAX_LAYER_BYTES: u64 = 4 << 30;

/// The most bytes of all layers of an image as they travel.
pub const MAX_IMAGE_BYTES: u64 = 16 << 30;

/// How many bytes of a blob go into one request of an upload; registries behind proxies refuse
/// bodies that are much larger.
pub const UPLOAD_CHUNK_BYTES: usize = 8 << 20;

/// How many bytes of an upload must leave in a second, so that it is waited for: a slow line has four
/// times that.
pub const SLOWEST_UPLOAD: u64 = 32 << 10;

/// The most bytes of a list of tags that is read for a suggestion.
pub const MAX_TAGS_BYTES: u64 = 1 << 20;

/// How many layers are fetched at once; more make a registry suspicious rather than fast.
pub const PARALLEL_DOWNLOADS: usize = 3;

/// The most files of an archive that is read as an image: layers, and a few documents for each image.
pub const MAX_ARCHIVE_FILES: usize = 100_000;

/// How long a program that keeps credentials may take: it may ask a keyring that is locked.
pub const HELPER_TIMEOUT: Duration = Duration::from_secs(30);

/// The limits that depend on the network rather than on documents.
#[derive(Debug, Clone)]
pub struct Limits {
    /// See [`CONNECT_TIMEOUT`].
    pub connect_timeout: Duration,
    /// See [`ANSWER_TIMEOUT`].
    pub answer_timeout: Duration,
    /// See [`STALL_WINDOW`].
    pub stall_window: Duration,
    /// See [`STALL_BYTES`].
    pub stall_bytes: u64,
    /// See [`MANIFEST_DEADLINE`].
    pub manifest_deadline: Duration,
    /// See [`FETCH_DEADLINE`].
    pub deadline: Duration,
    /// See [`MAX_ATTEMPTS`].
    pub attempts: u32,
    /// See [`FIRST_PAUSE`].
    pub first_pause: Duration,
    /// See [`LONGEST_PAUSE`].
    pub longest_pause: Duration,
    /// See [`MAX_LAYER_BYTES`].
    pub layer_bytes: u64,
    /// See [`MAX_IMAGE_BYTES`].
    pub image_bytes: u64,
    /// See [`HELPER_TIMEOUT`].
    pub helper_timeout: Duration,
    /// What unpacking may take.
    pub layers: LayerLimits,
    /// What reading a catalog may take.
    pub catalogs: CatalogLimits,
    /// What reading a bundle may take.
    pub bundles: BundleLimits,
}

/// The limits for reading the manifests of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleLimits {
    /// The most bytes of all manifests.
    pub bytes: u64,
    /// The most bytes of one manifest.
    pub manifest_bytes: u64,
}

impl BundleLimits {
    /// Returns the limits for bundles of tenants.
    pub fn of_tenants() -> Self {
        Self { bytes: MAX_TENANT_BUNDLE_BYTES, manifest_bytes: MAX_TENANT_MANIFEST_BYTES }
    }
}

impl Default for BundleLimits {
    fn default() -> Self {
        Self { bytes: MAX_BUNDLE_BYTES, manifest_bytes: MAX_BUNDLE_BYTES }
    }
}

/// The limits for reading the documents of a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogLimits {
    /// The most bytes of all documents.
    pub bytes: u64,
    /// The most bytes of one document.
    pub document_bytes: usize,
    /// The most threads that read.
    pub readers: usize,
    /// What the documents may declare; `None` for everything that memory holds.
    pub declarations: Option<ReadLimits>,
}

impl CatalogLimits {
    /// Returns the limits for catalogs of tenants.
    pub fn of_tenants() -> Self {
        Self {
            bytes: MAX_TENANT_CATALOG_BYTES,
            document_bytes: MAX_TENANT_DOCUMENT_BYTES,
            readers: MAX_TENANT_READERS,
            declarations: Some(ReadLimits {
                declared_bytes: MAX_TENANT_DECLARED_BYTES,
                bundles: MAX_TENANT_BUNDLES,
                name_bytes: MAX_TENANT_CATALOG_NAME_BYTES,
            }),
        }
    }
}

/// A user's own catalogs have no limits but those of the format.
impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            bytes: u64::MAX,
            document_bytes: MAX_DOCUMENT_BYTES,
            readers: MAX_READERS,
            declarations: None,
        }
    }
}

impl Limits {
    /// Returns the limits where tenants choose the servers.
    pub fn of_tenants() -> Self {
        Self {
            stall_bytes: TENANT_STALL_BYTES,
            deadline: TENANT_FETCH_DEADLINE,
            layers: LayerLimits {
                decompressed_bytes: MAX_TENANT_DECOMPRESSED_BYTES,
                kept_bytes: MAX_TENANT_KEPT_BYTES,
                tree_entries: MAX_TENANT_TREE_ENTRIES,
                name_bytes: MAX_TENANT_NAME_BYTES,
                ..LayerLimits::default()
            },
            catalogs: CatalogLimits::of_tenants(),
            bundles: BundleLimits::of_tenants(),
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_timeout: CONNECT_TIMEOUT,
            answer_timeout: ANSWER_TIMEOUT,
            stall_window: STALL_WINDOW,
            stall_bytes: STALL_BYTES,
            manifest_deadline: MANIFEST_DEADLINE,
            deadline: FETCH_DEADLINE,
            attempts: MAX_ATTEMPTS,
            first_pause: FIRST_PAUSE,
            longest_pause: LONGEST_PAUSE,
            layer_bytes: MAX_LAYER_BYTES,
            image_bytes: MAX_IMAGE_BYTES,
            helper_timeout: HELPER_TIMEOUT,
            layers: LayerLimits::default(),
            catalogs: CatalogLimits::default(),
            bundles: BundleLimits::default(),
        }
    }
}
