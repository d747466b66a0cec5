//! Where copies come from: a registry, or a layout on the disk that an earlier copy was made into.
//!
//! Both give the same documents and blobs, compared with their digests. What is written is not decided here.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use operon_oci::{
    Descriptor, Digest, Index, LAYOUT_FILE, LAYOUT_INDEX, MAX_MANIFEST_BYTES, Reference, Verifier,
    check_layout,
};

use super::layout::{Files, blob_name};
use crate::{
    Progress, PullError,
    registry::{FetchedManifest, Repository},
};

/// How much of a blob is copied at a time.
const COPIED_BYTES: usize = 1 << 20;

/// A layout that images are copied out of.
#[derive(Debug)]
pub(super) struct LayoutReader {
    directory: PathBuf,
    files: Files,
    index: Index,
}

/// The side that a copy comes from.
pub(super) enum Origin<'o> {
    Registry(&'o Repository),
    Layout(&'o LayoutReader),
}

impl LayoutReader {
    pub(super) fn open(directory: &Path) -> Result<Self, PullError> {
        let files = Files::Directory(directory.to_owned());
        let shown = directory.display().to_string();
        check_layout(&files.read(LAYOUT_FILE, MAX_MANIFEST_BYTES)?)
            .map_err(PullError::document(&shown))?;
        let index = Index::parse(&files.read(LAYOUT_INDEX, MAX_MANIFEST_BYTES)?)
            .map_err(PullError::document(&shown))?;
        Ok(Self { directory: directory.to_owned(), files, index })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Finds an image by the whole reference that it was copied by, or by its digest, whatever its name.
    pub(super) fn find(&self, image: &Reference) -> Option<Digest> {
        let name = image.to_string();
        let named = self.index.named(&name).next();
        let same =
            |digest: &Digest| self.index.manifests.iter().find(|entry| entry.digest == *digest);
        Some(named.or_else(|| same(image.digest()?))?.digest.clone())
    }

    fn document(&self, name: &str) -> Result<FetchedManifest, PullError> {
        let shown = self.directory.display().to_string();
        let digest = Digest::parse(name).map_err(|error| PullError::Archive {
            path: self.directory.clone(),
            problem: error.to_string(),
        })?;
        let wanted = Descriptor { digest: digest.clone(), ..Descriptor::of("", b"") };
        let bytes = self.files.blob(&wanted, &shown, "the manifest", MAX_MANIFEST_BYTES)?;
        Ok(FetchedManifest { bytes, digest, media_type: None })
    }

    fn blob_to_file(
        &self,
        blob: &Descriptor,
        what: &str,
        path: &Path,
        progress: &Progress,
    ) -> Result<(), PullError> {
        let (from, _, length) = self.files.place(&blob_name(&blob.digest))?;
        let reference = self.directory.display().to_string();
        if length != blob.size {
            let (what, expected) = (what.to_owned(), blob.size);
            return Err(PullError::WrongLength { reference, what, expected, found: length });
        }
        let mut verifier = Verifier::new(blob.digest.clone());
        let mut copy = || -> io::Result<()> {
            let mut reader = File::open(&from)?.take(length);
            let mut writer = File::create(path)?;
            let mut buffer = vec![0; COPIED_BYTES];
            loop {
                let read = reader.read(&mut buffer)?;
                if read == 0 {
                    return Ok(());
                }
                writer.write_all(&buffer[..read])?;
                verifier.update(&buffer[..read]);
                progress.done.fetch_add(read as u64, Ordering::Relaxed);
            }
        };
        copy().map_err(PullError::disk("copy", &from))?;
        verifier.finish().map(|_| ()).map_err(|found| PullError::DigestMismatch {
            reference,
            what: what.to_owned(),
            expected: blob.digest.clone(),
            found,
        })
    }
}

impl Origin<'_> {
    /// Returns what messages call it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Registry(place) => place.reference().to_string(),
            Self::Layout(layout) => layout.directory.display().to_string(),
        }
    }

    /// Fetches a manifest or an index; a layout knows them by their digests alone.
    pub(super) async fn document(&self, name: &str) -> Result<FetchedManifest, PullError> {
        match self {
            Self::Registry(place) => place.manifest(name).await,
            Self::Layout(layout) => layout.document(name),
        }
    }

    /// Brings a blob into a file, and compares its length and digest.
    pub(super) async fn blob_to_file(
        &self,
        blob: &Descriptor,
        what: &str,
        path: &Path,
        progress: &Progress,
    ) -> Result<(), PullError> {
        match self {
            Self::Registry(place) => place.blob_to_file(blob, what, path, progress).await,
            Self::Layout(layout) => layout.blob_to_file(blob, what, path, progress),
        }
    }
}
