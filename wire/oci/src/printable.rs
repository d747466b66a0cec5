//! Foreign text made fit for a message.
//!
//! What a registry sends may hold anything, also what moves a terminal's cursor. This file shortens
//! and cleans it; it translates nothing.

/// Returns the beginning of a text: control characters become blanks, blanks in a row become one, and
/// a text of more than `limit` characters ends in `…`.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    let mut excerpt = String::new();
    let mut length = 0;
    let mut is_blank_due = false;
    for character in text.chars() {
        if character.is_whitespace() || is_hidden(character) {
            is_blank_due = length > 0;
            continue;
        }
        if length + usize::from(is_blank_due) >= limit {
            excerpt.push('…');
            return excerpt;
        }
        if std::mem::take(&mut is_blank_due) {
            excerpt.push(' ');
            length += 1;
        }
        excerpt.push(character);
        length += 1;
    }
    excerpt
}

/// Control characters, and those that change the direction or joining of what stands around them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
