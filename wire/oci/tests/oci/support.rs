//! Layers made by an independent library, and a sink in memory.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
};

use flate2::{Compression, write::GzEncoder};
use operon_oci::{
    Digest, LayerCompression,
    layer::{BlobId, LayerError, LayerLimits, Overlay, Sink, Unpacked, Wanted},
};
use tar::{Builder, EntryType, Header};

/// One entry of a layer, as it is written, whatever it leads to.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    File(String, Vec<u8>),
    Directory(String),
    Symlink(String, String),
    Hardlink(String, String),
    Fifo(String),
}

pub(crate) fn file(path: &str, content: &str) -> Item {
    Item::File(path.to_owned(), content.as_bytes().to_vec())
}

pub(crate) fn directory(path: &str) -> Item {
    Item::Directory(path.to_owned())
}

pub(crate) fn symlink(path: &str, target: &str) -> Item {
    Item::Symlink(path.to_owned(), target.to_owned())
}

pub(crate) fn hardlink(path: &str, target: &str) -> Item {
    Item::Hardlink(path.to_owned(), target.to_owned())
}

/// Writes a plain archive. Names that fit are put into the header as they are, because the library
/// refuses those that this room has to refuse.
pub(crate) fn archive(items: &[Item]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for item in items {
        let (kind, path, link, content) = match item {
            Item::File(path, content) => (EntryType::Regular, path, "", content.as_slice()),
            Item::Directory(path) => (EntryType::Directory, path, "", &[][..]),
            Item::Symlink(path, target) => (EntryType::Symlink, path, target.as_str(), &[][..]),
            Item::Hardlink(path, target) => (EntryType::Link, path, target.as_str(), &[][..]),
            Item::Fifo(path) => (EntryType::Fifo, path, "", &[][..]),
        };
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o600);
        header.set_size(content.len() as u64);
        let old = header.as_old_mut();
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        if path.len() <= old.name.len() {
            old.name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, content).expect("memory takes it");
        } else {
            builder.append_data(&mut header, path, content).expect("memory takes it");
        }
    }
    builder.into_inner().expect("memory takes it")
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    compress(bytes, Compression::fast())
}

/// Compresses to a thousandth, where that is possible.
pub(crate) fn gzip_tightly(bytes: &[u8]) -> Vec<u8> {
    compress(bytes, Compression::best())
}

fn compress(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Keeps contents in memory and checks the order of calls.
#[derive(Debug, Default)]
pub(crate) struct MemorySink {
    pub(crate) blobs: BTreeMap<BlobId, Vec<u8>>,
    open: Option<(BlobId, u64)>,
}

impl Sink for MemorySink {
    fn begin(&mut self, blob: BlobId, size: u64) -> io::Result<()> {
        assert!(self.open.is_none(), "{blob:?} begins within another");
        assert!(self.blobs.insert(blob, Vec::new()).is_none(), "{blob:?} begins twice");
        self.open = Some((blob, size));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (blob, _) = self.open.expect("something was begun");
        self.blobs.get_mut(&blob).expect("it was begun").extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let (blob, size) = self.open.take().expect("something was begun");
        assert_eq!(self.blobs[&blob].len() as u64, size, "{blob:?} has the announced size");
        Ok(())
    }

    fn discard(&mut self, blob: BlobId) -> io::Result<()> {
        assert!(self.blobs.remove(&blob).is_some(), "{blob:?} is discarded, but not there");
        Ok(())
    }
}

/// What was unpacked, with the contents of files as text.
pub(crate) struct Outcome {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) unpacked: Unpacked,
    pub(crate) contents: usize,
}

/// Applies layers that are each compressed with gzip.
pub(crate) fn unpack(
    wanted: Wanted,
    limits: LayerLimits,
    layers: &[Vec<Item>],
) -> Result<Outcome, LayerError> {
    let blobs: Vec<_> =
        layers.iter().map(|items| (LayerCompression::Gzip, gzip(&archive(items)))).collect();
    unpack_blobs(wanted, limits, &blobs)
}

/// Applies layers as they are.
pub(crate) fn unpack_blobs(
    wanted: Wanted,
    limits: LayerLimits,
    blobs: &[(LayerCompression, Vec<u8>)],
) -> Result<Outcome, LayerError> {
    let mut overlay = Overlay::new(wanted, limits, MemorySink::default());
    for (compression, blob) in blobs {
        overlay.apply(&Digest::of(blob), *compression, blob.as_slice())?;
    }
    let (unpacked, sink) = overlay.finish();
    let text = |blob| String::from_utf8_lossy(&sink.blobs[&blob]).into_owned();
    let files = unpacked.files.iter().map(|(path, file)| (path.clone(), text(file.blob)));
    Ok(Outcome { files: files.collect(), contents: sink.blobs.len(), unpacked })
}
