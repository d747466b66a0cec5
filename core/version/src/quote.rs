//! Quotes text the way Go's `%q` does, because error texts that quote the input end in statuses
//! which programs compare.
//!
//! It does not carry its own character tables: what counts as printable is the standard
//! library's answer, so a character younger than Unicode 15 is shown where Go would escape it.

use std::fmt::{self, Write};

/// Returns the bytes in double quotes; what is not printable text becomes a Go escape.
pub(crate) fn quote(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    write_quoted(&mut quoted, text).expect("bug: writing to a string cannot fail");
    quoted
}

fn write_quoted(out: &mut String, text: &[u8]) -> fmt::Result {
    out.push('"');
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            write_character(out, character)?;
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.push('"');
    Ok(())
}

fn write_character(out: &mut String, character: char) -> fmt::Result {
    let code = u32::from(character);
    match character {
        '"' | '\\' => write!(out, "\\{character}"),
        '\u{07}' => out.write_str("\\a"),
        '\u{08}' => out.write_str("\\b"),
        '\u{0b}' => out.write_str("\\v"),
        '\u{0c}' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        ' '..='~' => out.write_char(character),
        '\u{00}'..='\u{1f}' | '\u{7f}' => write!(out, "\\x{code:02x}"),
        _ if is_printable(character) => out.write_char(character),
        '\u{80}'..='\u{ffff}' => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    }
}

/// Decides by the debug escape, which has Go's categories: letters, marks, numbers, punctuation
/// and symbols. A combining mark is escaped there only at the start, hence the leading letter.
fn is_printable(character: char) -> bool {
    let after_letter = String::from_iter(['a', character]);
    after_letter.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_like_go() {
        for (text, quoted) in [
            (&b"1.2"[..], r#""1.2""#),
            (b"a\"b\\c'd~", r#""a\"b\\c'd~""#),
            (b"\x00\x07\x08\t\n\x0b\x0c\r\x1b\x7f", r#""\x00\a\b\t\n\v\f\r\x1b\x7f""#),
            ("\u{e9}\u{0301}\u{fffd}".as_bytes(), "\"\u{e9}\u{0301}\u{fffd}\""),
            ("\u{85}\u{a0}\u{feff}\u{10ffff}".as_bytes(), r#""\u0085\u00a0\ufeff\U0010ffff""#),
            (b"\xff\xe2\x82(", r#""\xff\xe2\x82(""#),
        ] {
            assert_eq!(quote(text), quoted);
        }
    }
}
