//! Catalogs and bundles from where they are kept: directories, archives and registries, opened fast and
//! kept as snapshots.
//!
//! [`Fetcher`] is the one door through which they come in, from wherever they are; [`Images`] pulls,
//! compares, unpacks and keeps what lies in images. [`open_catalog`] reads a directory on all cores, and
//! keeps what was built so that the next opening costs milliseconds. What documents mean is decided in
//! `wire/fbc` and `core/catalog`, what images are made of in `wire/oci`. [`SourceCatalogs`] puts all of it
//! behind the driver's port.

mod boundary;
mod cache;
mod catalogs;
mod certificate;
mod cold;
mod contents;
mod directory;
mod error;
mod fetcher;
mod fingerprint;
mod images;
mod limits;
mod lines;
mod location;
mod mapping;
mod open;
mod pack;
mod pieces;
mod pull_error;
mod quota;
mod registry;
mod signature;
mod slots;
mod snapshot;
mod status;
mod store;
mod workers;

pub use self::{
    boundary::{OutsideLink, check_link},
    cache::{CacheDirectory, MAX_SNAPSHOTS},
    catalogs::{
        ADDRESS_INTERVAL, FIRST_FETCH_PAUSE, FailureLog, LONGEST_FETCH_PAUSE, LOOK_AGAIN_AFTER,
        MAX_REMEMBERED_BUNDLES, MIN_POLL_INTERVAL, SourceCatalogs,
    },
    certificate::{CERTIFICATE_LIFETIME, ROTATION_MARGIN},
    cold::{MAX_READERS, Progress},
    contents::{BundleError, MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, bundle_contents, is_path},
    directory::{CatalogFile, MAX_FILES, find_files},
    error::{BodyError, OpenError},
    fetcher::{FetchError, FetchedCatalog, Fetcher},
    images::{
        Copied, Copier, CopyTarget, Images, ImagesOptions, MAX_COPIED_MANIFESTS,
        MAX_LOOKED_AT_MANIFESTS, Prospect, Stale, Tree, write_layout, write_layout_archive,
    },
    limits::{
        ANSWER_TIMEOUT, BundleLimits, CONNECT_TIMEOUT, CatalogLimits, FETCH_DEADLINE, FIRST_PAUSE,
        HELPER_TIMEOUT, LONGEST_PAUSE, Limits, MANIFEST_DEADLINE, MAX_ARCHIVE_FILES, MAX_ATTEMPTS,
        MAX_IMAGE_BYTES, MAX_LAYER_BYTES, MAX_REDIRECTS, MAX_TAGS_BYTES, MAX_TENANT_BUNDLE_BYTES,
        MAX_TENANT_BUNDLES, MAX_TENANT_CATALOG_BYTES, MAX_TENANT_CATALOG_NAME_BYTES,
        MAX_TENANT_DECLARED_BYTES, MAX_TENANT_DECOMPRESSED_BYTES, MAX_TENANT_DOCUMENT_BYTES,
        MAX_TENANT_KEPT_BYTES, MAX_TENANT_MANIFEST_BYTES, MAX_TENANT_NAME_BYTES,
        MAX_TENANT_READERS, MAX_TENANT_TREE_ENTRIES, PARALLEL_DOWNLOADS, SLOWEST_UPLOAD,
        STALL_BYTES, STALL_WINDOW, TENANT_FETCH_DEADLINE, TENANT_STALL_BYTES, UPLOAD_CHUNK_BYTES,
    },
    lines::{Excerpt, Lines},
    location::{Choice, Location, LocationError},
    open::{OpenOptions, OpenedBy, OpenedCatalog, open_catalog},
    pack::{MAX_PACKED_BYTES, PackError, Packed, pack},
    pieces::{PIECE_BYTES, Piece, Pieces},
    pull_error::PullError,
    quota::{
        Allowance, MAX_CATALOG_MEMORY, MAX_NAMESPACE_BYTES, MAX_NAMESPACE_CATALOG_MEMORY,
        MAX_NAMESPACE_CATALOGS, MAX_TENANT_IMAGE_BYTES, MAX_TENANTS_BYTES,
    },
    registry::{CertificateAuthorities, CredentialSources, MAX_PULL_SECRETS, Registries},
    signature::{MAX_SIGNATURES, SignaturePolicy},
    store::{
        CacheEntry, EntryKind, MAX_CACHE_BYTES, PruneWish, Pruned, cache_limit, parse_cache_limit,
    },
    workers::{MAX_FETCHES, MAX_HOST_FETCHES, MAX_NAMESPACE_FETCHES, MAX_SHARED_HOST_FETCHES},
};
