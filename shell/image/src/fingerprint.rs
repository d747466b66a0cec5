//! Fingerprints: recognising unchanged files without reading them.
//!
//! A fingerprint holds the stamps of a catalog's files and the hash of their content. If the stamps
//! are the same, so is the content, unless a file was changed within the resolution of its time
//! stamps; stamps that fresh are not trusted and the content is hashed again.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    cache::write_privately,
    directory::{CatalogFile, Stamp},
};

const MAGIC: [u8; 16] = *b"operon stamps 1\n";

/// A file changed this shortly before its stamp was taken may change again unseen. File systems
/// resolve times to two seconds at worst.
pub(crate) const FRESH: Duration = Duration::from_secs(2);

/// Returns the content hash of files that look exactly as they did when it was recorded.
pub(crate) fn recall(path: &Path, files: &[CatalogFile]) -> Option<blake3::Hash> {
    let bytes = fs::read(path).ok()?;
    let (body, checksum) = bytes.split_at_checked(bytes.len().checked_sub(blake3::OUT_LEN)?)?;
    if blake3::hash(body).as_bytes() != checksum {
        return None;
    }
    let rest = body.strip_prefix(&MAGIC)?;
    let (digest, recorded) = rest.split_at_checked(blake3::OUT_LEN)?;
    let (taken, stamps) = recorded.split_at_checked(16)?;
    let taken = i128::from_le_bytes(taken.try_into().ok()?);
    if stamps != encode(files)? || files.iter().any(|file| is_fresh(file, taken)) {
        return None;
    }
    blake3::Hash::from_slice(digest).ok()
}

/// Records the content hash of files, with how they looked when they were found at `taken`.
pub(crate) fn record(
    path: &Path,
    files: &[CatalogFile],
    taken: SystemTime,
    digest: &blake3::Hash,
) -> io::Result<()> {
    let Some(stamps) = encode(files) else {
        return Ok(());
    };
    let taken = taken.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as i128);
    let mut body = MAGIC.to_vec();
    body.extend_from_slice(digest.as_bytes());
    body.extend_from_slice(&taken.to_le_bytes());
    body.extend_from_slice(&stamps);
    let checksum = blake3::hash(&body);
    write_privately(path, &[&body, checksum.as_bytes()])
}

fn is_fresh(file: &CatalogFile, taken: i128) -> bool {
    file.stamp.is_none_or(|stamp| stamp.newest() + FRESH.as_nanos() as i128 > taken)
}

/// Encodes paths and stamps; `None` when a file cannot be looked at.
fn encode(files: &[CatalogFile]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(files.len() * 96);
    for file in files {
        let Stamp { size, modified, changed, inode, device } = file.stamp?;
        bytes.extend_from_slice(&(file.path.len() as u64).to_le_bytes());
        bytes.extend_from_slice(file.path.as_bytes());
        for word in [size, inode, device] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&modified.to_le_bytes());
        bytes.extend_from_slice(&changed.to_le_bytes());
    }
    Some(bytes)
}
