//! Sending images that were built here, and writing them into layouts and archives of layouts.
//!
//! Blobs go first and the name last, so that nobody sees an image of which something is missing. Copying
//! what another registry has is done in `copy`.

use std::{io, path::Path};

use operon_oci::{
    Digest, Index, LAYOUT_FILE, LAYOUT_INDEX, OCI_INDEX, Reference, build::BuiltImage, layout_file,
};

use super::{Images, written::LayoutWriter};
use crate::{PullError, cache::write_atomically, registry::Content};

impl Images {
    /// Sends an image that was built here, and returns its digest.
    pub fn push(&self, image: &BuiltImage, to: &Reference) -> Result<Digest, PullError> {
        if self.options.offline {
            return Err(PullError::NotSent { reference: to.to_string() });
        }
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

    /// Asks whether a registry has an image, as somebody who may push to it.
    pub fn has(&self, digest: &Digest, at: &Reference) -> Result<bool, PullError> {
        if self.options.offline {
            return Err(PullError::Offline { reference: at.to_string() });
        }
        let home = self.registry.home(at)?;
        self.run(self.deadline(), at, home.has_manifest(digest))
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

/// Writes an image that was built here into a tar file that holds a layout with this image alone. The
/// same image always makes the same file; one that is there is replaced.
pub fn write_layout_archive(image: &BuiltImage, file: &Path, tag: &str) -> Result<(), PullError> {
    let mut index = Index {
        media_type: OCI_INDEX.to_owned(),
        manifests: Vec::new(),
        annotations: std::collections::BTreeMap::new(),
    };
    index.set_named(tag, image.descriptor());
    let (layout, index) = (layout_file(), index.to_bytes());
    let blob = |digest: &Digest| format!("blobs/{}/{}", digest.algorithm().name(), digest.hex());
    let mut files: Vec<(String, &[u8])> = vec![
        (blob(&image.config_descriptor().digest), &image.config),
        (blob(&image.digest), &image.manifest),
        (LAYOUT_FILE.to_owned(), &layout),
        (LAYOUT_INDEX.to_owned(), &index),
    ];
    for layer in &image.layers {
        files.push((blob(&layer.descriptor.digest), &layer.bytes));
    }
    files.sort();
    files.dedup();
    let archive = archive(&files).map_err(PullError::disk("write", file))?;
    write_atomically(file, &[&archive]).map_err(PullError::disk("write", file))
}

fn archive(files: &[(String, &[u8])]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        archive.append_data(&mut header, path, *content)?;
    }
    archive.into_inner()
}
