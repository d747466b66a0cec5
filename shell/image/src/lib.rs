//! Catalogs from where they are kept: directories and files today, opened fast and kept as snapshots.
//!
//! This room touches the disk and nothing else: it finds files, reads them on all cores, and keeps
//! what was built so that the next opening costs milliseconds. What documents mean is decided in
//! `wire/fbc` and `core/catalog`.

mod cache;
mod cold;
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
    cold::{MAX_READERS, Progress},
    directory::{CatalogFile, MAX_FILES, find_files},
    error::{BodyError, OpenError},
    lines::{Excerpt, Lines},
    open::{OpenOptions, OpenedBy, OpenedCatalog, open_catalog},
    pieces::{PIECE_BYTES, Piece, Pieces},
};
