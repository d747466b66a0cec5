//! Untrusted text made harmless: what would act on a terminal, a log or a CI system is made visible.
//!
//! Text from catalogs, bundles and clusters passes two functions. A view calls [`clean`] or
//! [`clean_lines`] where it puts such a text into a line, because only the view knows which line
//! breaks and colours are its own. `stdio` then calls [`screen`] on all that is printed, so a view
//! that forgets a text can at worst let a line break or a colour through.

use std::borrow::Cow;

use operon_document::{is_unprintable, starts_pipeline_command, starts_workflow_command};

/// Takes the place of a character that must not be printed.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// The longest parameters of a colour that pass, such as `1;38;2;255;255;255`.
///
/// Our own styles stay far below; without a limit a text could hide behind an endless one.
const MAX_STYLE_BYTES: usize = 32;

/// Returns a text on one line, without characters that drive a terminal or turn the reading
/// direction.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |character: char| match character {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        character if is_unprintable(character) => REPLACEMENT,
        character => character,
    };
    text.chars().map(harmless).collect()
}

/// Returns a text of several lines with each line cleaned; the caller sets lines after the first
/// apart from its own, for example by indenting them.
pub(crate) fn clean_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(clean).collect();
    lines.join("\n")
}

/// Returns printed text as it may reach a terminal or a pipe.
///
/// Line breaks, tabs and colours (`ESC [ … m`) stay. Every other character that acts is replaced, and
/// a line that a CI system would take for a command begins with a replacement character: GitHub
/// reads `::name` at the start of a line, Azure Pipelines and TeamCity `##name[` anywhere.
pub(super) fn screen(text: &str) -> Cow<'_, str> {
    if !needs_screening(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(character) = rest.chars().next() {
        if let Some(style) = style_length(rest) {
            out.push_str(&rest[..style]);
            rest = &rest[style..];
            continue;
        }
        if is_line_start && starts_workflow_command(rest) {
            out.push(REPLACEMENT);
        }
        is_line_start = character == '\n' || (is_line_start && character.is_whitespace());
        let from_here = rest;
        rest = &rest[character.len_utf8()..];
        match character {
            '\n' | '\t' => out.push(character),
            '#' if starts_pipeline_command(from_here) => out.extend(['#', REPLACEMENT]),
            _ if is_unprintable(character) => out.push(REPLACEMENT),
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn needs_screening(text: &str) -> bool {
    let acts = |character: char| !matches!(character, '\n' | '\t') && is_unprintable(character);
    text.contains("::") || text.contains("##") || text.contains(acts)
}

/// Returns the length of the colour that a text begins with.
fn style_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let is_parameter = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    let length = parameters.bytes().take(MAX_STYLE_BYTES).take_while(is_parameter).count();
    parameters[length..].starts_with('m').then_some("\u{1b}[".len() + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaned_text_is_one_printable_line() {
        let claims = [
            ("a\u{1b}[31m\nb\u{202e}", "a\u{fffd}[31m b\u{fffd}"),
            ("a\r\n\tb\u{2028}c\u{85}d", "a   b c d"),
            ("\u{9b}2J\u{7f}\u{61c}\u{200f}", "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}"),
            ("ü 👩\u{200d}👧", "ü 👩\u{200d}👧"),
        ];
        for (text, expected) in claims {
            assert_eq!(clean(text), expected, "{text:?}");
        }
        assert_eq!(clean_lines("a\u{8}\r\nb\u{85}c\rd"), "a\u{fffd}\nb c d");
    }

    #[test]
    fn screened_text_keeps_colours_and_nothing_else_that_acts() {
        let claims = [
            ("\u{1b}[1mbold\u{1b}[0m\tx\n", "\u{1b}[1mbold\u{1b}[0m\tx\n"),
            ("\u{1b}[1;38;5;9mx", "\u{1b}[1;38;5;9mx"),
            ("\u{1b}[2J\u{1b}]0;t\u{7}", "\u{fffd}[2J\u{fffd}]0;t\u{fffd}"),
            ("\u{1b}[3", "\u{fffd}[3"),
            ("a\rb\u{9b}m\u{2066}", "a\u{fffd}b\u{fffd}m\u{fffd}"),
            ("a\n ::error::x", "a\n \u{fffd}::error::x"),
            ("::set-output name=a::b", "\u{fffd}::set-output name=a::b"),
            ("\u{1b}[1m::error::x", "\u{1b}[1m\u{fffd}::error::x"),
            ("std::io and a ::b\n  ::: file", "std::io and a ::b\n  ::: file"),
            ("x ##vso[a]b ##[c] ## [d]", "x #\u{fffd}#vso[a]b #\u{fffd}#[c] ## [d]"),
            ("# Title\n## Part", "# Title\n## Part"),
        ];
        for (text, expected) in claims {
            assert_eq!(screen(text), expected, "{text:?}");
        }
        let endless = format!("\u{1b}[{}m", "1;".repeat(1000));
        assert!(screen(&endless).starts_with('\u{fffd}'));
    }
}
