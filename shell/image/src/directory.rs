//! Finding the files of a catalog.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use operon_fbc::{IGNORE_FILE_NAME, IgnoreRules};

use crate::{OpenError, check_link};

/// The most files a catalog may have: a hundred times the largest one known.
pub const MAX_FILES: usize = 1_000_000;

/// The most bytes of an `.indexignore`: a pattern for each of ten thousand files.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// A file of a catalog, and how it looked when it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogFile {
    /// The path below the catalog's root, with `/` between its parts.
    pub path: String,
    /// The path to open.
    pub location: PathBuf,
    /// Size, times and identity; `None` when the file cannot be looked at.
    pub stamp: Option<Stamp>,
}

/// What the system tells about a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub(crate) size: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    pub(crate) modified: i128,
    /// Nanoseconds since 1970 of the last change of anything about the file.
    pub(crate) changed: i128,
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// Returns when anything about the file changed last, in nanoseconds since 1970.
    pub(crate) fn newest(self) -> i128 {
        self.modified.max(self.changed)
    }
}

impl CatalogFile {
    pub(crate) fn size(&self) -> u64 {
        self.stamp.map_or(0, |stamp| stamp.size)
    }
}

/// Finds the files of a catalog: one file, or every file below a directory that no `.indexignore`
/// hides, in the order of their paths.
///
/// Links to files are followed, links to directories are not, as upstream does. A link to a file
/// outside of the directory is refused: what it leads to is not part of the catalog.
pub fn find_files(root: &Path) -> Result<Vec<CatalogFile>, OpenError> {
    let metadata = fs::metadata(root).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => OpenError::NotFound { path: root.to_owned() },
        _ => OpenError::Unreadable { path: root.to_owned(), source },
    })?;
    if !metadata.is_dir() {
        let name = root.file_name().unwrap_or(root.as_os_str());
        return Ok(vec![CatalogFile {
            path: name.to_string_lossy().into_owned(),
            location: root.to_owned(),
            stamp: Some(Stamp::of(&metadata)),
        }]);
    }
    let mut walk = Walk { root, files: Vec::new(), ignore_files: Vec::new() };
    walk.directory(root, "")?;
    let Walk { mut files, ignore_files, .. } = walk;
    let rules = IgnoreRules::new(
        ignore_files.iter().map(|(path, content)| (path.as_str(), content.as_slice())),
    );
    files.retain(|file| !rules.hides(&file.path));
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

struct Walk<'r> {
    root: &'r Path,
    files: Vec<CatalogFile>,
    ignore_files: Vec<(String, Vec<u8>)>,
}

impl Walk<'_> {
    fn directory(&mut self, root: &Path, prefix: &str) -> Result<(), OpenError> {
        // An explicit stack: directories may nest deeper than the program's stack allows.
        let mut pending = vec![(root.to_owned(), prefix.to_owned())];
        while let Some((directory, prefix)) = pending.pop() {
            let unreadable =
                |source: io::Error| OpenError::Unreadable { path: directory.clone(), source };
            for entry in fs::read_dir(&directory).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                // Kubernetes keeps the real files of a mounted ConfigMap in hidden directories
                // beside links to them; reading both would declare everything twice.
                if name.starts_with("..") {
                    continue;
                }
                let path =
                    if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
                let kind = entry.file_type().map_err(unreadable)?;
                if kind.is_dir() {
                    pending.push((entry.path(), path));
                } else {
                    self.file(entry.path(), path, kind.is_symlink())?;
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, location: PathBuf, path: String, is_link: bool) -> Result<(), OpenError> {
        if self.files.len() >= MAX_FILES {
            return Err(OpenError::TooManyFiles { path: self.root.to_owned(), limit: MAX_FILES });
        }
        let metadata = fs::metadata(&location).ok();
        // A link to a directory is not followed, and other things are not files.
        let is_file = metadata.as_ref().is_none_or(fs::Metadata::is_file);
        if is_link && is_file {
            check_link(self.root, &location)?;
        }
        if path.rsplit('/').next() == Some(IGNORE_FILE_NAME) {
            let content = read_ignore_file(&location)
                .map_err(|source| OpenError::Unreadable { path: location.clone(), source })?;
            self.ignore_files.push((path, content));
            return Ok(());
        }
        if !is_file {
            return Ok(());
        }
        let stamp = metadata.as_ref().map(Stamp::of);
        self.files.push(CatalogFile { path, location, stamp });
        Ok(())
    }
}

fn read_ignore_file(location: &Path) -> io::Result<Vec<u8>> {
    // A pipe would never end.
    if !fs::metadata(location)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut content = Vec::new();
    File::open(location)?.take(MAX_IGNORE_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_IGNORE_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_IGNORE_BYTES} bytes")));
    }
    Ok(content)
}
