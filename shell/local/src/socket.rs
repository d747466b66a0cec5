//! Sockets in the file system: making one, and finding it.
//!
//! A socket appears under its name only when nobody but its owner can use it. Nothing is said on it
//! here.

use std::{
    error::Error,
    fmt, fs,
    fs::{DirBuilder, File, Permissions},
    io,
    os::{
        fd::AsRawFd as _,
        unix::{
            fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
};

/// The longest path that every system takes as the name of a socket.
const NAME_BYTES_LIMIT: usize = 100;

/// How often another name is tried for the directory that a socket is made in.
const NAME_ATTEMPTS: usize = 16;

/// Says why a socket could not be made.
#[derive(Debug)]
pub enum ServeError {
    /// Something else has the name.
    NotASocket {
        /// The name.
        path: PathBuf,
    },
    /// Another program listens there.
    InUse {
        /// The name.
        path: PathBuf,
    },
    /// The system refused.
    Io {
        /// The name.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASocket { path } => write!(
                formatter,
                "`{}` is in the way of the socket that shares the cluster: move it away",
                path.display()
            ),
            Self::InUse { path } => write!(
                formatter,
                "another program listens on the socket `{}`: stop it, or choose another directory",
                path.display()
            ),
            Self::Io { path, source } => {
                write!(formatter, "the socket `{}` cannot be made: {source}", path.display())
            }
        }
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotASocket { .. } | Self::InUse { .. } => None,
            Self::Io { source, .. } => Some(source),
        }
    }
}

/// A socket that was made here.
#[derive(Debug)]
pub(crate) struct Bound {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Takes the name away again, unless somebody else has it now.
impl Drop for Bound {
    fn drop(&mut self) {
        let is_ours =
            |found: &fs::Metadata| (found.dev(), found.ino()) == (self.device, self.inode);
        if fs::symlink_metadata(&self.path).as_ref().is_ok_and(is_ours) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Bound {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a socket; one that nobody listens on any more is replaced.
pub(crate) fn bind(path: &Path) -> Result<(UnixListener, Bound), ServeError> {
    let fail = |source| ServeError::Io { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ServeError::NotASocket { path: path.to_owned() });
        }
        Ok(_) if connect(path).is_ok() => {
            return Err(ServeError::InUse { path: path.to_owned() });
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(fail(error)),
    }
    let nursery = Nursery::beside(path).map_err(fail)?;
    let made = nursery.path.join("socket");
    let listener = by_short_name(&made, |name| UnixListener::bind(name)).map_err(fail)?;
    let finish = || {
        fs::set_permissions(&made, Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(&made)?;
        fs::rename(&made, path)?;
        Ok(Bound { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    };
    let bound = finish().map_err(fail)?;
    Ok((listener, bound))
}

/// Connects to a socket.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    by_short_name(path, |name| UnixStream::connect(name))
}

/// A directory that only we can enter, in which a socket is made.
struct Nursery {
    path: PathBuf,
}

impl Nursery {
    fn beside(path: &Path) -> io::Result<Self> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let process = std::process::id();
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..NAME_ATTEMPTS {
            let path = directory.join(format!(".operon-{process}-{attempt}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Uses a socket under a name that the system takes: where the path is too long, through the
/// directory that the process has open.
fn by_short_name<T>(path: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= NAME_BYTES_LIMIT || !cfg!(target_os = "linux") {
        return act(path);
    }
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return act(path);
    };
    let directory = File::open(directory)?;
    act(&PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name))
}
