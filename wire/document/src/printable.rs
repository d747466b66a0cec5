//! Which characters of foreign text act on a terminal, a log or a reader instead of being shown.
//!
//! This module decides per character and escapes JSON. What replaces such a character in plain text
//! is decided by the program that prints it.

use std::{borrow::Cow, fmt::Write as _};

/// Returns `true` if a character drives a terminal, breaks a line or changes how its neighbours are
/// shown.
///
/// These are the C0 and C1 control characters and DEL, the marks, embeddings, overrides and isolates
/// that change the reading direction, the line and paragraph separators, and invisible format
/// characters that hide text. The joiners U+200C and U+200D are not among them: Persian, Indic
/// scripts and emoji need them.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
        )
}

/// Returns `true` if a text holds something that a CI system would take for a command when it stands
/// on lines of its own: GitHub's `::set-output name=a::b`, or `##vso[…]`.
///
/// GitHub's runner ignores white space before the two colons, so indenting a line is not enough.
pub fn has_workflow_command(text: &str) -> bool {
    text.lines().any(|line| starts_workflow_command(line.trim_start()))
        || text.match_indices("##").any(|(at, _)| starts_pipeline_command(&text[at..]))
}

/// Returns `true` if a text begins like `::set-output`, which GitHub takes for a command at the start
/// of a line. The `:::` of compilers is not one.
pub fn starts_workflow_command(text: &str) -> bool {
    text.strip_prefix("::")
        .is_some_and(|name| name.starts_with(|character: char| character.is_ascii_alphabetic()))
}

/// Returns `true` if a text begins like `##[` or `##vso[`, which Azure Pipelines, TeamCity and
/// GitHub take for a command anywhere in a line.
pub fn starts_pipeline_command(text: &str) -> bool {
    text.strip_prefix("##").is_some_and(|name| {
        name.trim_start_matches(|character: char| character.is_ascii_alphabetic()).starts_with('[')
    })
}

/// Returns JSON text in which every unprintable character inside a string is written as `\uXXXX`, and
/// so is the beginning of a command for a CI system.
///
/// The value stays the same: outside strings, JSON has no such characters but line breaks and tabs.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let acts =
        |character: char| !matches!(character, '\n' | '\r' | '\t') && is_unprintable(character);
    let Some(first) = json.find(|character| acts(character) || character == '#') else {
        return Cow::Borrowed(json);
    };
    let mut escaped = String::with_capacity(json.len() + 64);
    escaped.push_str(&json[..first]);
    for (at, character) in json[first..].char_indices() {
        if acts(character) || starts_pipeline_command(&json[first + at..]) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Tape, canonical_string};

    /// Every character that acts, and some of which look similar and do not.
    const TEXT: &str = "a\u{1b}[2J\r\n\u{7f}\u{85}\u{9b}1m\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\
                        \u{202a}\u{202e}\u{2066}\u{2069}\u{feff} ##vso[a] ok ü 👩\u{200d}👧 עברית";

    #[test]
    fn escaped_json_is_printable_and_keeps_its_value() {
        let json = canonical_string(TEXT);
        let escaped = escape_json(&json);
        assert!(!escaped.contains(is_unprintable), "{escaped}");
        assert!(!escaped.contains("##") && escaped.contains("ü 👩\u{200d}👧 עברית"), "{escaped}");
        let mut tape = Tape::new();
        let root = tape.read(escaped.as_bytes()).expect("it is JSON");
        assert_eq!(root.as_str().expect("it is a string"), TEXT);
        let harmless = "{\n  \"a\": \"ü\"\n}\n";
        assert!(matches!(escape_json(harmless), Cow::Borrowed(same) if same == harmless));
    }

    #[test]
    fn workflow_commands_are_found_at_the_start_of_lines() {
        let claims = [
            ("::set-output name=a::b", true),
            ("text\n  \u{3000}::error::x", true),
            ("a ##vso[b]", true),
            ("a ##[b]", true),
            ("## [b]\n#[c]", false),
            ("a::b", false),
            ("  ::: file:1:2", false),
            ("std::io\nfoo ::bar", false),
            ("", false),
        ];
        for (text, expected) in claims {
            assert_eq!(has_workflow_command(text), expected, "{text:?}");
        }
    }
}
