//! The file under the store, with a gate in front of everything that would change it.
//!
//! The store is closed as a crash would close it: the gate is shut first, so that the database
//! cannot mark its file as cleanly left. That way there is one way to open a file, the one in which
//! the database checks every page before it believes any; a mark would make it skip that.

use std::{
    fs::File,
    io,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use redb::{BackendError, DatabaseError, StorageBackend, backends::FileBackend};

/// Says whether a file may be changed, from its opening to its closing.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    is_shut: AtomicBool,
}

impl Gate {
    /// Lets nothing through any more.
    pub(crate) fn shut(&self) {
        self.is_shut.store(true, Ordering::SeqCst);
    }
}

/// How many changes the disk still takes; tests fill it up.
#[derive(Debug)]
pub(crate) struct Room {
    changes: AtomicU64,
}

/// Nobody makes so many changes.
const ENDLESS: u64 = u64::MAX;

impl Room {
    pub(crate) fn endless() -> Arc<Self> {
        Arc::new(Self { changes: AtomicU64::new(ENDLESS) })
    }

    /// Makes the disk take so many more changes.
    #[cfg(test)]
    pub(crate) fn leave(&self, changes: Option<u64>) {
        self.changes.store(changes.unwrap_or(ENDLESS), Ordering::SeqCst);
    }

    fn take(&self) -> io::Result<()> {
        let count = |left| match left {
            ENDLESS => Some(ENDLESS),
            0 => None,
            some => Some(some - 1),
        };
        match self.changes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }
}

/// A file that is changed only as long as its gate is open and there is room.
#[derive(Debug)]
pub(crate) struct Disk {
    file: FileBackend,
    gate: Arc<Gate>,
    room: Arc<Room>,
}

impl Disk {
    pub(crate) fn new(file: File, gate: Arc<Gate>, room: Arc<Room>) -> Result<Self, DatabaseError> {
        Ok(Self { file: FileBackend::new(file)?, gate, room })
    }

    fn pass(&self) -> io::Result<()> {
        if self.gate.is_shut.load(Ordering::SeqCst) {
            return Err(io::Error::other("the store is closed"));
        }
        self.room.take()
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.pass()?;
        self.file.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.pass()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.pass()?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
