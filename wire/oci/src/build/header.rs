//! Headers of a tar archive as POSIX describes them, with fixed owners, modes and times.
//!
//! A name that is long or not ASCII is written once more in a record of its own, as POSIX has it. Links
//! are not written.

use super::layer::Pieces;

/// The size of everything in a tar archive.
pub(super) const BLOCK_BYTES: usize = 512;
/// The largest number with eleven octal digits: 8 GiB, which no layer should have.
pub(super) const MAX_SIZE: u64 = 0o777_7777_7777;

const NAME_BYTES: usize = 100;
const FILE_MODE: u64 = 0o644;
const PROGRAM_MODE: u64 = 0o755;
const DIRECTORY_MODE: u64 = 0o755;
/// The name of an entry that describes the next one; nobody ever sees it.
const EXTENSION_NAME: &[u8] = b"././@PaxHeader";

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryType {
    File,
    Program,
    Directory,
    Extension,
}

/// Writes the header of an entry, and before it a description where the name needs one.
pub(super) fn write(archive: &mut Pieces, kind: EntryType, name: &str, size: u64) {
    if name.len() > NAME_BYTES || !name.is_ascii() {
        let record = record("path", name);
        let length = record.len() as u64;
        archive.take(&block(EntryType::Extension, EXTENSION_NAME, length));
        archive.take(record.as_bytes());
        fill_block(archive, length);
    }
    archive.take(&block(kind, name.as_bytes(), size));
}

/// Writes zero bytes behind a content of some size, to the end of its last block.
pub(super) fn fill_block(archive: &mut Pieces, size: u64) {
    const BLOCK: u64 = BLOCK_BYTES as u64;
    let padding = usize::try_from((BLOCK - size % BLOCK) % BLOCK).unwrap_or_default();
    archive.take(&[0; BLOCK_BYTES][..padding]);
}

/// A record begins with its own length, digits included.
fn record(name: &str, value: &str) -> String {
    let rest = format!(" {name}={value}\n");
    let mut length = rest.len();
    while length != length.to_string().len() + rest.len() {
        length = length.to_string().len() + rest.len();
    }
    format!("{length}{rest}")
}

fn block(kind: EntryType, name: &[u8], size: u64) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    let (flag, mode) = match kind {
        EntryType::File => (b'0', FILE_MODE),
        EntryType::Program => (b'0', PROGRAM_MODE),
        EntryType::Directory => (b'5', DIRECTORY_MODE),
        EntryType::Extension => (b'x', FILE_MODE),
    };
    put(0, &name[..name.len().min(NAME_BYTES)]);
    put(100, format!("{mode:07o}").as_bytes());
    put(108, b"0000000\x000000000\x00");
    put(124, format!("{size:011o}").as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, &[flag]);
    put(257, b"ustar\x0000");
    put(329, b"0000000\x000000000\x00");
    let sum: u64 = block.iter().copied().map(u64::from).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}
