//! Snapshots: the image of a catalog, kept under the hash of the content it was built from.

use std::{fs::File, io, path::Path, sync::Arc, thread};

use memmap2::Mmap;
use operon_catalog::{Catalog, ImageBytes};

use crate::{cache::write_privately, mapping};

/// The first bytes of a snapshot; the hash of the image follows, then the image.
const MAGIC: [u8; 16] = *b"operon snapshot\n";

const HEADER_BYTES: usize = MAGIC.len() + blake3::OUT_LEN;

/// Keeps the image of a catalog.
pub(crate) fn write(path: &Path, catalog: &Catalog) -> io::Result<()> {
    let image = catalog.image_bytes();
    write_privately(path, &[&MAGIC, blake3::hash(image).as_bytes(), image])
}

/// Maps a snapshot; `None` when there is none, or it is damaged, or of another version.
pub(crate) fn open(path: &Path) -> Option<Catalog> {
    let file = File::open(path).ok()?;
    let map = mapping::map(&file).ok()?;
    let header = map.get(..HEADER_BYTES)?;
    let (magic, expected) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return None;
    }
    let expected: [u8; blake3::OUT_LEN] = expected.try_into().ok()?;
    let image = Arc::new(MappedImage(map));
    // Whether it is the image that was kept and whether it is one at all are found out side by side:
    // both look at every byte.
    thread::scope(|scope| {
        let hash = scope.spawn(|| blake3::hash((*image).as_ref()));
        let catalog = Catalog::open(Arc::clone(&image) as ImageBytes).ok();
        let hash = hash.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        catalog.filter(|_| *hash.as_bytes() == expected)
    })
}

struct MappedImage(Mmap);

impl AsRef<[u8]> for MappedImage {
    fn as_ref(&self) -> &[u8] {
        &self.0[HEADER_BYTES..]
    }
}
