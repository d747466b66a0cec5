//! Directories packed into the layer of an image, such that the same files always make the same layer.
//!
//! Contents and paths go in; owners, times, modes, empty directories and the order in which the disk lists
//! files do not. What the files mean is not looked at.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use operon_oci::build::{BuildError, BuiltLayer, LayerWriter};

use crate::{MAX_FILES, OutsideLink, check_link, limits::MAX_LAYER_BYTES};

/// The most bytes that are packed: a layer that has more when it travels would not be pulled.
pub const MAX_PACKED_BYTES: u64 = MAX_LAYER_BYTES;

/// Files that were packed.
#[derive(Debug)]
pub struct Packed {
    /// The layer.
    pub layer: BuiltLayer,
    /// How many files it holds.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Why a directory cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The name of a file is not text.
    #[error("the name of `{}` is not written in UTF-8; rename it", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Something is neither a file nor a directory.
    #[error(
        "`{}` is a link to a directory, or a device; only files and directories go into the image, so remove it",
        path.display()
    )]
    NotPlain {
        /// What it is.
        path: PathBuf,
    },
    /// A link leads out of the directory.
    #[error(transparent)]
    Outside(#[from] OutsideLink),
    /// There are too many files.
    #[error("`{}` has more than {MAX_FILES} files; is it the right directory?", path.display())]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
    },
    /// There are too many bytes.
    #[error(
        "`{}` has more than {MAX_PACKED_BYTES} bytes, with `{}`; is it the right directory?",
        root.display(),
        path.display()
    )]
    TooLarge {
        /// The directory.
        root: PathBuf,
        /// The file with which it became too large.
        path: PathBuf,
    },
    /// A path cannot be one of an image.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Packs what lies below directories, each below a path of the image; a file is packed under its own name.
///
/// Links to files are followed as long as they stay below `within`, which holds all directories. Names that begin with `..` are left out, as where catalogs are read:
/// Kubernetes keeps the versions of mounted files there.
pub fn pack(within: &Path, directories: &[(&Path, &str)]) -> Result<Packed, PackError> {
    let mut found = BTreeMap::new();
    for (directory, prefix) in directories {
        check_link(within, directory)?;
        find(within, directory, prefix, &mut found)?;
    }
    let mut writer = LayerWriter::new();
    let mut bytes = 0;
    for (path, location) in &found {
        let unreadable = |source| PackError::Unreadable { path: location.clone(), source };
        let file = File::open(location).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        bytes += size;
        if bytes > MAX_PACKED_BYTES {
            return Err(PackError::TooLarge { root: within.to_owned(), path: location.clone() });
        }
        writer.file(path, size, file)?;
    }
    Ok(Packed { layer: writer.finish(), files: found.len(), bytes })
}

/// Finds the files below a directory, by their paths in the image.
fn find(
    within: &Path,
    root: &Path,
    prefix: &str,
    found: &mut BTreeMap<String, PathBuf>,
) -> Result<(), PackError> {
    let unreadable = |path: &Path, source| PackError::Unreadable { path: path.to_owned(), source };
    if !fs::metadata(root).map_err(|source| unreadable(root, source))?.is_dir() {
        let name = root.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| PackError::NotText { path: root.to_owned() })?;
        found.insert(format!("{prefix}/{name}"), root.to_owned());
        return Ok(());
    }
    let mut pending = vec![(root.to_owned(), prefix.to_owned())];
    while let Some((directory, prefix)) = pending.pop() {
        let failed = |source| unreadable(&directory, source);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let location = entry.path();
            let name = entry.file_name();
            let name =
                name.to_str().ok_or_else(|| PackError::NotText { path: location.clone() })?;
            if name.starts_with("..") {
                continue;
            }
            let path = format!("{prefix}/{name}");
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                pending.push((location, path));
                continue;
            }
            let metadata =
                fs::metadata(&location).map_err(|source| unreadable(&location, source))?;
            if !metadata.is_file() {
                return Err(PackError::NotPlain { path: location });
            }
            if kind.is_symlink() {
                check_link(within, &location)?;
            }
            if found.len() == MAX_FILES {
                return Err(PackError::TooManyFiles { path: root.to_owned() });
            }
            found.insert(path, location);
        }
    }
    Ok(())
}
