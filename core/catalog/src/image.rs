//! The image of a catalog: tables of 32-bit words and one text, in a single block of bytes.
//!
//! The bytes that are built are the bytes that are kept on disk and mapped back, so there is one
//! reader and nothing to decode. Rows refer to each other by number and to text by number; both are
//! checked once when an image is opened, so that no damaged image can make a later look-up fail.

mod reader;
mod table;
mod writer;

pub use self::reader::{ImageBytes, ImageError};
pub(crate) use self::{
    reader::Image,
    table::{Section, columns},
    writer::ImageWriter,
};

/// The version of the image's layout; an image of another layout is rebuilt, never read.
pub const IMAGE_FORMAT: u32 = 1;

/// The first bytes of every image.
pub(crate) const MAGIC: [u8; 8] = *b"operon\0c";

/// Stands for "no row" and "no text".
pub(crate) const NONE: u32 = u32::MAX;
