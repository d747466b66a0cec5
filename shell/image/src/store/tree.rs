//! Trees: the unpacked files of an image, with a record of what they are.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

use operon_oci::Digest;

use super::{
    CacheScope, Record, Store, Workspace, file_name, record, workspace::is_taken as is_locked,
};
use crate::{
    PullError,
    cache::{new_private_directory, new_private_file, private_directory},
};

/// The directory of the files themselves.
pub(super) const CONTENTS: &str = "contents";
/// The file that says what they are.
pub(super) const RECORD: &str = "record";
/// The file that is locked by those who use them; its time says when that was last.
pub(super) const LOCK: &str = "lock";

/// How many files are brought to the disk at once: the disk does several in the time of one.
const SYNCING_THREADS: usize = 8;

/// What a tree was kept for, which decides what was kept of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TreeKind {
    /// The directory that the label of a catalog names.
    Catalog,
    /// The manifests and the metadata of a bundle.
    Bundle,
}

impl TreeKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Bundle => "bundle",
        }
    }
}

/// Names a tree: the image, what was kept of it, and who may use it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TreeKey {
    pub(crate) digest: Digest,
    pub(crate) kind: TreeKind,
    pub(crate) scope: CacheScope,
}

/// A tree in use: as long as it lives, its files are not pruned.
#[derive(Debug, Clone)]
pub(crate) struct KeptTree {
    pub(crate) contents: PathBuf,
    pub(crate) record: Record,
    pub(crate) lock: Arc<File>,
}

impl Store {
    pub(super) fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    fn tree_directory(&self, key: &TreeKey, scope: &CacheScope) -> PathBuf {
        let name = file_name(&key.digest, scope);
        self.trees().join(format!("{name}-{}", key.kind.name()))
    }

    /// Returns a tree that was kept and is whole, from the scope of the key or the shared one.
    pub(crate) fn tree(&self, key: &TreeKey) -> Option<KeptTree> {
        key.scope.readable().find_map(|scope| self.whole_tree(&self.tree_directory(key, scope)))
    }

    /// Returns the tree in a directory; one that is damaged is removed.
    fn whole_tree(&self, directory: &Path) -> Option<KeptTree> {
        match open(directory) {
            Opened::Whole(tree) => Some(tree),
            Opened::Missing => None,
            Opened::Damaged => {
                self.bury(directory);
                None
            }
        }
    }

    /// Keeps a tree whose files lie in a workspace below [`Workspace::file`]`("contents")`.
    pub(crate) fn keep_tree(
        &self,
        key: &TreeKey,
        workspace: &Workspace,
        record: &Record,
    ) -> Result<KeptTree, PullError> {
        let made = workspace.file("tree");
        new_private_directory(&made).map_err(PullError::disk("make", &made))?;
        let contents = made.join(CONTENTS);
        fs::rename(workspace.file(CONTENTS), &contents)
            .map_err(PullError::disk("move", &contents))?;
        new_private_file(&made.join(LOCK)).map_err(PullError::disk("write", &made))?;
        record::write(&made.join(RECORD), &record.to_value())?;
        let files = record.files.keys().map(|path| contents.join(path));
        let files: Vec<PathBuf> = files.chain([made.join(RECORD)]).collect();
        sync_all(&files)?;

        let directory = self.tree_directory(key, &key.scope);
        let parent = self.trees();
        private_directory(&parent).map_err(PullError::disk("make", &parent))?;
        // Another process may have been faster, or a damaged tree be in the way.
        for _ in 0..3 {
            match fs::rename(&made, &directory) {
                Ok(()) => {}
                Err(error) if is_taken(&error) => {}
                Err(source) => {
                    return Err(PullError::Disk { action: "move", path: directory, source });
                }
            }
            if let Some(tree) = self.whole_tree(&directory) {
                return Ok(tree);
            }
        }
        let source = io::Error::other("another process keeps changing it");
        Err(PullError::Disk { action: "keep", path: directory, source })
    }

    /// Removes a tree that is damaged, unless it has been replaced meanwhile.
    fn bury(&self, directory: &Path) {
        let lock_file = directory.join(LOCK);
        let lock = File::open(&lock_file).ok();
        // Whoever uses a damaged tree gains nothing from keeping it, so it goes even without the lock.
        let is_replaced = lock.as_ref().is_some_and(|lock| {
            let _ = lock.try_lock();
            !is_same_file(lock, &lock_file)
        });
        if !is_replaced && inspect(directory).is_none() {
            let _ = self.remove(directory);
        }
    }

    /// Removes a tree that nobody uses; tells whether it did.
    pub(super) fn remove_unused(&self, directory: &Path) -> Result<bool, PullError> {
        let Ok(lock) = File::open(directory.join(LOCK)) else {
            return self.remove(directory).map(|()| true);
        };
        if is_locked(&lock.try_lock()) || !is_same_file(&lock, &directory.join(LOCK)) {
            return Ok(false);
        }
        self.remove(directory).map(|()| true)
    }

    /// Takes a tree out of sight at once, then removes it.
    fn remove(&self, directory: &Path) -> Result<(), PullError> {
        let grave = self.grave()?;
        match fs::rename(directory, &grave) {
            Ok(()) => fs::remove_dir_all(&grave).map_err(PullError::disk("remove", &grave)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => {
                Err(PullError::Disk { action: "remove", path: directory.to_owned(), source })
            }
        }
    }
}

enum Opened {
    Whole(KeptTree),
    Damaged,
    Missing,
}

fn open(directory: &Path) -> Opened {
    let lock_file = directory.join(LOCK);
    let lock = match File::options().read(true).write(true).open(&lock_file) {
        Ok(lock) => lock,
        Err(_) if directory.exists() => return Opened::Damaged,
        Err(_) => return Opened::Missing,
    };
    // Somebody is just removing it, or removed it before the lock was ours.
    if is_locked(&lock.try_lock_shared()) || !is_same_file(&lock, &lock_file) {
        return Opened::Missing;
    }
    let Some(record) = inspect(directory) else { return Opened::Damaged };
    let contents = directory.join(CONTENTS);
    // Only the order in which things are pruned depends on it.
    let _ = lock.set_modified(SystemTime::now());
    Opened::Whole(KeptTree { contents, record, lock: Arc::new(lock) })
}

/// Returns the record of a tree that is whole.
fn inspect(directory: &Path) -> Option<Record> {
    let record = Record::of_value(&record::read(&directory.join(RECORD))?)?;
    let files = record::files_below(&directory.join(CONTENTS))?;
    (files == record.files).then_some(record)
}

/// Tells whether an open file is still the one at a path.
pub(super) fn is_same_file(opened: &File, path: &Path) -> bool {
    let (Ok(opened), Ok(found)) = (opened.metadata(), fs::metadata(path)) else { return false };
    (opened.dev(), opened.ino()) == (found.dev(), found.ino())
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
        || error.kind() == io::ErrorKind::NotFound
}

/// Brings files to the disk: their sizes alone are compared later, so they must be there after a crash.
fn sync_all(files: &[PathBuf]) -> Result<(), PullError> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), PullError> {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = File::open(path).map_err(PullError::disk("read", path))?;
            file.sync_data().map_err(PullError::disk("write", path))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let count = SYNCING_THREADS.min(files.len());
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}
