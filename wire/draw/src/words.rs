//! The words that all drawings share: cleaned names, and one sentence for each fact.
//!
//! Text from a catalog is foreign: it may hold terminal escapes, line breaks, marks that turn the
//! reading direction around, or a megabyte. It is cleaned here once, before any drawing sees it.
//! Escaping for one output format (XML, DOT, Mermaid) deliberately stays with that format.

use crate::graph::{Node, SkipRange};

/// The most characters of any one text of the catalog that a drawing repeats.
///
/// A Kubernetes name has at most 253; deprecation messages are a few sentences. Graphviz refuses
/// strings beyond 16,384 bytes, which this stays below whatever the script.
pub const MAX_TEXT_CHARACTERS: usize = 1_000;

/// The most names listed in one sentence before `and N more`.
pub const MAX_LISTED_NAMES: usize = 3;

/// A `skipRange` that covers more versions than this is drawn as one bundle, not edge by edge.
///
/// Drawn edge by edge a wide range hides every other line: 75 nested ranges in one channel are real.
pub const BUNDLE_ABOVE: usize = 3;

/// The sentence for a name without content.
pub(crate) const VIRTUAL_SENTENCE: &str = "virtual: named in the graph, no content";

/// Returns the text on one line, without control or direction marks, and of bounded length.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    let mut characters = 0;
    let mut pending_space = false;
    for character in text.chars() {
        if character.is_whitespace() {
            pending_space = !cleaned.is_empty();
            continue;
        }
        if characters + 2 > MAX_TEXT_CHARACTERS {
            cleaned.push('…');
            return cleaned;
        }
        if pending_space {
            cleaned.push(' ');
            characters += 1;
            pending_space = false;
        }
        cleaned.push(if is_harmful(character) { '\u{FFFD}' } else { character });
        characters += 1;
    }
    cleaned
}

/// Returns `word` when there is exactly one, and `word` with an `s` otherwise.
pub(crate) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Returns the first names and how many more there are.
pub(crate) fn listed<'names>(names: impl Iterator<Item = &'names str>) -> String {
    let mut shown = Vec::new();
    let mut more = 0;
    for name in names {
        if shown.len() < MAX_LISTED_NAMES {
            shown.push(name);
        } else {
            more += 1;
        }
    }
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// Returns the sentence about a `skipRange` and how much of this channel it covers.
pub(crate) fn skip_range_sentence(range: &SkipRange, covered: usize) -> String {
    let text = clean(&range.text);
    match covered {
        0 => format!("skipRange {text} covers no version here"),
        _ => format!("skipRange {text} covers {} here", counted(covered, "version")),
    }
}

/// Returns the sentence about a deprecation; the message may be empty.
pub(crate) fn deprecated_sentence(message: &str) -> String {
    let message = clean(message);
    if message.is_empty() { "deprecated".to_owned() } else { format!("deprecated: {message}") }
}

/// Returns the name of the node, or what can stand for it when it has none.
pub(crate) fn clean_name(node: &Node) -> String {
    let name = clean(&node.name);
    if name.is_empty() { "(no name)".to_owned() } else { name }
}

/// Returns the channel with its mark, such as `stable (default)`.
pub(crate) fn channel_title(channel: &str, is_default: bool) -> String {
    let channel = clean(channel);
    let channel = if channel.is_empty() { "(no name)".to_owned() } else { channel };
    if is_default { format!("{channel} (default)") } else { channel }
}

/// Control characters drive terminals, direction marks reorder what a reader sees, and the last
/// two characters of the first plane may not appear in XML at all.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61C}'
                | '\u{200B}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{202A}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{FFFE}'
                | '\u{FFFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_cleaned_to_one_harmless_bounded_line() {
        let claims = [
            ("plain 1.2.3", "plain 1.2.3"),
            ("  two\r\n\tlines  ", "two lines"),
            ("\u{1b}[31mred", "\u{FFFD}[31mred"),
            ("a\u{202E}b", "a\u{FFFD}b"),
            ("עברית", "עברית"),
            ("\n", ""),
        ];
        for (given, expected) in claims {
            assert_eq!(clean(given), expected, "{given:?}");
        }
        assert_eq!(clean(&"x".repeat(50_000)).chars().count(), MAX_TEXT_CHARACTERS);
        assert_eq!(clean(&"x ".repeat(50_000)).chars().last(), Some('…'));
        assert!(clean(&"x ".repeat(50_000)).chars().count() <= MAX_TEXT_CHARACTERS);
    }

    #[test]
    fn lists_are_cut_and_counted() {
        assert_eq!(listed(["a", "b"].into_iter()), "a, b");
        assert_eq!(listed(["a", "b", "c", "d", "e"].into_iter()), "a, b, c and 2 more");
    }
}
