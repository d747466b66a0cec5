//! Why a store could not be opened, and what to do about it.
//!
//! Whatever the reason, the file is left as it is: nothing in it is deleted.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
};

use crate::ConnectError;

/// Says why a store could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The directory of the file does not exist.
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The state directory is something else.
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// What is there, such as `a symbolic link`.
        found: &'static str,
    },
    /// The file is a link, a directory, a pipe or a device.
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there, such as `a symbolic link`.
        found: &'static str,
    },
    /// The file is empty or holds only zeros.
    Blank {
        /// The file.
        path: PathBuf,
    },
    /// The directory or the file may not be written.
    NotAllowed {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk is full.
    NoRoom {
        /// The file.
        path: PathBuf,
    },
    /// Another program has the store open.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer Operon.
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The version it is written in.
        found: u64,
        /// The newest version that is known here.
        known: u64,
    },
    /// Pages of the file do not hold what was written to them.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// An entry of the file is no object.
    CorruptObject {
        /// The file.
        path: PathBuf,
        /// The entry, as `namespace/name/group/kind`.
        key: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The cluster does not take an object that it is to begin with.
    Refused {
        /// The object, such as `CustomResourceDefinition subscriptions.operators.coreos.com`.
        key: String,
        /// The cluster's words.
        detail: String,
    },
    /// What a new cluster has could not be stored.
    NotStored {
        /// The reason, with the file.
        detail: String,
    },
    /// Another program has the store open and shares it, but is not understood.
    Unreachable {
        /// What came of asking it.
        source: ConnectError,
    },
    /// Reading or writing failed for another reason.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDirectory { directory } => write!(
                formatter,
                "the directory `{}` for the store does not exist: create it, or choose another one",
                directory.display()
            ),
            Self::NotADirectory { path, found } => write!(
                formatter,
                "the state directory `{}` is {found} instead of a directory: Operon does not use \
                 it; delete it, or choose another directory",
                path.display()
            ),
            Self::NotAFile { path, found } => write!(
                formatter,
                "the store `{}` is {found} instead of a regular file: Operon does not open it; \
                 delete it, or choose another directory",
                path.display()
            ),
            Self::Blank { path } => write!(
                formatter,
                "the store `{}` is empty or holds only zeros, so its content is lost: restore it \
                 from a backup, or delete the file to start with a new cluster",
                path.display()
            ),
            Self::NotAllowed { path, source } => write!(
                formatter,
                "the store `{}` cannot be written: {source}; make the file and its directory \
                 writable, or choose another directory",
                path.display()
            ),
            Self::NoRoom { path } => write!(
                formatter,
                "there is no room left on the disk for the store `{}`: make room and try again; \
                 nothing in it is lost",
                path.display()
            ),
            Self::Locked { path } => write!(
                formatter,
                "another program has the store `{}` open and does not share it: wait until it \
                 ends, or stop it; `operon up` shares its store through the socket `{}` beside it",
                path.display(),
                crate::SOCKET_FILE
            ),
            Self::NotAStore { path } => write!(
                formatter,
                "`{}` is not a store of Operon: it is left as it is; move it away, or choose \
                 another directory",
                path.display()
            ),
            Self::NewerFormat { path, found, known } => write!(
                formatter,
                "the store `{}` has format version {found}, and this Operon knows versions up to \
                 {known}: use a newer Operon, or choose another directory",
                path.display()
            ),
            Self::Damaged { path, detail } => write!(
                formatter,
                "the store `{}` is damaged: {detail}; it is left as it is: restore it from a \
                 backup, or move it away to start with a new cluster",
                path.display()
            ),
            Self::CorruptObject { path, key, detail } => write!(
                formatter,
                "the store `{}` is damaged: the entry `{key}` is not an object: {detail}; it is \
                 left as it is: restore it from a backup, or move it away to start with a new cluster",
                path.display()
            ),
            Self::Refused { key, detail } => {
                write!(formatter, "the cluster cannot begin with {key}: {detail}")
            }
            Self::NotStored { detail } => formatter.write_str(detail),
            Self::Unreachable { source } => source.fmt(formatter),
            Self::Io { path, source } => {
                write!(formatter, "the store `{}` cannot be used: {source}", path.display())
            }
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotAllowed { source, .. } | Self::Io { source, .. } => Some(source),
            Self::Unreachable { source } => Some(source),
            Self::NoDirectory { .. }
            | Self::NotADirectory { .. }
            | Self::NotAFile { .. }
            | Self::Blank { .. }
            | Self::NoRoom { .. }
            | Self::Locked { .. }
            | Self::NotAStore { .. }
            | Self::NewerFormat { .. }
            | Self::Damaged { .. }
            | Self::CorruptObject { .. }
            | Self::Refused { .. }
            | Self::NotStored { .. } => None,
        }
    }
}

impl OpenError {
    /// Tells what a failure of the system means for a file.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotAllowed { path, source }
            }
            kind if is_full(kind) => Self::NoRoom { path },
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidData => Self::NotAStore { path },
            io::ErrorKind::UnexpectedEof => {
                Self::Damaged { path, detail: "it ends too early".to_owned() }
            }
            _ => Self::Io { path, source },
        }
    }

    /// Tells what a failure of the database means for a file.
    pub(crate) fn from_database(path: &Path, error: redb::Error) -> Self {
        let owned = path.to_owned();
        match error {
            redb::Error::Io(source) => Self::from_io(path, source),
            redb::Error::DatabaseAlreadyOpen => Self::Locked { path: owned },
            redb::Error::Corrupted(detail) => Self::Damaged { path: owned, detail },
            // Somebody else's tables, or a database older than any that Operon wrote.
            redb::Error::UpgradeRequired(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableDoesNotExist(_) => Self::NotAStore { path: owned },
            other => Self::Io { path: owned, source: io::Error::other(other.to_string()) },
        }
    }
}

/// Tells whether a failure means that there is no room for more.
pub(crate) fn is_full(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_system_say_what_to_do() {
        let claims = [
            (io::ErrorKind::PermissionDenied, "make the file and its directory writable"),
            (io::ErrorKind::ReadOnlyFilesystem, "choose another directory"),
            (io::ErrorKind::StorageFull, "make room and try again"),
            (io::ErrorKind::QuotaExceeded, "make room and try again"),
            (io::ErrorKind::IsADirectory, "is not a store of Operon"),
            (io::ErrorKind::UnexpectedEof, "restore it from a backup"),
            (io::ErrorKind::TimedOut, "cannot be used: timed out"),
        ];
        for (kind, expected) in claims {
            let error = OpenError::from_io(Path::new("/shop/operon.redb"), io::Error::from(kind));
            let text = error.to_string();
            assert!(
                text.contains(expected) && text.contains("/shop/operon.redb"),
                "{kind}: {text}"
            );
        }
    }
}
