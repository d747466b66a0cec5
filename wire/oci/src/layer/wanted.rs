//! Which files of an image are kept.
//!
//! The directories above a wanted one matter too, because an upper layer can replace or hide them; they
//! are known here, but their other files are not kept.

use std::collections::BTreeSet;

use super::{LayerProblem, path};

/// Says which files of an image are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The directories; the empty path stands for all.
    directories: BTreeSet<String>,
    /// Files outside of them that hard links lead to; they are kept, but not part of the result.
    files: BTreeSet<String>,
}

impl Wanted {
    /// Keeps all files.
    pub fn everything() -> Self {
        Self { directories: BTreeSet::from([String::new()]), files: BTreeSet::new() }
    }

    /// Keeps the files below some directories, such as `/configs` or `manifests/`, or a file of that name.
    /// One that leads out of the image is refused.
    pub fn directories<T: AsRef<str>>(
        directories: impl IntoIterator<Item = T>,
    ) -> Result<Self, LayerProblem> {
        let plain =
            |directory: T| path::plain(directory.as_ref().as_bytes()).map(|plain| plain.path);
        let directories = directories.into_iter().map(plain).collect::<Result<_, _>>()?;
        Ok(Self { directories, files: BTreeSet::new() })
    }

    /// Looks at some more files, because hard links lead to them: those of
    /// [`Unpacked::needed`](super::Unpacked::needed).
    #[must_use]
    pub fn and_files<T: AsRef<str>>(mut self, files: impl IntoIterator<Item = T>) -> Self {
        self.files.extend(files.into_iter().map(|file| file.as_ref().to_owned()));
        self
    }

    /// Tells whether a path is part of the result.
    pub(super) fn is_result(&self, path: &str) -> bool {
        self.directories.iter().any(|directory| is_at_or_below(path, directory))
    }

    /// Tells whether the content of a file is kept.
    pub(super) fn is_kept(&self, path: &str) -> bool {
        self.is_result(path) || self.files.contains(path)
    }

    /// Tells whether a path is above a wanted one.
    pub(super) fn is_above(&self, path: &str) -> bool {
        self.directories.iter().chain(&self.files).any(|wanted| is_at_or_below(wanted, path))
    }
}

/// Tells whether a path is a directory or lies in it; everything lies in the root.
pub(super) fn is_at_or_below(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
