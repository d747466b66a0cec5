//! Tar files that hold images or directories: found once, read in place.
//!
//! A compressed archive is decompressed into the workspace first, because images are read in another order
//! than they are written. Nothing is extracted under the names that an archive chooses.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use operon_oci::{LayerCompression, SNIFFED_BYTES};

use crate::{PullError, cache::new_private_file, limits::MAX_ARCHIVE_FILES, store::Workspace};

/// Archives consist of blocks of so many bytes.
const BLOCK_BYTES: u64 = 512;

/// How many links are followed from one name of an archive to another; Docker wrote one.
const MAX_LINKS: usize = 4;

/// A tar file, and where the files in it are.
#[derive(Debug)]
pub(super) struct TarFile {
    /// The file as it was named, for messages.
    named: PathBuf,
    /// The file that is read: the same, or its decompressed copy.
    path: PathBuf,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
enum Entry {
    File { offset: u64, length: u64 },
    Link(String),
}

impl TarFile {
    /// Finds the files of an archive.
    pub(super) fn open(named: &Path, workspace: &Workspace, limit: u64) -> Result<Self, PullError> {
        let path = plain(named, workspace, limit)?;
        let broken = |error: io::Error| PullError::Archive {
            path: named.to_owned(),
            problem: format!("it is not a readable tar archive: {error}"),
        };
        let file = File::open(&path).map_err(PullError::disk("read", &path))?;
        let mut archive = tar::Archive::new(file);
        let mut entries = BTreeMap::new();
        let mut end = 0;
        for entry in archive.entries_with_seek().map_err(broken)? {
            let entry = entry.map_err(broken)?;
            end = entry.raw_file_position().saturating_add(entry.size());
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let name = name.trim_start_matches("./").to_owned();
            let kind = entry.header().entry_type();
            let found = if kind.is_file() {
                Entry::File { offset: entry.raw_file_position(), length: entry.size() }
            } else if kind.is_symlink() || kind.is_hard_link() {
                let target = entry.link_name_bytes().unwrap_or_default();
                let target = String::from_utf8_lossy(&target).into_owned();
                Entry::Link(if kind.is_symlink() { beside(&name, &target) } else { target })
            } else {
                continue;
            };
            if entries.len() == MAX_ARCHIVE_FILES {
                return Err(PullError::Archive {
                    path: named.to_owned(),
                    problem: format!("it has more than {MAX_ARCHIVE_FILES} files; is it an image?"),
                });
            }
            entries.insert(name, found);
        }
        check_end(&path, end).map_err(broken)?;
        Ok(Self { named: named.to_owned(), path, entries })
    }

    /// Returns the file to open for a file of the archive, and where in it that lies.
    pub(super) fn place(&self, name: &str) -> Option<(PathBuf, u64, u64)> {
        let mut name = name;
        for _ in 0..=MAX_LINKS {
            match self.entries.get(name)? {
                Entry::File { offset, length } => {
                    return Some((self.path.clone(), *offset, *length));
                }
                Entry::Link(target) => name = target,
            }
        }
        None
    }

    pub(super) fn named(&self) -> &Path {
        &self.named
    }
}

/// Refuses an archive without the block of zeros behind its last entry: it may have been cut off
/// between two entries.
fn check_end(path: &Path, last_entry: u64) -> io::Result<()> {
    let mut file = File::open(path)?;
    let end = last_entry.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(u64::MAX);
    file.seek(SeekFrom::Start(end))?;
    let mut block = Vec::new();
    file.take(BLOCK_BYTES).read_to_end(&mut block)?;
    if block.len() as u64 == BLOCK_BYTES && block.iter().all(|byte| *byte == 0) {
        return Ok(());
    }
    Err(io::Error::other("it is cut off: the block that ends an archive is missing; copy it again"))
}

/// Returns the path of a link's target, which counts from the link's directory.
fn beside(link: &str, target: &str) -> String {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns how a file begins: as a tar, gzip or zstd file, or as none of them.
pub(super) fn sniff(path: &Path, offset: u64) -> Result<Option<LayerCompression>, PullError> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut first = Vec::new();
        file.take(SNIFFED_BYTES as u64).read_to_end(&mut first)?;
        Ok(LayerCompression::sniff(&first))
    };
    read().map_err(PullError::disk("read", path))
}

/// Returns what a compressed stream holds.
pub(super) fn decompressed<'r>(
    reader: impl Read + 'r,
    compression: LayerCompression,
) -> io::Result<Box<dyn Read + 'r>> {
    let reader = BufReader::new(reader);
    Ok(match compression {
        LayerCompression::Plain => Box::new(reader),
        LayerCompression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
        LayerCompression::Zstd => Box::new(zstd::Decoder::with_buffer(reader)?),
    })
}

/// Returns the archive without compression.
fn plain(named: &Path, workspace: &Workspace, limit: u64) -> Result<PathBuf, PullError> {
    let compression = match sniff(named, 0)? {
        None | Some(LayerCompression::Plain) => return Ok(named.to_owned()),
        Some(compression) => compression,
    };
    let file = File::open(named).map_err(PullError::disk("read", named))?;
    let mut reader =
        decompressed(file, compression).map_err(PullError::disk("decompress", named))?;
    let path = workspace.file("archive.tar");
    let mut file = new_private_file(&path).map_err(PullError::disk("write", &path))?;
    let copied = io::copy(&mut reader.by_ref().take(limit + 1), &mut file)
        .map_err(PullError::disk("decompress", named))?;
    if copied > limit {
        let reference = named.display().to_string();
        return Err(PullError::TooLarge { reference, what: "the archive".to_owned(), limit });
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{TarFile, beside};
    use crate::{CacheDirectory, store::Store};

    #[test]
    fn cut_archives_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::new(&CacheDirectory::at(directory.path()));
        let workspace = store.workspace().expect("a workspace");
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in [("first", "1".repeat(700)), ("second", String::new())] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, name, content.as_bytes()).expect("an entry");
        }
        let whole = builder.into_inner().expect("an archive");
        let path = directory.path().join("archive.tar");
        for length in (0..=whole.len()).step_by(64) {
            fs::write(&path, &whole[..length]).expect("a file");
            let opened = TarFile::open(&path, &workspace, 1 << 20);
            // One block of zeros is enough; the second says nothing more.
            let is_whole = length >= whole.len() - 512;
            assert_eq!(opened.is_ok(), is_whole, "cut to {length} bytes: {opened:?}");
        }
    }

    #[test]
    fn links_count_from_their_directory() {
        let claims = [
            (("b/layer.tar", "../a/layer.tar"), "a/layer.tar"),
            (("layer.tar", "blobs/x"), "blobs/x"),
            (("a/b", "../../../etc/passwd"), "etc/passwd"),
        ];
        for ((link, target), expected) in claims {
            assert_eq!(beside(link, target), expected);
        }
    }
}
