//! A page of facts for people: keys and values in columns, then sections with tables and lists.
//!
//! It lays out; what is said, and what is left out, is the caller's business. Text of a catalog is
//! made harmless here, because all of it passes through here.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::prose::wrap;
use crate::output::{Table, clean};

/// Lines longer than this are hard to read however wide the terminal is.
const MAX_WIDTH: usize = 100;

/// The indent of what is inside of a section.
const INDENT: usize = 2;

/// A page that is being written.
pub(crate) struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// Starts a page for a terminal of so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { out: String::new(), width: columns.min(MAX_WIDTH) }
    }

    /// Returns how many columns there are inside of a section.
    pub(crate) fn inner_width(&self) -> usize {
        self.width.saturating_sub(INDENT).max(20)
    }

    /// Writes keys and values in two columns; an empty value is left out.
    pub(crate) fn fields(&mut self, fields: &[(&str, String)]) {
        self.columns(0, fields);
    }

    /// Writes keys and values inside of a section.
    pub(crate) fn inner_fields(&mut self, indent: usize, fields: &[(&str, String)]) {
        self.columns(indent * INDENT, fields);
    }

    fn columns(&mut self, indent: usize, fields: &[(&str, String)]) {
        let filled = || fields.iter().filter(|(_, value)| !value.is_empty());
        let key_width = filled().map(|(key, _)| key.width() + 3).max().unwrap_or(0);
        let style = if indent == 0 { Style::new().bold() } else { Style::new() };
        for (key, value) in filled() {
            let room = self.width.saturating_sub(indent + key_width).max(20);
            let mut lines = wrap(&clean(value), room).into_iter();
            let first = lines.next().unwrap_or_default();
            let gap = key_width - key.width() - 1;
            let line = format!("{:indent$}{style}{key}:{style:#}{:gap$}{first}", "", "");
            self.push(&line);
            for rest in lines {
                self.push(&format!("{:width$}{rest}", "", width = indent + key_width));
            }
        }
    }

    /// Starts a section.
    pub(crate) fn section(&mut self, title: &str) {
        let bold = Style::new().bold();
        let title = clean(title);
        self.out.push('\n');
        self.push(&format!("{bold}{title}:{bold:#}"));
    }

    /// Writes a text inside of a section, so many steps further in, wrapped.
    pub(crate) fn item(&mut self, steps: usize, text: &str) {
        let indent = (steps + 1) * INDENT;
        let room = self.width.saturating_sub(indent).max(20);
        for (number, line) in wrap(&clean(text), room).into_iter().enumerate() {
            let hanging = if number == 0 { 0 } else { INDENT };
            self.push(&format!("{:width$}{line}", "", width = indent + hanging));
        }
    }

    /// Writes a line inside of a section as it is.
    pub(crate) fn verbatim(&mut self, line: &str) {
        self.push(&format!("{:INDENT$}{line}", ""));
    }

    /// Writes a table inside of a section, without the columns that nothing stands in.
    pub(crate) fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        let is_used = |column: usize| {
            rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()))
        };
        let used: Vec<usize> = (0..header.len()).filter(|&column| is_used(column)).collect();
        let titles: Vec<&str> = used.iter().map(|&column| header[column]).collect();
        let mut table = Table::new(&titles);
        for row in &rows {
            table.row(used.iter().filter_map(|&column| row.get(column)).map(String::as_str));
        }
        for line in table.render().lines() {
            self.verbatim(line);
        }
    }

    /// Returns the page.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}
