//! Images in directories and archives: the OCI's layout and what `docker save` writes.
//!
//! Only the small documents are read here; finding the blobs that they name is left to those who
//! have the files.

use operon_object::{go_json, map};

use crate::{
    Descriptor, DocumentError, Index, MAX_LAYERS, MAX_MANIFEST_BYTES,
    fields::{Place, parse},
    printable::excerpt,
};

/// The file that makes a directory a layout.
pub const LAYOUT_FILE: &str = "oci-layout";
/// The file of a layout that lists its images.
pub const LAYOUT_INDEX: &str = "index.json";
/// The file of Docker's archive that lists its images.
pub const DOCKER_ARCHIVE_MANIFEST: &str = "manifest.json";
/// The annotation with an image's tag in a layout.
pub const REF_NAME_ANNOTATION: &str = "org.opencontainers.image.ref.name";
/// Limits the images of one archive: `docker save` is told each by name.
pub const MAX_ARCHIVED_IMAGES: usize = 1000;

const LAYOUT_VERSION: &str = "1.0.0";
const MAX_LAYOUT_FILE_BYTES: usize = 4096;
const MAX_REPO_TAGS: usize = 1000;

/// Returns the content of [`LAYOUT_FILE`].
pub fn layout_file() -> Vec<u8> {
    go_json(&map! { "imageLayoutVersion" => LAYOUT_VERSION }).into_bytes()
}

/// Tells whether the content of [`LAYOUT_FILE`] is one that can be understood.
pub fn check_layout(bytes: &[u8]) -> Result<(), DocumentError> {
    let value = parse("`oci-layout` file", bytes, MAX_LAYOUT_FILE_BYTES)?;
    let top = Place::top("`oci-layout` file", &value)?;
    let version = top.needed("imageLayoutVersion")?.as_text()?;
    if version != LAYOUT_VERSION {
        return Err(DocumentError::LayoutVersion { version: excerpt(version, 40) });
    }
    Ok(())
}

impl Index {
    /// Returns the images that carry a tag in a layout. Tools write the tag or the whole reference, so
    /// a tag is also found at the end of a reference.
    pub fn named<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Descriptor> {
        self.manifests.iter().filter(move |descriptor| {
            descriptor.annotations.get(REF_NAME_ANNOTATION).is_some_and(|name| {
                name == tag
                    || name
                        .strip_suffix(tag)
                        .and_then(|rest| rest.strip_suffix(':'))
                        .is_some_and(|repository| !repository.is_empty() && !tag.contains('/'))
            })
        })
    }

    /// Puts an image under a tag: the image that had the tag before loses its place.
    pub fn set_named(&mut self, tag: &str, mut descriptor: Descriptor) {
        descriptor.annotations.insert(REF_NAME_ANNOTATION.to_owned(), tag.to_owned());
        self.manifests.retain(|other| {
            other.annotations.get(REF_NAME_ANNOTATION).is_none_or(|name| name != tag)
        });
        self.manifests.push(descriptor);
    }
}

/// Says which files of Docker's archive make one image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedImage {
    /// The path of the configuration in the archive.
    pub config: String,
    /// The names of the image, such as `nginx:latest`.
    pub repo_tags: Vec<String>,
    /// The paths of the layers in the archive, the lowest first.
    pub layers: Vec<String>,
}

/// Reads [`DOCKER_ARCHIVE_MANIFEST`].
pub fn docker_archive(bytes: &[u8]) -> Result<Vec<ArchivedImage>, DocumentError> {
    const WHAT: &str = "`manifest.json` of the archive";
    let value = parse(WHAT, bytes, MAX_MANIFEST_BYTES)?;
    // The document is a list; it is put into a map so that places in it have a name.
    let value = map! { "images" => value };
    let top = Place::top(WHAT, &value)?;
    let images = top.needed("images")?.elements(MAX_ARCHIVED_IMAGES)?;
    let image = |place: &Place<'_>| {
        Ok(ArchivedImage {
            config: place.needed("Config")?.as_text()?.to_owned(),
            repo_tags: place.texts("RepoTags", MAX_REPO_TAGS)?,
            layers: place.texts("Layers", MAX_LAYERS)?,
        })
    };
    images.iter().map(image).collect()
}
