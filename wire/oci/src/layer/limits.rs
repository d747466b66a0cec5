//! How much a hostile layer can make of us.
//!
//! The limits are far above what real images need and far below what hurts. Tests lower them; nothing
//! raises them.

/// Limits all bytes that the layers of one image decompress to. The largest catalog image known has 3 GiB.
pub const MAX_DECOMPRESSED_BYTES: u64 = 32 * 1024 * 1024 * 1024;
/// Limits how many times larger a layer may become. Catalogs compress to a thirtieth, runs of one byte with
/// gzip to a thousandth.
pub const MAX_RATIO: u64 = 400;
/// How many bytes a layer may decompress to before [`MAX_RATIO`] counts, as small layers hurt nobody.
pub const GRACE_BYTES: u64 = 64 * 1024 * 1024;
/// Limits the bytes of all files that are kept. The largest catalog has 0.3 GiB of files.
pub const MAX_KEPT_BYTES: u64 = 8 * 1024 * 1024 * 1024;
/// Limits the names in all archives of an image, also those that are not wanted: time is what they cost.
/// Large images have a few hundred thousand.
pub const MAX_ARCHIVE_ENTRIES: u64 = 3_000_000;
/// Limits the files, directories, links and whiteouts that are kept in memory. The largest collection of
/// bundles known has 76 thousand files.
pub const MAX_TREE_ENTRIES: usize = 300_000;
/// Limits the bytes of all names that are kept in memory.
pub const MAX_NAME_BYTES: usize = 128 * 1024 * 1024;
/// Limits one path, as Linux does.
pub const MAX_PATH_BYTES: usize = 4096;
/// Limits the parts of one path: each part that is not there yet becomes a directory.
pub const MAX_DEPTH: usize = 128;
/// Limits how many links are followed for one name, as Linux does.
pub const MAX_LINK_HOPS: usize = 40;
/// Limits the parts of all paths that are walked because an image has links: each costs a look-up. An image
/// of three hundred thousand files takes three million.
pub const MAX_LINK_STEPS: u64 = 30_000_000;
/// Limits an entry that only describes the next one, as Go's reader does.
pub const MAX_EXTENSION_BYTES: u64 = 1024 * 1024;
/// Limits the window of a Zstandard frame to 128 MiB, as its own library does: so much memory is taken.
pub const MAX_ZSTD_WINDOW_LOG: u32 = 27;

/// The limits that are worth lowering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerLimits {
    /// See [`MAX_DECOMPRESSED_BYTES`].
    pub decompressed_bytes: u64,
    /// See [`MAX_RATIO`].
    pub ratio: u64,
    /// See [`GRACE_BYTES`].
    pub grace_bytes: u64,
    /// See [`MAX_KEPT_BYTES`].
    pub kept_bytes: u64,
    /// See [`MAX_ARCHIVE_ENTRIES`].
    pub archive_entries: u64,
    /// See [`MAX_TREE_ENTRIES`].
    pub tree_entries: usize,
    /// See [`MAX_NAME_BYTES`].
    pub name_bytes: usize,
}

impl Default for LayerLimits {
    fn default() -> Self {
        Self {
            decompressed_bytes: MAX_DECOMPRESSED_BYTES,
            ratio: MAX_RATIO,
            grace_bytes: GRACE_BYTES,
            kept_bytes: MAX_KEPT_BYTES,
            archive_entries: MAX_ARCHIVE_ENTRIES,
            tree_entries: MAX_TREE_ENTRIES,
            name_bytes: MAX_NAME_BYTES,
        }
    }
}
