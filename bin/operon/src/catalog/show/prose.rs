//! Prose of an author, in markdown, wrapped for a terminal.
//!
//! Markdown is meant to be read as it is, so it is not rendered: only its paragraphs are wrapped,
//! and what has a layout of its own (lists, code, tables) keeps its lines.

use unicode_width::UnicodeWidthStr;

use crate::output::clean;

/// What a line of a list begins with.
const LIST_MARKERS: [&str; 3] = ["- ", "* ", "+ "];

/// Wraps markdown to lines of so many columns.
pub(super) fn wrap_markdown(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    let finish = |paragraph: &mut String, lines: &mut Vec<String>| {
        lines.extend(wrap(paragraph, width));
        paragraph.clear();
    };
    for line in text.lines() {
        let line = clean(line);
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let is_indented_code =
            paragraph.is_empty() && line.starts_with("    ") && !trimmed.is_empty();
        if in_code || is_fence || is_indented_code {
            finish(&mut paragraph, &mut lines);
            in_code ^= is_fence;
            lines.push(line.trim_end().to_owned());
        } else if trimmed.is_empty() {
            finish(&mut paragraph, &mut lines);
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else if has_own_layout(&line) {
            finish(&mut paragraph, &mut lines);
            lines.extend(wrap(&line, width));
        } else {
            paragraph.push_str(if paragraph.is_empty() { "" } else { " " });
            paragraph.push_str(trimmed);
        }
    }
    finish(&mut paragraph, &mut lines);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Wraps one text between its words; lines after the first are indented like a list's text.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let body = text.trim_start();
    let indent = text.len() - body.len();
    let marker = LIST_MARKERS.iter().find(|marker| body.starts_with(**marker));
    let hanging = " ".repeat(indent + marker.map_or(0, |marker| marker.len()));
    let mut lines: Vec<String> = Vec::new();
    let mut line = text[..indent].to_owned();
    let mut is_empty = true;
    for word in body.split_whitespace() {
        if !is_empty && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, hanging.clone()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    if !is_empty {
        lines.push(line);
    }
    lines
}

fn has_own_layout(line: &str) -> bool {
    let trimmed = line.trim_start();
    let numbered = trimmed.trim_start_matches(|character: char| character.is_ascii_digit());
    trimmed.starts_with(['#', '|', '>', '<'])
        || LIST_MARKERS.iter().any(|marker| trimmed.starts_with(marker))
        || (numbered.len() < trimmed.len() && numbered.starts_with(". "))
        || (!trimmed.is_empty() && trimmed.chars().all(|character| matches!(character, '-' | '=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_layouts_are_kept() {
        let text = "## Title\nfirst line\nof a paragraph\n\n\n* an item that is long\n* two\n\n```\ncode   stays\n```\n\n";
        let expected = [
            "## Title",
            "first line of a",
            "paragraph",
            "",
            "* an item that",
            "  is long",
            "* two",
            "",
            "```",
            "code   stays",
            "```",
        ];
        assert_eq!(wrap_markdown(text, 16), expected);
        assert_eq!(wrap("**bold** is no list", 12), ["**bold** is", "no list"]);
        assert_eq!(wrap("unbreakableunbreakable and", 5), ["unbreakableunbreakable", "and"]);
        assert!(wrap_markdown("", 10).is_empty());
    }
}
