//! Opening an image: the layout is checked once, then every cell is a bounds-checked load.

use std::{error::Error, fmt, ops::Range, sync::Arc};

use super::{
    IMAGE_FORMAT, MAGIC, NONE,
    table::{Column, Section},
};

/// The bytes of an image: built in memory, or mapped from a file.
pub type ImageBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Why bytes are not an image of this version of Operon; the remedy is always to rebuild it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageError(&'static str);

impl fmt::Display for ImageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not a usable catalog image: {}", self.0)
    }
}

impl Error for ImageError {}

/// An image whose every reference was checked.
#[derive(Clone)]
pub(crate) struct Image {
    bytes: ImageBytes,
    /// Byte offset and number of words of each table.
    tables: Arc<[(usize, usize)]>,
    text: Range<usize>,
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Image({} bytes)", (*self.bytes).as_ref().len())
    }
}

impl Image {
    /// Opens an image and checks all of it.
    pub(crate) fn open(bytes: ImageBytes) -> Result<Self, ImageError> {
        let image = Self::layout(bytes)?;
        image.check_text()?;
        for &section in Section::ALL {
            image.check_table(section)?;
        }
        Ok(image)
    }

    fn layout(bytes: ImageBytes) -> Result<Self, ImageError> {
        let data = (*bytes).as_ref();
        if data.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(ImageError("it does not start like one"));
        }
        let word = |index: usize| load(data, index * 4).ok_or(ImageError("it is too short"));
        if word(2)? != IMAGE_FORMAT {
            return Err(ImageError("it has another format version"));
        }
        if word(3)? as usize != Section::ALL.len() {
            return Err(ImageError("it has another number of tables"));
        }
        let part = |index: usize, unit: usize| {
            let start = word(4 + 2 * index)? as usize * 4;
            let length = word(5 + 2 * index)? as usize;
            let end = start.checked_add(length * unit).ok_or(ImageError("a table is too long"))?;
            if end > data.len() {
                return Err(ImageError("a table reaches beyond its end"));
            }
            Ok((start, length))
        };
        let mut tables = Vec::with_capacity(Section::ALL.len());
        for (index, section) in Section::ALL.iter().enumerate() {
            let (start, length) = part(index, 4)?;
            if length % section.width() != 0 {
                return Err(ImageError("a table ends within a row"));
            }
            tables.push((start, length));
        }
        let (start, length) = part(Section::ALL.len(), 1)?;
        let tables = tables.into();
        Ok(Self { tables, text: start..start + length, bytes })
    }

    fn check_text(&self) -> Result<(), ImageError> {
        let text = std::str::from_utf8(&self.data()[self.text.clone()])
            .map_err(|_| ImageError("its text is not UTF-8"))?;
        let mut start = 0;
        for end in self.words(Section::TextEnds) {
            let end = end as usize;
            if end < start || !text.is_char_boundary(end) {
                return Err(ImageError("a text is cut at a wrong place"));
            }
            start = end;
        }
        Ok(())
    }

    fn check_table(&self, section: Section) -> Result<(), ImageError> {
        for (number, column) in section.columns().iter().enumerate() {
            let (limit, optional) = match *column {
                Column::Number => continue,
                Column::Text => (self.rows(Section::TextEnds), false),
                Column::OptionalText => (self.rows(Section::TextEnds), true),
                Column::Row(target) => (self.rows(target), false),
                Column::OptionalRow(target) => (self.rows(target), true),
                Column::Bound(target) => (self.rows(target) + 1, false),
            };
            for value in self.words(section).skip(number).step_by(section.width()) {
                if value >= limit && !(optional && value == NONE) {
                    return Err(ImageError("a row refers to one that does not exist"));
                }
            }
        }
        Ok(())
    }

    /// Returns all cells of a table, row by row; where all are looked at, that is quicker than one by one.
    fn words(&self, section: Section) -> impl Iterator<Item = u32> {
        let (start, words) = self.tables[section as usize];
        let (cells, _) = self.data()[start..start + words * 4].as_chunks::<4>();
        cells.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn data(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    /// Returns all bytes of the image.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.data()
    }

    /// Returns how many rows a table has.
    pub(crate) fn rows(&self, section: Section) -> u32 {
        (self.tables[section as usize].1 / section.width()) as u32
    }

    /// Returns a cell.
    pub(crate) fn cell(&self, section: Section, row: u32, column: usize) -> u32 {
        let (start, words) = self.tables[section as usize];
        let index = row as usize * section.width() + column;
        debug_assert!(index < words, "{section:?} row {row}");
        load(self.data(), start + index * 4).expect("bug: rows are checked when an image is opened")
    }

    /// Returns a cell that may be empty.
    pub(crate) fn optional(&self, section: Section, row: u32, column: usize) -> Option<u32> {
        Some(self.cell(section, row, column)).filter(|&value| value != NONE)
    }

    /// Returns the range of rows between a bound and the one in the next column.
    pub(crate) fn range(&self, section: Section, row: u32, column: usize) -> Range<u32> {
        self.cell(section, row, column)..self.cell(section, row, column + 1)
    }

    /// Returns a text by its number.
    pub(crate) fn text(&self, number: u32) -> &str {
        let end = self.cell(Section::TextEnds, number, 0) as usize;
        let start = match number {
            0 => 0,
            _ => self.cell(Section::TextEnds, number - 1, 0) as usize,
        };
        let bytes = &self.data()[self.text.clone()][start..end];
        std::str::from_utf8(bytes).expect("bug: texts are checked when an image is opened")
    }

    /// Returns the text of a cell.
    pub(crate) fn text_cell(&self, section: Section, row: u32, column: usize) -> &str {
        self.text(self.cell(section, row, column))
    }

    /// Returns the text of a cell that may be empty.
    pub(crate) fn optional_text(&self, section: Section, row: u32, column: usize) -> Option<&str> {
        self.optional(section, row, column).map(|number| self.text(number))
    }

    /// Finds the row in a sorted range whose text in `column` equals `wanted`.
    pub(crate) fn find(
        &self,
        section: Section,
        rows: Range<u32>,
        column: usize,
        wanted: &str,
    ) -> Option<u32> {
        let (mut low, mut high) = (rows.start, rows.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text_cell(section, middle, column).cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

fn load(data: &[u8], offset: usize) -> Option<u32> {
    let bytes = data.get(offset..offset + 4)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}
