//! Decodes the strings of JSON.
//!
//! Nothing is refused here: what is not a character becomes U+FFFD, as in Go.

use std::borrow::Cow;

/// Replaces each byte that is not part of a UTF-8 character by U+FFFD, one for each byte.
pub(super) fn clean(raw: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(raw.len());
            push_clean(&mut text, raw);
            Cow::Owned(text)
        }
    }
}

fn push_clean(text: &mut String, raw: &[u8]) {
    for chunk in raw.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
}

/// Decodes the escapes of a string; the reader has already checked their form.
pub(super) fn unescape(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        push_clean(&mut text, &rest[..at]);
        let (character, length) = unescape_one(&rest[at..]);
        text.push(character);
        rest = &rest[at + length..];
    }
    push_clean(&mut text, rest);
    text
}

/// Decodes the escape at the start and returns its length.
fn unescape_one(escape: &[u8]) -> (char, usize) {
    match escape[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => unescape_code_unit(escape),
        other => (char::from(other), 2),
    }
}

fn unescape_code_unit(escape: &[u8]) -> (char, usize) {
    let first = code_unit(escape).unwrap_or(0xfffd);
    if let Some(character) = char::from_u32(first) {
        return (character, 6);
    }
    let second = escape.get(6..).and_then(code_unit);
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, second) {
        let combined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        let character = char::from_u32(combined).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (character, 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

fn code_unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
