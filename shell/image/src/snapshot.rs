//! Snapshots: the image of a catalog, kept under the hash of the content it was built from.

use std::{fs::File, io, path::Path, sync::Arc};

use memmap2::Mmap;
use operon_catalog::Catalog;

use crate::{cache::write_atomically, mapping};

/// The first bytes of a snapshot; the hash of the image follows, then the image.
const MAGIC: [u8; 16] = *b"operon snapshot\n";

const HEADER_BYTES: usize = MAGIC.len() + blake3::OUT_LEN;

/// Keeps the image of a catalog.
pub(crate) fn write(path: &Path, catalog: &Catalog) -> io::Result<()> {
    let image = catalog.image_bytes();
    write_atomically(path, &[&MAGIC, blake3::hash(image).as_bytes(), image])
}

/// Maps a snapshot; `None` when there is none, or it is damaged, or of another version.
pub(crate) fn open(path: &Path) -> Option<Catalog> {
    let file = File::open(path).ok()?;
    let map = mapping::map(&file).ok()?;
    let header = map.get(..HEADER_BYTES)?;
    let (magic, expected) = header.split_at(MAGIC.len());
    let intact = magic == MAGIC && blake3::hash(&map[HEADER_BYTES..]).as_bytes() == expected;
    if !intact {
        return None;
    }
    Catalog::open(Arc::new(MappedImage(map))).ok()
}

struct MappedImage(Mmap);

impl AsRef<[u8]> for MappedImage {
    fn as_ref(&self) -> &[u8] {
        &self.0[HEADER_BYTES..]
    }
}
