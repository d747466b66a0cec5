//! Layers with fixed bytes: sorted names, no times, no owners, one compression.
//!
//! The bytes depend on the version of the compression library, which the lock file fixes. They do not
//! depend on the machine or on how contents are read.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Write},
};

use super::header::{self, EntryType};
use crate::{Algorithm, Descriptor, Digest, Hasher, LayerCompression, layer::LayerProblem};
use flate2::{Compression, GzBuilder, write::GzEncoder};

/// Bytes are compressed in pieces of this size, because how they are cut can show in the result.
const PIECE_BYTES: usize = 64 * 1024;
/// The level of compression: higher ones save two percent of a catalog and take twice the time.
const LEVEL: u32 = 6;
/// The system in the header of gzip that says nothing.
const UNKNOWN_SYSTEM: u8 = 255;

/// A layer, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltLayer {
    /// Points at the bytes.
    pub descriptor: Descriptor,
    /// The digest of the archive before it was compressed.
    pub diff_id: Digest,
    /// The compressed archive.
    pub bytes: Vec<u8>,
}

/// Says why a layer cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A path is none that a layer can have.
    #[error("this file cannot be put into an image: {0}")]
    Path(LayerProblem),
    /// A path begins with `/`, or is the root.
    #[error("`{path}` cannot be put into an image: a path in it is relative and not empty")]
    NotRelative {
        /// The path.
        path: String,
    },
    /// A path is a file and a directory, or there twice.
    #[error("`{path}` is put into an image twice, or both as a file and as a directory")]
    Twice {
        /// The path.
        path: String,
    },
    /// A path comes too late.
    #[error("`{path}` comes after `{before}`, but paths are written sorted by their bytes")]
    NotSorted {
        /// The path.
        path: String,
        /// The path before it.
        before: String,
    },
    /// A file is not as large as it was said to be.
    #[error(
        "`{path}` should have {expected} bytes, but has another size; did it change meanwhile?"
    )]
    SizeDiffers {
        /// The file.
        path: String,
        /// The size that was said.
        expected: u64,
    },
    /// A file is larger than its header can say.
    #[error("`{path}` has more than {} bytes, too many for a file of an image", header::MAX_SIZE)]
    TooLarge {
        /// The file.
        path: String,
    },
    /// A file cannot be read.
    #[error("reading `{path}` failed: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Collects files and makes a layer of them; the order in which they are added does not matter.
#[derive(Debug, Clone, Default)]
pub struct LayerBuilder {
    entries: BTreeMap<String, Entry>,
}

/// What is at a path.
#[derive(Debug, Clone)]
enum Entry {
    Directory,
    File(Vec<u8>),
    Program(Vec<u8>),
}

impl LayerBuilder {
    /// Starts with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn file(&mut self, path: &str, content: impl Into<Vec<u8>>) -> Result<(), BuildError> {
        self.add(path, Entry::File(content.into()))
    }

    /// Adds a file that everybody may run.
    pub fn program(&mut self, path: &str, content: impl Into<Vec<u8>>) -> Result<(), BuildError> {
        self.add(path, Entry::Program(content.into()))
    }

    fn add(&mut self, path: &str, entry: Entry) -> Result<(), BuildError> {
        let path = checked(path)?;
        if self.entries.contains_key(&path) {
            return Err(BuildError::Twice { path });
        }
        self.entries.insert(path, entry);
        Ok(())
    }

    /// Adds a directory; those of files need not be added.
    pub fn directory(&mut self, path: &str) -> Result<(), BuildError> {
        let path = checked(path)?;
        match self.entries.insert(path.clone(), Entry::Directory) {
            Some(Entry::File(_) | Entry::Program(_)) => Err(BuildError::Twice { path }),
            Some(Entry::Directory) | None => Ok(()),
        }
    }

    /// Makes the layer.
    pub fn build(self) -> Result<BuiltLayer, BuildError> {
        let mut writer = LayerWriter::new();
        for (path, entry) in &self.entries {
            match entry {
                Entry::File(content) => {
                    writer.file(path, content.len() as u64, content.as_slice())?;
                }
                Entry::Program(content) => {
                    writer.program(path, content.len() as u64, content.as_slice())?;
                }
                Entry::Directory => writer.directory(path)?,
            }
        }
        Ok(writer.finish())
    }
}

/// Writes files into a layer as they come, sorted by the bytes of their paths. Only the compressed
/// archive is in memory. After an error the layer is of no use any more.
pub struct LayerWriter {
    archive: Pieces,
    directories: BTreeSet<String>,
    files: BTreeSet<String>,
    last: String,
}

