//! Layers of an image laid upon each other, and the files that are left.
//!
//! An [`Overlay`] takes layers from the lowest up and keeps only what is [`Wanted`]. Contents go straight
//! to a [`Sink`] under numbers; what stays in memory is the tree of names. So memory does not depend on the
//! size of files. Owners, modes, times and devices are not kept: catalogs and bundles are plain files.
//!
//! Layers are applied as containerd does, on which upstream's tools stand: whiteouts hide what lies in
//! lower layers, a directory that is a link is followed within the image, the last of equal names wins.
//!
//! A hard link to a file that is not wanted would need content that has already passed by. Such files are
//! named in [`Unpacked::needed`]; whoever wants them applies the layers once more with
//! [`Wanted::and_files`]. Builders write hard links only between files of one step, so this is rare, and
//! keeping candidates would cost everyone.

mod archive;
mod error;
mod extension;
mod header;
mod limits;
mod nodes;
mod overlay;
mod path;
mod stream;
mod tree;
mod wanted;

use std::io;

pub use self::{
    error::{LayerError, LayerProblem},
    limits::{
        GRACE_BYTES, LayerLimits, MAX_ARCHIVE_ENTRIES, MAX_DECOMPRESSED_BYTES, MAX_DEPTH,
        MAX_EXTENSION_BYTES, MAX_KEPT_BYTES, MAX_LINK_HOPS, MAX_LINK_STEPS, MAX_NAME_BYTES,
        MAX_PATH_BYTES, MAX_RATIO, MAX_TREE_ENTRIES, MAX_ZSTD_WINDOW_LOG,
    },
    overlay::Overlay,
    tree::{KeptFile, TreeFinding, Unpacked},
    wanted::Wanted,
};

/// Makes a path plain; nothing for one that is absolute or the root.
pub(crate) fn plain_path(path: &str) -> Result<Option<String>, LayerProblem> {
    let plain = path::plain(path.as_bytes())?;
    Ok(Some(plain.path).filter(|path| !plain.is_absolute && !path.is_empty()))
}

/// Numbers the content of a file in a sink, from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub u32);

/// Takes the contents of files while layers are applied, one after the other.
pub trait Sink {
    /// Begins the content of a file, of which so many bytes follow.
    fn begin(&mut self, blob: BlobId, size: u64) -> io::Result<()>;

    /// Takes the next piece of the content that was begun last.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Ends the content that was begun last.
    fn end(&mut self) -> io::Result<()>;

    /// Says that an upper layer has hidden or replaced the last file with this content.
    fn discard(&mut self, blob: BlobId) -> io::Result<()>;
}
