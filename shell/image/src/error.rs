//! What can go wrong with the disk, with what to do about it.

use std::{io, path::PathBuf};

use operon_document::{json::JsonError, yaml::YamlError};

use crate::OutsideLink;

/// Why a catalog cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("there is no catalog at `{}`: no such file or directory", path.display())]
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The path exists, but cannot be looked into.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A link leads out of the catalog.
    #[error(transparent)]
    Outside(#[from] OutsideLink),
    /// The directory holds more files than a catalog can have.
    #[error("`{}` holds more than {limit} files; is it a catalog?", path.display())]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The catalog is larger than a controller reads.
    #[error(
        "the catalog has {excess}, which is more than is read for a CatalogSource; leave out packages, or split the \
         catalog"
    )]
    TooLarge {
        /// What exceeds which limit.
        excess: String,
    },
    /// The catalogs in use are too large together.
    #[error(
        "the catalog takes {bytes} bytes of memory, and {whose} may take {limit} together; delete CatalogSources, or \
         use smaller catalogs"
    )]
    Memory {
        /// How many bytes it takes.
        bytes: u64,
        /// Whose catalogs they are.
        whose: String,
        /// The limit.
        limit: u64,
    },
}

/// Why the text of a document cannot be read again.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The file is not what it was when the catalog was opened.
    #[error("`{}` changed since the catalog was opened; run the command again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The document is not JSON.
    #[error("a document of `{}` is not JSON: {source}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: JsonError,
    },
    /// The document is not YAML.
    #[error("a document of `{}` is not YAML: {source}", path.display())]
    NotYaml {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: YamlError,
    },
}
