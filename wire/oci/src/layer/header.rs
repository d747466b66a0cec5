//! One block of 512 bytes that begins an entry of a tar archive.
//!
//! All forms that builders have written are read: the oldest, POSIX, GNU and star. Extensions that
//! lie in blocks of their own are not joined here.

use super::LayerProblem;

/// The size of everything in a tar archive.
pub(super) const BLOCK_BYTES: usize = 512;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    HardLink,
    SymbolicLink,
    Directory,
    /// GNU's sparse file, which may have more blocks of header.
    Sparse,
    /// POSIX's description of the next entry.
    Extension,
    /// GNU's long name of the next entry.
    LongName,
    /// GNU's long target of the next entry.
    LongLink,
    /// A device, a pipe or something that has no meaning here, without content.
    Device,
    /// Something with content that has no meaning here.
    Other,
}

/// What a block says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) kind: EntryKind,
    pub(super) name: Vec<u8>,
    pub(super) link: Vec<u8>,
    pub(super) size: u64,
    /// Whether another block of a sparse file's header follows.
    pub(super) is_continued: bool,
}

impl Header {
    /// Reads a block that is not all zero.
    pub(super) fn parse(block: &[u8; BLOCK_BYTES]) -> Result<Self, LayerProblem> {
        check_sum(block)?;
        let mut name = text(&block[..100]).to_vec();
        // GNU's form has other things where POSIX's has the beginning of a long name.
        if &block[257..263] == b"ustar\0" {
            let is_star = &block[508..512] == b"tar\0";
            let prefix = text(if is_star { &block[345..476] } else { &block[345..500] });
            if !prefix.is_empty() {
                name = [prefix, b"/", &name].concat();
            }
        }
        let kind = match block[156] {
            // The oldest form has no directories, only names with a slash at the end.
            b'0' | 0 if name.ends_with(b"/") => EntryKind::Directory,
            b'0' | 0 | b'7' => EntryKind::File,
            b'1' => EntryKind::HardLink,
            b'2' => EntryKind::SymbolicLink,
            b'5' => EntryKind::Directory,
            b'3' | b'4' | b'6' => EntryKind::Device,
            b'S' => EntryKind::Sparse,
            b'x' => EntryKind::Extension,
            b'L' => EntryKind::LongName,
            b'K' => EntryKind::LongLink,
            _ => EntryKind::Other,
        };
        let size =
            number(&block[124..136]).ok_or(LayerProblem::BadHeader("a size is no number"))?;
        let is_continued = kind == EntryKind::Sparse && block[482] != 0;
        Ok(Self { kind, name, link: text(&block[157..257]).to_vec(), size, is_continued })
    }
}

/// Compares the sum of all bytes, the sum itself taken as blanks. Old programs summed signed bytes.
fn check_sum(block: &[u8; BLOCK_BYTES]) -> Result<(), LayerProblem> {
    let expected =
        number(&block[148..156]).ok_or(LayerProblem::BadHeader("a checksum is no number"))?;
    let byte = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { b' ' } else { *byte };
    let unsigned: u64 = block.iter().enumerate().map(byte).map(u64::from).sum();
    let signed: i64 =
        block.iter().enumerate().map(byte).map(|byte| i64::from(byte.cast_signed())).sum();
    if expected == unsigned || i64::try_from(expected) == Ok(signed) {
        return Ok(());
    }
    Err(LayerProblem::BadHeader("a header has a wrong checksum; is it a tar archive?"))
}

/// Returns a field up to its first zero byte.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads an octal number, or a binary one as GNU writes it when the digits do not suffice.
fn number(field: &[u8]) -> Option<u64> {
    let (&first, rest) = field.split_first()?;
    if first & 0x80 != 0 {
        // The second bit is the sign; a negative size is none.
        if first & 0x40 != 0 {
            return None;
        }
        let mut number = u64::from(first & 0x3f);
        for byte in rest {
            number = number.checked_mul(256)?.checked_add(u64::from(*byte))?;
        }
        return Some(number);
    }
    let digits = text(field).trim_ascii();
    let mut number = 0_u64;
    for digit in digits {
        if !matches!(digit, b'0'..=b'7') {
            return None;
        }
        number = number.checked_mul(8)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some(number)
}
