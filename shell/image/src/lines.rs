//! Lines and columns: places are byte ranges, people read line numbers.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
};

use operon_catalog::{FileId, Place};

use crate::OpenedCatalog;

/// How many bytes one count of line breaks covers.
const BLOCK_BYTES: usize = 64 << 10;

/// The longest stretch of a line that is shown on either side of a place.
const MAX_SIDE_BYTES: usize = 4096;

/// Finds lines in the files of a catalog, reading each file at most once for counting.
#[derive(Debug)]
pub struct Lines<'c> {
    catalog: &'c OpenedCatalog,
    /// For each file, the number of line breaks before each block.
    counts: BTreeMap<FileId, Vec<u32>>,
}

/// A few lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the first line, from 1.
    pub first_line: usize,
    /// The text, which may start and end within a very long line.
    pub text: String,
    /// The byte range of each place that was asked for, within `text`.
    pub ranges: Vec<Range<usize>>,
}

impl<'c> Lines<'c> {
    /// Prepares to find lines.
    pub fn new(catalog: &'c OpenedCatalog) -> Self {
        Self { catalog, counts: BTreeMap::new() }
    }

    /// Returns the line and column of a place, both from 1; columns count bytes.
    pub fn position(&mut self, place: Place) -> io::Result<(usize, usize)> {
        let mut file = File::open(self.catalog.location(place))?;
        let offset = place.start as usize;
        let block = offset / BLOCK_BYTES;
        let before = self.counts(place, &mut file)?.get(block).copied().unwrap_or(0) as usize;
        let start = block * BLOCK_BYTES;
        let text = read_range(&mut file, start..offset)?;
        let line = before + count_breaks(&text) + 1;
        let column = match text.iter().rposition(|&byte| byte == b'\n') {
            Some(position) => text.len() - position,
            None => self.column_before(&mut file, start)? + text.len() + 1,
        };
        Ok((line, column))
    }

    /// Counts the bytes between the last line break before `offset` and `offset`.
    fn column_before(&self, file: &mut File, offset: usize) -> io::Result<usize> {
        let mut start = offset;
        while start > 0 {
            let block = start.saturating_sub(BLOCK_BYTES);
            let text = read_range(file, block..start)?;
            if let Some(position) = text.iter().rposition(|&byte| byte == b'\n') {
                return Ok(offset - block - position - 1);
            }
            start = block;
        }
        Ok(offset)
    }

    /// Returns the lines that hold the given places, which must be of one file.
    pub fn excerpt(&mut self, places: &[Place]) -> io::Result<Excerpt> {
        let start = places.iter().map(|place| place.start as usize).min().unwrap_or(0);
        let end = places.iter().map(|place| place.start as usize).max().unwrap_or(0);
        let mut file = File::open(self.catalog.location(places[0]))?;
        let window_start = start.saturating_sub(MAX_SIDE_BYTES);
        let text = read_range(&mut file, window_start..end + MAX_SIDE_BYTES)?;
        let head = &text[..start - window_start];
        let cut_front =
            head.iter().rposition(|&byte| byte == b'\n').map_or(0, |position| position + 1);
        let tail_start = (end - window_start).min(text.len());
        let tail = &text[tail_start..];
        let cut_back =
            tail.iter().position(|&byte| byte == b'\n').unwrap_or(tail.len()) + tail_start;
        let (first_line, _) =
            self.position(Place { start: (window_start + cut_front) as u32, ..places[0] })?;
        let shown = &text[cut_front..cut_back];
        let origin = window_start + cut_front;
        let clamp = |offset: usize| offset.saturating_sub(origin).min(shown.len());
        let ranges = places.iter().map(|place| {
            let start = clamp(place.start as usize);
            let line_end = shown[start..]
                .iter()
                .position(|&byte| byte == b'\n')
                .unwrap_or(shown.len() - start)
                + start;
            start..clamp(place.end as usize).min(line_end).max(start)
        });
        let ranges: Vec<Range<usize>> = ranges.collect();
        let text = printable(shown);
        let ranges = ranges
            .into_iter()
            .map(|range| text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end))
            .collect();
        Ok(Excerpt { first_line, text, ranges })
    }

    fn counts(&mut self, place: Place, file: &mut File) -> io::Result<&[u32]> {
        let counts = match self.counts.entry(place.file) {
            Entry::Occupied(counted) => counted.into_mut(),
            Entry::Vacant(uncounted) => uncounted.insert(count_blocks(file)?),
        };
        Ok(counts)
    }
}

/// Keeps byte offsets: what is not UTF-8 or would move the cursor becomes `?`, byte by byte.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let harmless = !character.is_control() || character == '\n' || character == '\t';
            if harmless {
                text.push(character);
            } else {
                text.extend(std::iter::repeat_n('?', character.len_utf8()));
            }
        }
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

fn count_blocks(file: &mut File) -> io::Result<Vec<u32>> {
    file.seek(SeekFrom::Start(0))?;
    let mut counts = Vec::new();
    let mut total = 0;
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    loop {
        counts.push(total);
        block.clear();
        if file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)? == 0 {
            return Ok(counts);
        }
        total += count_breaks(&block) as u32;
    }
}

fn count_breaks(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

fn read_range(file: &mut File, range: Range<usize>) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(range.start as u64))?;
    let mut text = Vec::with_capacity(range.len());
    file.by_ref().take(range.len() as u64).read_to_end(&mut text)?;
    Ok(text)
}
