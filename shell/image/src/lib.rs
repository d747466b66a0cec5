//! Catalogs and bundles from where they are kept: directories and files today, opened fast and kept as
//! snapshots.
//!
//! This room touches the disk and nothing else: it finds files, reads them on all cores, and keeps
//! what was built so that the next opening costs milliseconds. What documents mean is decided in
//! `wire/fbc` and `core/catalog`. [`DirectoryCatalogs`] puts all of it behind the driver's port.

mod cache;
mod catalogs;
mod certificate;
mod cold;
mod contents;
mod directory;
mod error;
mod fingerprint;
mod lines;
mod mapping;
mod open;
mod pieces;
mod snapshot;

pub use self::{
    cache::{CacheDirectory, MAX_SNAPSHOTS},
    catalogs::{DirectoryCatalogs, LOOK_AGAIN_AFTER},
    certificate::{CERTIFICATE_LIFETIME, ROTATION_MARGIN},
    cold::{MAX_READERS, Progress},
    contents::{BundleError, MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, bundle_contents, is_path},
    directory::{CatalogFile, MAX_FILES, find_files},
    error::{BodyError, OpenError},
    lines::{Excerpt, Lines},
    open::{OpenOptions, OpenedBy, OpenedCatalog, open_catalog},
    pieces::{PIECE_BYTES, Piece, Pieces},
};
