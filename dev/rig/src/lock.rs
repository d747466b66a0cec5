//! The lock of a rig: whoever holds it owns the rig.
//!
//! The system frees it when its process ends, however that happens. The file is removed with the lock, so
//! a lock counts only while its file is still the one under that name.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::{RigError, places::Places};

/// How often a lock is tried whose file was removed meanwhile: each time, somebody else ended a rig.
const MAX_TRIES: usize = 100;

/// The lock of a rig, held.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of a rig, unless somebody else has it.
    pub(crate) fn take(name: &str, places: &Places) -> Result<Self, RigError> {
        let path = places.lock();
        let in_use = || RigError::InUse { name: name.to_owned() };
        for _ in 0..MAX_TRIES {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(RigError::file("open", &path))?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Self { file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(in_use()),
                Err(TryLockError::Error(error)) => return Err(RigError::file("lock", path)(error)),
            }
        }
        Err(in_use())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still held, so that nobody takes it in between.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Tells whether a file is still the one under its name.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
