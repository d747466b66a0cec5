//! Estimates how wide a text will be, without having the font.
//!
//! The reader's `system-ui` may be any font, so the figures follow one of the widest in common use
//! (DejaVu Sans); a text is then never wider than the room kept for it, only sometimes narrower.
//! It deliberately knows no kerning and no shaping.

use unicode_width::UnicodeWidthChar;

/// Returns an upper estimate of the width of the text in pixels.
pub(super) fn text_width(text: &str, font_size: usize) -> usize {
    let thousandths: usize = text.chars().map(character_width).sum();
    (thousandths * font_size).div_ceil(1000)
}

/// Returns the text, cut at its end where it is wider than `room` pixels.
pub(super) fn fitted(text: &str, font_size: usize, room: usize) -> String {
    if text_width(text, font_size) <= room {
        return text.to_owned();
    }
    let room = (room * 1000 / font_size).saturating_sub(character_width('…'));
    let kept: String = within(text.chars(), room).into_iter().collect();
    format!("{}…", kept.trim_end())
}

/// Returns the text, cut in its middle where it is wider than `room` pixels.
///
/// Names of versions begin alike and end in the version, so the end is worth more.
pub(super) fn middle_fitted(text: &str, font_size: usize, room: usize) -> String {
    if text_width(text, font_size) <= room {
        return text.to_owned();
    }
    let room = (room * 1000 / font_size).saturating_sub(character_width('…'));
    let begin: String = within(text.chars(), room / 3).into_iter().collect();
    let end = within(text.chars().rev(), room - room / 3);
    format!("{begin}…{}", end.into_iter().rev().collect::<String>())
}

/// Returns the first characters that fit into `room` thousandths of the font size.
fn within(characters: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    characters
        .take_while(|&character| {
            used += character_width(character);
            used <= room
        })
        .collect()
}

/// Returns the width of one character in thousandths of the font size.
fn character_width(character: char) -> usize {
    match character {
        'i' | 'j' | 'l' | '\'' | '|' | 'I' => 350,
        ' ' | '.' | ',' | ':' | ';' | '!' | '/' | '\\' | '-' => 370,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '"' => 450,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '\u{FFFD}' => 1040,
        '<' | '>' | '=' | '+' | '~' | '^' | '#' => 850,
        '0'..='9' | 'a'..='z' => 640,
        ' '..='~' => 790,
        _ => match character.width().unwrap_or(0) {
            0 => 0,
            1 => 800,
            _ => 1250,
        },
    }
}
