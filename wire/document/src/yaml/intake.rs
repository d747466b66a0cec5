//! The way in: the encoding of a text, its byte order mark, and its delivery in small portions.
//!
//! Nothing here looks at YAML syntax.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read},
    ops::Range,
};

use super::error::{Place, Problem, YamlError};

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_LITTLE_MARK: &[u8] = b"\xff\xfe";
const UTF16_BIG_MARK: &[u8] = b"\xfe\xff";

/// How many bytes the scanner is given at a time.
///
/// Upstream: go-yaml reads portions of this size and checks characters as they come, so a bad
/// character behind the end of the first document goes unnoticed unless its portion was needed.
const PORTION_BYTES: usize = 512;

/// A text whose encoding is settled: UTF-8 without a mark, as far as it can be decoded.
pub(super) struct Intake<'t> {
    text: Cow<'t, [u8]>,
    origin: Origin,
    /// What stopped the decoding of UTF-16 at the end of `text`.
    broken: Option<&'static str>,
}

/// How offsets of the settled text relate to those of the text as it was given.
enum Origin {
    /// The same bytes behind a mark of this length.
    Utf8 { mark: usize },
    /// For every byte of the settled text, and for its end, the offset of its UTF-16 unit.
    Utf16 { offsets: Vec<u32> },
}

impl<'t> Intake<'t> {
    /// Settles the encoding of a text.
    pub(super) fn new(given: &'t [u8]) -> Self {
        if given.starts_with(UTF16_LITTLE_MARK) {
            return Self::from_utf16(given, u16::from_le_bytes);
        }
        if given.starts_with(UTF16_BIG_MARK) {
            return Self::from_utf16(given, u16::from_be_bytes);
        }
        let text = given.strip_prefix(UTF8_MARK).unwrap_or(given);
        let origin = Origin::Utf8 { mark: given.len() - text.len() };
        Intake { text: Cow::Borrowed(text), origin, broken: None }
    }

    fn from_utf16(given: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let units = given[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let mut text = String::new();
        let mut offsets = Vec::new();
        let mut offset = 2;
        let mut broken =
            (given.len() % 2 == 1).then_some("the text ends within a UTF-16 character");
        for character in char::decode_utf16(units) {
            let Ok(character) = character else {
                broken = Some("found half of a UTF-16 surrogate pair");
                break;
            };
            text.push(character);
            offsets.resize(text.len(), offset);
            offset += 2 * character.len_utf16() as u32;
        }
        offsets.push(offset);
        let text = Cow::Owned(text.into_bytes());
        Intake { text, origin: Origin::Utf16 { offsets }, broken }
    }

    /// Returns the settled text; it may still hold bytes that are not UTF-8.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns a range of the settled text as a range of the text as it was given.
    pub(super) fn original(&self, range: Range<u32>) -> Range<usize> {
        self.original_offset(range.start as usize)..self.original_offset(range.end as usize)
    }

    fn original_offset(&self, offset: usize) -> usize {
        match &self.origin {
            Origin::Utf8 { mark } => offset + mark,
            Origin::Utf16 { offsets } => offsets[offset.min(offsets.len() - 1)] as usize,
        }
    }

    /// Turns a problem into an error that names line and column.
    pub(super) fn place_problem(&self, problem: Problem) -> YamlError {
        let before = &self.text[..problem.offset.min(self.text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        let offset = self.original_offset(before.len());
        YamlError::placed(problem.message, Place { offset, line, column })
    }

    /// Starts the delivery of `text`, which is the settled text or a version of it.
    pub(super) fn portions<'p>(&self, text: &'p [u8]) -> Portions<'p> {
        let mark = match self.origin {
            Origin::Utf8 { mark } => mark,
            Origin::Utf16 { .. } => UTF16_LITTLE_MARK.len(),
        };
        let ending: &[u8] = if ends_with_break(text) { b"" } else { b"\n" };
        let first = PORTION_BYTES - mark;
        Portions { text, position: 0, first, ending, broken: self.broken }
    }
}

/// Tells whether the last character is one that YAML 1.1 takes for a line break.
pub(super) fn ends_with_break(text: &[u8]) -> bool {
    const BREAKS: [&[u8]; 5] = [b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];
    BREAKS.iter().any(|line_break| text.ends_with(line_break))
}

/// Returns where the last line of a text starts.
pub(super) fn last_line_start(text: &[u8]) -> usize {
    (0..=text.len()).rev().find(|&end| ends_with_break(&text[..end])).unwrap_or(0)
}

/// Returns the offset of the first character that YAML does not allow.
pub(super) fn first_forbidden(text: &[u8]) -> usize {
    let mut offset = 0;
    for chunk in text.utf8_chunks() {
        if let Some((position, _)) = chunk.valid().char_indices().find(|&(_, it)| is_forbidden(it))
        {
            return offset + position;
        }
        offset += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            return offset;
        }
    }
    offset
}

fn is_forbidden(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => character.is_control(),
    }
}

/// A text handed out portion by portion, with a line break added to a last line that lacks one.
///
/// The added break keeps the scanner from reading past the end of a block scalar.
pub(super) struct Portions<'p> {
    text: &'p [u8],
    position: usize,
    first: usize,
    ending: &'static [u8],
    broken: Option<&'static str>,
}

impl BufRead for Portions<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position < self.text.len() {
            let length = if self.position == 0 { self.first } else { PORTION_BYTES };
            let end = self.text.len().min(self.position + length);
            return Ok(&self.text[self.position..end]);
        }
        match self.broken {
            Some(message) => Err(io::Error::new(io::ErrorKind::InvalidData, message)),
            None => Ok(&self.ending[self.position - self.text.len()..]),
        }
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount;
    }
}

impl Read for Portions<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(buffer.len());
        buffer[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}
