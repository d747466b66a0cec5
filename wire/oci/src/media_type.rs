//! Media types: what a manifest calls itself and how a layer is compressed.
//!
//! A layer's first bytes are compared with its type, because a layer that is not what it says was
//! damaged or tampered with. Nothing is decompressed here.

use crate::printable::excerpt;

/// The type of an image manifest of the OCI.
pub const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The type of an image index of the OCI.
pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The type of an image configuration of the OCI.
pub const OCI_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The type of a layer that is not compressed.
pub const OCI_LAYER_TAR: &str = "application/vnd.oci.image.layer.v1.tar";
/// The type of a layer that is compressed with gzip.
pub const OCI_LAYER_GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// The type of a layer that is compressed with Zstandard.
pub const OCI_LAYER_ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";
/// The type of Docker's image manifest, schema 2.
pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
/// The type of Docker's list of manifests.
pub const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// The type of Docker's image configuration.
pub const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
/// The type of Docker's layer.
pub const DOCKER_LAYER_GZIP: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";

/// What a registry is told to answer with when it is asked for a manifest.
pub const ACCEPTED_MANIFESTS: [&str; 4] = [OCI_INDEX, OCI_MANIFEST, DOCKER_LIST, DOCKER_MANIFEST];

/// How many bytes of a layer [`LayerCompression::check`] can make use of: the magic word of a tar
/// archive ends at byte 262.
pub const SNIFFED_BYTES: usize = 262;

const DOCKER_MANIFEST_V1: &str = "application/vnd.docker.distribution.manifest.v1+json";
const DOCKER_MANIFEST_V1_SIGNED: &str = "application/vnd.docker.distribution.manifest.v1+prettyjws";

const TAR_MAGIC: &[u8] = b"ustar";
const TAR_MAGIC_AT: usize = 257;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// A skippable frame begins with a byte from 0x50 to 0x5f and these three.
const ZSTD_SKIPPABLE_MAGIC: &[u8] = &[0x2a, 0x4d, 0x18];

/// Says what a media type stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ManifestType {
    /// One image.
    Manifest,
    /// A choice of images.
    Index,
    /// Docker's first schema, which nobody reads any more.
    Schema1,
    /// Something else.
    Other,
}

/// Returns what the type of a manifest says, without its parameters.
pub(crate) fn manifest_type(media_type: &str) -> ManifestType {
    match media_type {
        OCI_MANIFEST | DOCKER_MANIFEST => ManifestType::Manifest,
        OCI_INDEX | DOCKER_LIST => ManifestType::Index,
        DOCKER_MANIFEST_V1 | DOCKER_MANIFEST_V1_SIGNED => ManifestType::Schema1,
        _ => ManifestType::Other,
    }
}

/// Returns the type in a `Content-Type` header, without parameters and in small letters.
pub(crate) fn essence(header: &str) -> String {
    header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Says how a layer is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerCompression {
    /// A plain tar archive.
    Plain,
    /// A tar archive in one or several gzip members.
    Gzip,
    /// A tar archive in one or several Zstandard frames.
    Zstd,
}

/// Says why a layer cannot be read as its type says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayerTypeError {
    /// The type is not one of a layer.
    #[error(
        "layers of the media type `{media_type}` cannot be read; tar archives can, plain or compressed \
         with gzip or zstd"
    )]
    Unknown {
        /// The type, shortened.
        media_type: String,
    },
    /// The layer is encrypted.
    #[error("the layer of the media type `{media_type}` is encrypted; decrypt the image first")]
    Encrypted {
        /// The type, shortened.
        media_type: String,
    },
    /// The manifest is not one of a container image.
    #[error(
        "a layer of the media type `{media_type}` belongs to an artifact that is no container image"
    )]
    Artifact {
        /// The type, shortened.
        media_type: String,
    },
    /// The first bytes are those of something else.
    #[error("the layer should be {}, but its first bytes are {found}", declared.article())]
    Differs {
        /// What the type says.
        declared: LayerCompression,
        /// What the first bytes say, such as "those of gzip".
        found: String,
    },
}

impl LayerCompression {
    /// Returns how layers of a type are compressed.
    pub fn of(media_type: &str) -> Result<Self, LayerTypeError> {
        let shown = || excerpt(media_type, 120);
        let essence = essence(media_type);
        match essence.as_str() {
            OCI_LAYER_TAR
            | "application/vnd.oci.image.layer.nondistributable.v1.tar"
            | "application/vnd.docker.image.rootfs.diff.tar"
            | "application/vnd.docker.image.rootfs.foreign.diff.tar" => Ok(Self::Plain),
            OCI_LAYER_GZIP
            | "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"
            | DOCKER_LAYER_GZIP
            | "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip" => Ok(Self::Gzip),
            OCI_LAYER_ZSTD
            | "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd"
            | "application/vnd.docker.image.rootfs.diff.tar.zstd"
            | "application/vnd.docker.image.rootfs.foreign.diff.tar.zstd" => Ok(Self::Zstd),
            other if other.ends_with("+encrypted") => {
                Err(LayerTypeError::Encrypted { media_type: shown() })
            }
            "application/vnd.oci.empty.v1+json" => {
                Err(LayerTypeError::Artifact { media_type: shown() })
            }
            _ => Err(LayerTypeError::Unknown { media_type: shown() }),
        }
    }

    /// Returns what the first bytes of a layer look like; nothing where they look like nothing known.
    pub fn sniff(first_bytes: &[u8]) -> Option<Self> {
        if first_bytes.starts_with(GZIP_MAGIC) {
            return Some(Self::Gzip);
        }
        let is_skippable = matches!(first_bytes.first(), Some(0x50..=0x5f))
            && first_bytes.get(1..).is_some_and(|rest| rest.starts_with(ZSTD_SKIPPABLE_MAGIC));
        if first_bytes.starts_with(ZSTD_MAGIC) || is_skippable {
            return Some(Self::Zstd);
        }
        let magic = first_bytes.get(TAR_MAGIC_AT..).unwrap_or_default();
        magic.starts_with(TAR_MAGIC).then_some(Self::Plain)
    }

    /// Compares the first [`SNIFFED_BYTES`] of a layer with what its type says. A plain archive need
    /// not look like one, because the oldest form of tar has no magic word.
    pub fn check(self, first_bytes: &[u8]) -> Result<(), LayerTypeError> {
        match (self, Self::sniff(first_bytes)) {
            (Self::Plain, None | Some(Self::Plain)) => Ok(()),
            (declared, Some(found)) if declared == found => Ok(()),
            (declared, Some(found)) => Err(LayerTypeError::Differs {
                declared,
                found: format!("those of {}", found.article()),
            }),
            (declared, None) if first_bytes.is_empty() => {
                Err(LayerTypeError::Differs { declared, found: "missing: it is empty".to_owned() })
            }
            (declared, None) => Err(LayerTypeError::Differs {
                declared,
                found: "those of neither tar nor gzip nor zstd".to_owned(),
            }),
        }
    }

    /// Returns the OCI's media type of such a layer.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Plain => OCI_LAYER_TAR,
            Self::Gzip => OCI_LAYER_GZIP,
            Self::Zstd => OCI_LAYER_ZSTD,
        }
    }

    fn article(self) -> &'static str {
        match self {
            Self::Plain => "a plain tar archive",
            Self::Gzip => "a gzip stream",
            Self::Zstd => "a zstd stream",
        }
    }
}
