//! Tables: columns as wide as their widest cell, two blanks between them, no lines.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::clean;

/// Rows of cells under a header.
#[derive(Debug)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&title| title.to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| clean(&cell.into())).collect());
    }

    /// Prints the table; the last column is not padded.
    pub(crate) fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.header.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.chain([&self.header[column]]).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        let bold = Style::new().bold();
        let mut out = format!("{bold}{}{bold:#}\n", render_row(&self.header, &widths));
        for row in &self.rows {
            out.push_str(&render_row(row, &widths));
            out.push('\n');
        }
        out
    }
}

fn render_row(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
    }
    line.trim_end().to_owned()
}
