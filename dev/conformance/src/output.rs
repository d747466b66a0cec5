//! Text output: tables, errors, and untrusted text made harmless for terminals and CI systems.
//!
//! Unlike `operon`, nothing is coloured.

use std::io;

use operon_document::{is_unprintable, starts_pipeline_command, starts_workflow_command};
use unicode_width::UnicodeWidthStr;

/// Replaces a character that must not be printed.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Returns a text on one line, without characters that drive a terminal.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |character: char| match character {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        character if is_unprintable(character) => REPLACEMENT,
        character => character,
    };
    text.chars().map(harmless).collect()
}

/// Returns the text with unprintable characters and the commands of CI systems replaced.
pub(crate) fn screen(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_line_start = true;
    for (at, character) in text.char_indices() {
        if is_line_start && starts_workflow_command(&text[at..]) {
            out.push(REPLACEMENT);
        }
        is_line_start = character == '\n' || (is_line_start && character.is_whitespace());
        match character {
            '\n' | '\t' => out.push(character),
            '#' if starts_pipeline_command(&text[at..]) => out.extend(['#', REPLACEMENT]),
            _ if is_unprintable(character) => out.push(REPLACEMENT),
            _ => out.push(character),
        }
    }
    out
}

/// Renders rows as a table: two spaces between columns, and the last one is not padded.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = [header.map(str::to_owned)]
        .into_iter()
        .chain(rows.iter().map(|row| row.each_ref().map(|cell| clean(cell))))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns an error and its causes, one per line.
pub(crate) fn error_text(error: &anyhow::Error) -> String {
    let mut text = format!("error: {error}\n");
    for cause in error.chain().skip(1) {
        text += &format!("  because: {cause}\n");
    }
    screen(&text)
}

/// Returns `true` if the reader of standard output has gone, as in `… | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screened_text_holds_no_commands() {
        for (text, expected) in [
            ("a\u{1b}[2J\tb\n", "a\u{fffd}[2J\tb\n"),
            ("a\n ::error::x", "a\n \u{fffd}::error::x"),
            ("std::io\nx ##vso[a]b ## [d]", "std::io\nx #\u{fffd}#vso[a]b ## [d]"),
        ] {
            assert_eq!(screen(text), expected, "{text:?}");
        }
        assert_eq!(clean("a\r\n\tb\u{202e}"), "a   b\u{fffd}");
    }

    #[test]
    fn table_columns_fit_the_widest_cell() {
        let rows = [["é".to_owned(), "1".to_owned()], ["abcdef".to_owned(), "2\n3".to_owned()]];
        assert_eq!(table(["NAME", "N"], &rows), "NAME    N\né       1\nabcdef  2 3\n");
    }
}
