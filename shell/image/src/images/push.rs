//! Sending images: what was built here, and what another registry has.
//!
//! An image is sent blob by blob, and only what the other side lacks, so that a copy that broke goes on
//! where it stopped. Its name is given last, when everything behind it is there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use operon_oci::{Descriptor, Digest, Document, Reference, build::BuiltImage};

use super::{Images, MAX_INDEX_DEPTH, gather::too_deep, written::LayoutWriter};
use crate::{
    PullError,
    registry::{Content, Repository},
    store::Workspace,
};

/// The most manifests that are copied for one name: an index of every platform with attestations has a
/// hundredth.
pub const MAX_COPIED_MANIFESTS: usize = 10_000;

/// Where an image is copied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyTarget {
    /// A registry.
    Registry(Reference),
    /// A layout on the disk, which is made if it is not there.
    Layout {
        /// Its directory.
        directory: PathBuf,
        /// The tag of the image in it.
        tag: String,
    },
}

/// A manifest or an index that is copied as it is.
struct Copied {
    descriptor: Descriptor,
    bytes: Vec<u8>,
    blobs: Vec<Descriptor>,
}

/// The other side of a copy.
enum Side<'s> {
    Registry(&'s Repository),
    Layout(&'s LayoutWriter),
}

impl Images {
    /// Sends an image that was built here, and returns its digest.
    pub fn push(&self, image: &BuiltImage, to: &Reference) -> Result<Digest, PullError> {
        let home = self.registry.home(to)?;
        self.run(self.deadline(), to, async {
            for layer in &image.layers {
                home.push_blob(&layer.descriptor, Content::Bytes(&layer.bytes)).await?;
            }
            home.push_blob(&image.config_descriptor(), Content::Bytes(&image.config)).await?;
            let media_type = image.descriptor().media_type;
            home.push_manifest(&to.manifest_name(), &media_type, &image.manifest).await
        })?;
        Ok(image.digest.clone())
    }

    /// Copies an image with all its platforms, and returns its digest, which stays the same.
    pub fn copy(&self, from: &Reference, to: &CopyTarget) -> Result<Digest, PullError> {
        let workspace = self.store.workspace()?;
        let deadline = self.deadline();
        let name = from.manifest_name();
        match to {
            CopyTarget::Registry(to) => {
                let home = self.registry.home(to)?;
                let side = Side::Registry(&home);
                self.with_places(deadline, from, async |place: &Repository| {
                    let top = self.copy_all(place, &name, &side, &workspace).await?;
                    let media_type = &top.descriptor.media_type;
                    home.push_manifest(&to.manifest_name(), media_type, &top.bytes).await?;
                    Ok(top.descriptor.digest)
                })
            }
            CopyTarget::Layout { directory, tag } => {
                let writer = LayoutWriter::open(directory)?;
                let side = Side::Layout(&writer);
                self.with_places(deadline, from, async |place: &Repository| {
                    let top = self.copy_all(place, &name, &side, &workspace).await?;
                    writer.name(tag, &top.descriptor)?;
                    Ok(top.descriptor.digest)
                })
            }
        }
    }

    /// Copies everything behind a name, and returns what the name stands for.
    async fn copy_all(
        &self,
        place: &Repository,
        name: &str,
        side: &Side<'_>,
        workspace: &Workspace,
    ) -> Result<Copied, PullError> {
        let documents = collect(place, name).await?;
        for document in documents.iter().rev() {
            for blob in &document.blobs {
                self.copy_blob(place, side, blob, workspace).await?;
            }
            side.put(&document.descriptor, &document.bytes).await?;
        }
        let top = documents.into_iter().next();
        Ok(top.expect("bug: there is always the document that was asked for"))
    }

    async fn copy_blob(
        &self,
        place: &Repository,
        side: &Side<'_>,
        blob: &Descriptor,
        workspace: &Workspace,
    ) -> Result<(), PullError> {
        let is_there = match side {
            Side::Registry(home) => home.has_blob(&blob.digest).await?,
            Side::Layout(writer) => writer.has(&blob.digest)?,
        };
        if is_there {
            return Ok(());
        }
        if let Side::Registry(home) = side
            && home.is_same_registry(place)
            && home.mount_blob(&blob.digest, place.reference().repository()).await?
        {
            return Ok(());
        }
        let limit = self.options.limits.layer_bytes;
        if blob.size > limit {
            let reference = place.reference().to_string();
            return Err(PullError::TooLarge { reference, what: "a blob".to_owned(), limit });
        }
        let what = format!("the blob `{}`", blob.digest);
        let file = match side {
            Side::Registry(_) => workspace.file("copied"),
            Side::Layout(writer) => writer.aside(&blob.digest),
        };
        place.blob_to_file(blob, &what, &file, &self.options.progress).await?;
        match side {
            Side::Registry(home) => {
                home.push_blob(blob, Content::File(&file)).await?;
                fs::remove_file(&file).map_err(PullError::disk("remove", &file))
            }
            Side::Layout(writer) => writer.keep(&file, &blob.digest),
        }
    }
}

/// Writes an image that was built here into a layout on the disk, which is made if it is not there.
pub fn write_layout(image: &BuiltImage, directory: &Path, tag: &str) -> Result<(), PullError> {
    let writer = LayoutWriter::open(directory)?;
    for layer in &image.layers {
        writer.write(&layer.descriptor.digest, &layer.bytes)?;
    }
    writer.write(&image.config_descriptor().digest, &image.config)?;
    writer.write(&image.digest, &image.manifest)?;
    writer.name(tag, &image.descriptor())
}

impl Side<'_> {
    async fn put(&self, document: &Descriptor, bytes: &[u8]) -> Result<(), PullError> {
        match self {
            Self::Registry(home) => {
                let name = document.digest.to_string();
                home.push_manifest(&name, &document.media_type, bytes).await
            }
            Self::Layout(writer) => writer.write(&document.digest, bytes),
        }
    }
}

/// Fetches a manifest, or an index and all manifests in it; those that point come before those that are
/// pointed to.
async fn collect(place: &Repository, name: &str) -> Result<Vec<Copied>, PullError> {
    let shown = place.reference().to_string();
    let mut documents: Vec<Copied> = Vec::new();
    let mut level = vec![name.to_owned()];
    for _ in 0..=MAX_INDEX_DEPTH {
        let mut next = Vec::new();
        for name in level {
            if documents.iter().any(|known| known.descriptor.digest.to_string() == name) {
                continue;
            }
            if documents.len() == MAX_COPIED_MANIFESTS {
                let what = format!("the list of {MAX_COPIED_MANIFESTS} manifests");
                let limit = MAX_COPIED_MANIFESTS as u64;
                return Err(PullError::TooLarge { reference: shown, what, limit });
            }
            let fetched = place.manifest(&name).await?;
            let document = Document::parse(&fetched.bytes, fetched.media_type.as_deref())
                .map_err(PullError::document(&shown))?;
            let (media_type, blobs) = match document {
                Document::Index(index) => {
                    next.extend(index.manifests.iter().map(|entry| entry.digest.to_string()));
                    (index.media_type, Vec::new())
                }
                Document::Manifest(manifest) => {
                    let blobs = manifest.layers.into_iter().chain([manifest.config]);
                    (manifest.media_type, blobs.collect())
                }
            };
            let mut descriptor = Descriptor::of(&media_type, &fetched.bytes);
            descriptor.digest = fetched.digest;
            documents.push(Copied { descriptor, bytes: fetched.bytes, blobs });
        }
        if next.is_empty() {
            return Ok(documents);
        }
        level = next;
    }
    Err(too_deep(&shown))
}
