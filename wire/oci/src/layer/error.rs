//! Why a layer cannot be applied: which layer, where in it, and what is wrong.
//!
//! Which image the layer is of is said by whoever fetched it.

use std::io;

use super::{MAX_DEPTH, MAX_EXTENSION_BYTES, MAX_LINK_STEPS, MAX_PATH_BYTES};
use crate::{Digest, LayerTypeError};

/// Says why a layer cannot be applied.
#[derive(Debug, thiserror::Error)]
#[error("layer {number} (`{digest}`) cannot be unpacked{}: {problem}", place(*offset))]
pub struct LayerError {
    /// The layer's number, the lowest is 1.
    pub number: usize,
    /// The layer's digest.
    pub digest: Digest,
    /// Where in the decompressed archive the trouble is, where it is known.
    pub offset: Option<u64>,
    /// What is wrong.
    #[source]
    pub problem: LayerProblem,
}

fn place(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" at byte {offset} of its archive"))
}

/// Says what is wrong with a layer.
#[derive(Debug, thiserror::Error)]
pub enum LayerProblem {
    /// The layer is not what its media type says.
    #[error(transparent)]
    Type(#[from] LayerTypeError),
    /// The blob cannot be read.
    #[error("reading the blob failed: {0}")]
    Unreadable(io::Error),
    /// The sink cannot take more.
    #[error("writing `{path}` failed: {source}")]
    Sink {
        /// The file.
        path: String,
        /// What the sink said.
        source: io::Error,
    },
    /// The compressed stream is damaged.
    #[error("the compressed stream is damaged: {0}")]
    Damaged(io::Error),
    /// The stream ends in the middle.
    #[error("it ends in the middle; fetch it again")]
    Truncated,
    /// The archive lacks its last block.
    #[error(
        "it lacks the block that ends an archive, so it seems to be cut off; copy or create it again"
    )]
    NoEnd,
    /// The archive's header makes no sense.
    #[error("the archive is damaged: {0}")]
    BadHeader(&'static str),
    /// Something follows behind the end of the archive.
    #[error("there is something behind the end of the archive")]
    TrailingData,
    /// The archive is not the one that the image's configuration names.
    #[error(
        "its archive has the digest {found}, but the image's configuration says {expected} (`rootfs.diff_ids`); \
         build the image again"
    )]
    WrongDiffId {
        /// The digest in the configuration.
        expected: Digest,
        /// The digest of the archive.
        found: Digest,
    },
    /// A description of the next entry is too long.
    #[error("a description of an entry has {bytes} bytes, more than {MAX_EXTENSION_BYTES}")]
    ExtensionTooLarge {
        /// How many bytes it has.
        bytes: u64,
    },
    /// A path leads out of the image.
    #[error("path traversal: the path `{path}` {reason}")]
    Traversal {
        /// The path, shortened.
        path: String,
        /// Why, such as "is absolute".
        reason: &'static str,
    },
    /// A path cannot be kept.
    #[error("the path `{path}` {reason}")]
    BadPath {
        /// The path, shortened.
        path: String,
        /// Why, such as "is not UTF-8".
        reason: &'static str,
    },
    /// A path is too long.
    #[error("the path `{path}` has {bytes} bytes, more than {MAX_PATH_BYTES}")]
    PathTooLong {
        /// The path, shortened.
        path: String,
        /// How many bytes it has.
        bytes: usize,
    },
    /// A path has too many parts.
    #[error("the path `{path}` has {depth} parts, more than {MAX_DEPTH}")]
    PathTooDeep {
        /// The path, shortened.
        path: String,
        /// How many parts it has.
        depth: usize,
    },
    /// A hard link leads to nothing, or to a directory.
    #[error("`{path}` is a hard link to `{target}`, which is {found}")]
    BadHardLink {
        /// The link, shortened.
        path: String,
        /// Where it leads, shortened.
        target: String,
        /// What is there, such as "a directory".
        found: &'static str,
    },
    /// A file has holes, which only backups have.
    #[error(
        "`{path}` is stored as a sparse file, which cannot be read; build the image again without"
    )]
    Sparse {
        /// The file, shortened.
        path: String,
    },
    /// The layers decompress to more than all files in the world.
    #[error("the layers decompress to more than {limit} bytes")]
    TooManyBytes {
        /// The limit.
        limit: u64,
    },
    /// The layer decompresses to suspiciously much.
    #[error(
        "decompression bomb: {compressed} bytes became more than {decompressed}; the limit is {limit} times as much"
    )]
    Bomb {
        /// How many compressed bytes were read.
        compressed: u64,
        /// How many bytes came out.
        decompressed: u64,
        /// How many times as much is allowed.
        limit: u64,
    },
    /// The wanted files are too large together.
    #[error("the wanted files have more than {limit} bytes")]
    TooManyKeptBytes {
        /// The limit.
        limit: u64,
    },
    /// The archives have too many entries.
    #[error("the layers have more than {limit} entries")]
    TooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// Following the links above all entries takes too long.
    #[error("following its links takes more than {MAX_LINK_STEPS} steps")]
    TooManyLinks,
    /// There are too many wanted files, or their names are too long together.
    #[error("the wanted files are more than {limit}")]
    TooManyFiles {
        /// What the limit is, such as "300000 entries".
        limit: String,
    },
}
