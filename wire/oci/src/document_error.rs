//! Why the JSON documents of an image cannot be used.
//!
//! An error says which document and which field; which image it was of is said by whoever fetched it.

use operon_object::ValueError;

use crate::DigestError;

/// Says why a document of an image cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DocumentError {
    /// The document has more bytes than such a document may have.
    #[error("the {what} has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// The document, such as "image manifest".
        what: &'static str,
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The document is not JSON.
    #[error("the {what} is not JSON: {source}")]
    NotJson {
        /// The document.
        what: &'static str,
        /// What is wrong.
        source: ValueError,
    },
    /// A field is not there.
    #[error("the {what} has no `{field}`")]
    Missing {
        /// The document.
        what: &'static str,
        /// The way to it, such as `layers[2].digest`.
        field: String,
    },
    /// A field holds something else than it should.
    #[error("`{field}` of the {what} should be {expected}, not {found}")]
    WrongType {
        /// The document.
        what: &'static str,
        /// The way to it.
        field: String,
        /// What should be there, such as "a text".
        expected: &'static str,
        /// What is there, such as "a number".
        found: String,
    },
    /// A field holds something that is no digest.
    #[error("`{field}` of the {what} is no digest: {source}")]
    BadDigest {
        /// The document.
        what: &'static str,
        /// The way to it.
        field: String,
        /// What is wrong.
        source: DigestError,
    },
    /// A list has more elements than it may have.
    #[error("`{field}` of the {what} has {count} elements, more than {limit}")]
    TooMany {
        /// The document.
        what: &'static str,
        /// The way to it.
        field: String,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The manifest is of Docker's first schema.
    #[error(
        "the image manifest is of Docker's schema 1, which registries and tools have given up; push the image \
         again with a current tool"
    )]
    Schema1,
    /// The manifest says that it is something that cannot be read.
    #[error(
        "a manifest of the media type `{media_type}` cannot be read; images and indexes of the OCI and of Docker can"
    )]
    UnknownMediaType {
        /// The type, shortened.
        media_type: String,
    },
    /// The registry and the manifest do not agree on what it is.
    #[error(
        "the registry sent the manifest as `{header}`, but it calls itself `{body}`; it may have been tampered with"
    )]
    MediaTypesDiffer {
        /// The type of the header.
        header: String,
        /// The type in the manifest.
        body: String,
    },
    /// The manifest could be read as an image and as an index.
    #[error(
        "the manifest has both `layers` and `manifests`, so that tools could disagree on what it is"
    )]
    Ambiguous,
    /// Nothing says whether the document is an image or an index.
    #[error(
        "the document is neither an image manifest nor an index: it has neither `layers` nor `manifests`"
    )]
    NoManifest,
    /// The layout's version is not the one that is known.
    #[error("the image layout has the version `{version}`; only `1.0.0` is known")]
    LayoutVersion {
        /// The version, shortened.
        version: String,
    },
    /// The configuration and the manifest do not agree on how many layers there are.
    #[error("the image has {layers} layers, but its configuration names {diff_ids}")]
    LayersDiffer {
        /// How many the manifest has.
        layers: usize,
        /// How many the configuration has.
        diff_ids: usize,
    },
}
