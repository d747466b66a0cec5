//! A table as aligned text.
//!
//! The width of the terminal is not asked: lines are as long as they are.

use super::Table;

/// How many blanks separate columns, as with `kubectl`.
const GAP: usize = 3;

/// The narrowest column, its gap included. Upstream: the same in `kubectl`.
const NARROWEST: usize = 6;

/// Renders a table: a line of column names and one line for each row.
///
/// Only the first line of a cell is shown, and control characters are made visible, because a cell
/// may hold what strangers wrote.
pub fn render_table(table: &Table) -> String {
    let rows: Vec<Vec<String>> = std::iter::once(&table.columns)
        .chain(&table.rows)
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        (widest + GAP).max(NARROWEST)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<String>().trim_end_matches(' '));
        text.push('\n');
    }
    text
}

fn one_line(cell: &str) -> String {
    let (line, mark) = match cell.find(['\n', '\r', '\u{c}']) {
        Some(end) => (&cell[..end], "..."),
        None => (cell, ""),
    };
    let mut shown = String::with_capacity(line.len() + mark.len());
    for character in line.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown + mark
}
