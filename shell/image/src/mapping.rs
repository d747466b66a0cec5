//! A file mapped into memory: the one place of Operon that needs `unsafe`.
//!
//! Mapping is unsafe because another process could change the file under the map. Snapshots are
//! written under another name, moved into place and never changed afterwards, so the map of one
//! stays what it was even when it is replaced or removed.

use std::{fs::File, io};

use memmap2::Mmap;

/// Maps a snapshot file.
#[expect(unsafe_code, reason = "snapshot files are never changed in place, see above")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the file is a snapshot, which nobody writes to once it has its name.
    unsafe { Mmap::map(file) }
}
