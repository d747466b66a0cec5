//! The cache directory: its location, and how files get into it.
//!
//! Nothing in it is ever trusted: every file carries the hash of its content. Nothing in it is ever
//! changed in place: files are written under another name and moved, so that any number of processes
//! may use it at once. Only the user who fills it may read it, because images may be private.

use std::{
    env,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::SystemTime,
};

/// How many snapshots are kept; the ones that were written longest ago go first.
pub const MAX_SNAPSHOTS: usize = 64;

/// The mode of the cache's directories: a private image must not be readable by other users of the machine,
/// who would need no credentials for it.
const DIRECTORY_MODE: u32 = 0o700;

/// The mode of the cache's files, for the same reason.
const FILE_MODE: u32 = 0o600;

/// The directory for what can be made again.
#[derive(Debug, Clone)]
pub struct CacheDirectory {
    root: PathBuf,
}

impl CacheDirectory {
    /// Uses this directory; it is made when something is first kept in it.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the user's cache directory: `$OPERON_CACHE_DIR`, or `operon` below `$XDG_CACHE_HOME`
    /// or `~/.cache`. `None` when the environment names none of them.
    pub fn of_user() -> Option<Self> {
        let variable =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        variable("OPERON_CACHE_DIR")
            .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("operon")))
            .or_else(|| variable("HOME").map(|home| home.join(".cache/operon")))
            .map(Self::at)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn fingerprint_file(&self, root: &Path) -> PathBuf {
        let key = blake3::hash(root.as_os_str().as_encoded_bytes());
        self.root.join("catalogs").join(format!("{}.stamps", &key.to_hex()[..32]))
    }

    pub(crate) fn snapshot_file(&self, digest: &blake3::Hash) -> PathBuf {
        let name = format!("{}-{}.catalog", digest.to_hex(), program_identity());
        self.snapshots().join(name)
    }

    /// Returns where catalogs that were fetched as documents are kept.
    pub(crate) fn documents(&self) -> PathBuf {
        self.root.join("documents")
    }

    fn snapshots(&self) -> PathBuf {
        self.root.join("snapshots")
    }

    /// Removes the snapshots written longest ago beyond [`MAX_SNAPSHOTS`].
    pub(crate) fn prune_snapshots(&self) {
        let Ok(entries) = fs::read_dir(self.snapshots()) else {
            return;
        };
        let mut found: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        found.sort();
        let surplus = found.len().saturating_sub(MAX_SNAPSHOTS);
        for (_, path) in found.into_iter().take(surplus) {
            // Somebody else may have removed it already; it is only a cache.
            let _ = fs::remove_file(path);
        }
    }
}

/// Identifies this build of the program: a snapshot holds what its rules found, so another build,
/// whose rules may differ, must not use it.
fn program_identity() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        let program = env::current_exe().and_then(fs::metadata);
        if let Ok(metadata) = program {
            hasher.update(&metadata.len().to_le_bytes());
            let modified = metadata.modified().ok();
            let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            hasher.update(&since.map_or(0, |since| since.as_nanos()).to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    })
}

/// Creates a directory that only this user may enter, and its missing parents.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)?;
    // Earlier versions left the mode to the umask. The directory of another user cannot be changed; the
    // files in it are private all the same.
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        let _ = fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE));
    }
    Ok(())
}

/// Creates a directory that only this user may enter; one that exists already is an error.
pub(crate) fn new_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(DIRECTORY_MODE).create(path)
}

/// Creates a file that only this user may read; one that exists already is an error.
pub(crate) fn new_private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Writes a file of the cache, which only this user may read, under another name and moves it into place.
pub(crate) fn write_privately(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    private_directory(path.parent().unwrap_or(Path::new(".")))?;
    write_and_move(path, parts, new_private_file)
}

/// Writes a file under another name and moves it into place.
pub(crate) fn write_atomically(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    write_and_move(path, parts, |temporary| File::create(temporary))
}

fn write_and_move(
    path: &Path,
    parts: &[&[u8]],
    create: impl FnOnce(&Path) -> io::Result<File>,
) -> io::Result<()> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let directory = path.parent().unwrap_or(Path::new("."));
    let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!(".{}.{unique}.tmp", process::id()));
    let result = create(&temporary)
        .and_then(|file| write_parts(file, parts))
        .and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_parts(mut file: File, parts: &[&[u8]]) -> io::Result<()> {
    for part in parts {
        file.write_all(part)?;
    }
    file.flush()
}
