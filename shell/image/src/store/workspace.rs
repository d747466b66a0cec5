//! Workspaces: where something is made before it has its place.
//!
//! A workspace is locked as long as its maker lives. One that is not locked was left behind by a process
//! that was killed, and is swept away by the next one.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime},
};

use super::{Store, tree::is_same_file};
use crate::{
    PullError,
    cache::{new_private_directory, new_private_file, private_directory},
};

/// The file whose lock says that the maker lives.
const LOCK: &str = "lock";

/// How old a workspace without a lock file must be to count as left behind: it is locked at once.
const YOUNG: Duration = Duration::from_secs(3600);

/// How many names are tried; each process numbers its own.
const MAX_NAMES: u32 = 1_000;

/// A directory of our own, removed when it is no longer needed.
#[derive(Debug)]
pub(crate) struct Workspace {
    path: PathBuf,
    _lock: File,
}

impl Workspace {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates an empty file that only this user may read.
    pub(crate) fn new_file(&self, name: &str) -> Result<PathBuf, PullError> {
        let path = self.file(name);
        new_private_file(&path).map_err(PullError::disk("write", &path))?;
        Ok(path)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What cannot be removed now is swept later.
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Store {
    fn workspaces(&self) -> PathBuf {
        self.root.join("temporary")
    }

    /// Makes a workspace, and sweeps those that were left behind.
    pub(crate) fn workspace(&self) -> Result<Workspace, PullError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        self.sweep();
        let parent = self.workspaces();
        private_directory(&parent).map_err(PullError::disk("make", &parent))?;
        let mut last = None;
        for _ in 0..MAX_NAMES {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{}-{number}", process::id()));
            match claim(&path) {
                Ok(lock) => return Ok(Workspace { path, _lock: lock }),
                Err(source) => last = Some((path, source)),
            }
        }
        let (path, source) = last.expect("bug: no name was tried");
        Err(PullError::Disk { action: "make", path, source })
    }

    /// Removes the workspaces of processes that are gone.
    pub(super) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.workspaces()) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            // The lock is held until all is gone, so that a maker who comes too late notices.
            let lock = File::open(path.join(LOCK));
            let is_left_behind = match &lock {
                Ok(lock) => lock.try_lock().is_ok(),
                Err(_) => is_old(&path),
            };
            if is_left_behind {
                // Another sweeper may be at it too.
                let _ = fs::remove_dir_all(&path);
            }
        }
    }

    /// Returns a free name in the same file system to move something to before it is removed.
    pub(super) fn grave(&self) -> Result<PathBuf, PullError> {
        let workspace = self.workspace()?;
        // The workspace goes, its unique name stays free for the move.
        Ok(workspace.path().with_extension("gone"))
    }
}

fn claim(path: &Path) -> io::Result<File> {
    new_private_directory(path)?;
    let lock = new_private_file(&path.join(LOCK))?;
    // Between the two lines a sweeper may have taken it for one that was left behind.
    if is_taken(&lock.try_lock()) || !is_same_file(&lock, &path.join(LOCK)) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Ok(lock)
}

/// Tells whether somebody else has a lock. A file system without locks is taken for one without others.
pub(super) fn is_taken(tried: &Result<(), TryLockError>) -> bool {
    matches!(tried, Err(TryLockError::WouldBlock))
}

fn is_old(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age > YOUNG)
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::Store;
    use crate::CacheDirectory;

    #[test]
    fn nobody_sweeps_what_others_just_make() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::new(&CacheDirectory::at(directory.path()));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let workspace = store.workspace().expect("a workspace");
                        fs::write(workspace.file("made"), "made").expect("it is still there");
                    }
                });
            }
        });
        store.sweep();
        let left = fs::read_dir(directory.path().join("images/temporary")).expect("a directory");
        assert_eq!(left.count(), 0);
    }
}
