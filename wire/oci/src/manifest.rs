//! Image manifests and indexes, of the OCI and of Docker's second schema.
//!
//! A manifest is named by the digest of its bytes, so those who pass one on keep its bytes; what is
//! written here is new. Fields that nobody here needs are not kept.

mod read;
mod write;

use std::collections::BTreeMap;

use crate::{Digest, DocumentError, Platform};

/// Limits a manifest, as registries do.
pub const MAX_MANIFEST_BYTES: usize = 4 * 1024 * 1024;
/// Limits the layers of an image: overlay file systems stop at 127 or at 500, depending on the kernel.
pub const MAX_LAYERS: usize = 512;
/// Limits the images of an index: the largest known have one for each of some twenty platforms, and as
/// many attestations; a layout of a mirror may have hundreds.
pub const MAX_INDEX_ENTRIES: usize = 10_000;

/// Points at content: what it is, its digest and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// What the content is.
    pub media_type: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
    /// What the image runs on, in an index.
    pub platform: Option<Platform>,
    /// Notes of those who made it.
    pub annotations: BTreeMap<String, String>,
}

/// Says what an image is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What it calls itself, or was sent as.
    pub media_type: String,
    /// What an artifact is that is no container image.
    pub artifact_type: Option<String>,
    /// The configuration.
    pub config: Descriptor,
    /// The layers, the lowest first.
    pub layers: Vec<Descriptor>,
    /// Notes of those who made it.
    pub annotations: BTreeMap<String, String>,
}

/// Lists images, one for each platform, or those of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// What it calls itself, or was sent as.
    pub media_type: String,
    /// The images, in the order in which they are written.
    pub manifests: Vec<Descriptor>,
    /// Notes of those who made it.
    pub annotations: BTreeMap<String, String>,
}

/// What a registry may answer with when it is asked for a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// One image.
    Manifest(Manifest),
    /// A choice of images.
    Index(Index),
}

impl Document {
    /// Reads a manifest or an index. The `Content-Type` with which it was sent, if any, must not say
    /// the opposite of what the document says itself.
    pub fn parse(bytes: &[u8], content_type: Option<&str>) -> Result<Self, DocumentError> {
        read::document(bytes, content_type)
    }
}

impl Manifest {
    /// Writes the manifest; the same manifest always has the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        write::manifest(self)
    }
}

impl Index {
    /// Reads the index of a layout.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        read::index(bytes)
    }

    /// Writes the index; the same index always has the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        write::index(self)
    }
}

impl Descriptor {
    /// Points at some bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }
}