impl Default for LayerWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl LayerWriter {
    /// Starts with nothing.
    pub fn new() -> Self {
        Self {
            archive: Pieces::new(),
            directories: BTreeSet::new(),
            files: BTreeSet::new(),
            last: String::new(),
        }
    }

    /// Writes a file, after the directories above it.
    pub fn file(&mut self, path: &str, size: u64, content: impl Read) -> Result<(), BuildError> {
        self.content(EntryType::File, path, size, content)
    }

    /// Writes a file that everybody may run, after the directories above it.
    pub fn program(&mut self, path: &str, size: u64, content: impl Read) -> Result<(), BuildError> {
        self.content(EntryType::Program, path, size, content)
    }

    fn content(
        &mut self,
        kind: EntryType,
        path: &str,
        size: u64,
        content: impl Read,
    ) -> Result<(), BuildError> {
        let path = self.next_path(path)?;
        if self.directories.contains(&path) {
            return Err(BuildError::Twice { path });
        }
        self.files.insert(path.clone());
        if size > header::MAX_SIZE {
            return Err(BuildError::TooLarge { path });
        }
        header::write(&mut self.archive, kind, &path, size);
        match self.copy(size, content) {
            Ok(true) => Ok(()),
            Ok(false) => Err(BuildError::SizeDiffers { path, expected: size }),
            Err(source) => Err(BuildError::Unreadable { path, source }),
        }
    }

    /// Copies a content and fills its last block; tells whether it had the size that was said.
    fn copy(&mut self, size: u64, mut content: impl Read) -> io::Result<bool> {
        let mut buffer = vec![0; PIECE_BYTES];
        let mut copied = 0;
        loop {
            let read = match content.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            copied += read as u64;
            if read == 0 || copied > size {
                break;
            }
            self.archive.take(&buffer[..read]);
        }
        header::fill_block(&mut self.archive, size);
        Ok(copied == size)
    }

    /// Writes a directory, after those above it.
    pub fn directory(&mut self, path: &str) -> Result<(), BuildError> {
        let path = self.next_path(path)?;
        self.write_directory(&path);
        Ok(())
    }

    /// Ends the layer.
    pub fn finish(mut self) -> BuiltLayer {
        // An archive ends with two blocks of zero bytes.
        self.archive.take(&[0; 2 * header::BLOCK_BYTES]);
        let (bytes, diff_id) = self.archive.finish();
        let descriptor = Descriptor::of(LayerCompression::Gzip.media_type(), &bytes);
        BuiltLayer { descriptor, diff_id, bytes }
    }

    fn next_path(&mut self, path: &str) -> Result<String, BuildError> {
        let path = checked(path)?;
        if path <= self.last {
            let before = self.last.clone();
            return Err(if path == before {
                BuildError::Twice { path }
            } else {
                BuildError::NotSorted { path, before }
            });
        }
        for (slash, _) in path.match_indices('/') {
            let directory = &path[..slash];
            if !self.directories.contains(directory) {
                if self.files.contains(directory) {
                    return Err(BuildError::Twice { path: directory.to_owned() });
                }
                self.write_directory(directory);
            }
        }
        self.last.clone_from(&path);
        Ok(path)
    }

    fn write_directory(&mut self, path: &str) {
        if self.directories.insert(path.to_owned()) {
            header::write(&mut self.archive, EntryType::Directory, &format!("{path}/"), 0);
        }
    }
}

fn checked(path: &str) -> Result<String, BuildError> {
    let plain = crate::layer::plain_path(path).map_err(BuildError::Path)?;
    match plain {
        Some(plain) => Ok(plain),
        None => Err(BuildError::NotRelative { path: path.to_owned() }),
    }
}

/// Hashes and compresses bytes in pieces of one size.
pub(super) struct Pieces {
    pending: Vec<u8>,
    hasher: Hasher,
    encoder: GzEncoder<Vec<u8>>,
}

impl Pieces {
    fn new() -> Self {
        let encoder = GzBuilder::new()
            .mtime(0)
            .operating_system(UNKNOWN_SYSTEM)
            .write(Vec::new(), Compression::new(LEVEL));
        let hasher = Hasher::new(Algorithm::Sha256);
        Self { pending: Vec::with_capacity(PIECE_BYTES), hasher, encoder }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE_BYTES - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == PIECE_BYTES {
                self.compress();
            }
        }
    }

    fn compress(&mut self) {
        self.hasher.update(&self.pending);
        self.encoder.write_all(&self.pending).expect("bug: memory takes every byte");
        self.pending.clear();
    }

    fn finish(mut self) -> (Vec<u8>, Digest) {
        self.compress();
        let bytes = self.encoder.finish().expect("bug: memory takes every byte");
        (bytes, self.hasher.finish())
    }
}
