//! Building an image: texts are kept once, rows are appended, sections are laid out at the end.

use std::collections::HashMap;

use super::{IMAGE_FORMAT, MAGIC, NONE, table::Section};

/// Collects the tables of an image.
#[derive(Debug)]
pub(crate) struct ImageWriter {
    tables: Vec<Vec<u32>>,
    text: Vec<u8>,
    numbers: HashMap<Box<str>, u32>,
}

impl ImageWriter {
    pub(crate) fn new() -> Self {
        Self {
            tables: vec![Vec::new(); Section::ALL.len()],
            text: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// Returns the number of a text, which is stored only once.
    pub(crate) fn text(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.text.extend_from_slice(text.as_bytes());
        let ends = &mut self.tables[Section::TextEnds as usize];
        let number = ends.len() as u32;
        ends.push(self.text.len() as u32);
        self.numbers.insert(text.into(), number);
        number
    }

    /// Returns the number of a text, or "none" for an empty one.
    pub(crate) fn optional_text(&mut self, text: &str) -> u32 {
        if text.is_empty() { NONE } else { self.text(text) }
    }

    /// Returns how many rows a table has.
    pub(crate) fn rows(&self, section: Section) -> u32 {
        (self.tables[section as usize].len() / section.width()) as u32
    }

    /// Appends a row and returns its number.
    pub(crate) fn push(&mut self, section: Section, row: &[u32]) -> u32 {
        debug_assert_eq!(row.len(), section.width(), "{section:?}");
        let number = self.rows(section);
        self.tables[section as usize].extend_from_slice(row);
        number
    }

    /// Lays out the image: header, section table, tables, text.
    pub(crate) fn finish(self) -> Vec<u8> {
        let header_words = 4 + 2 * Section::ALL.len() + 2;
        let table_words: usize = self.tables.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity((header_words + table_words) * 4 + self.text.len() + 4);
        bytes.extend_from_slice(&MAGIC);
        push_word(&mut bytes, IMAGE_FORMAT);
        push_word(&mut bytes, Section::ALL.len() as u32);
        let mut position = header_words;
        for table in &self.tables {
            push_word(&mut bytes, position as u32);
            push_word(&mut bytes, table.len() as u32);
            position += table.len();
        }
        push_word(&mut bytes, position as u32);
        push_word(&mut bytes, self.text.len() as u32);
        for word in self.tables.iter().flatten() {
            push_word(&mut bytes, *word);
        }
        bytes.extend_from_slice(&self.text);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

fn push_word(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend_from_slice(&word.to_le_bytes());
}
