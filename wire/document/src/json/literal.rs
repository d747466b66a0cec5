//! Scanning of strings, numbers and words, eight bytes at a time where it pays.
//!
//! Catalogs are mostly indentation and long strings, so these loops decide how fast a catalog
//! opens. They only find ends and check form; values are made on demand by `Node`.

use super::{node::Kind, number, tape::JsonError};

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);

/// Returns the offset of the first byte at or after `position` that is not JSON white space.
pub(crate) fn skip_whitespace(text: &[u8], mut position: usize) -> usize {
    loop {
        match text.get(position) {
            Some(b' ') => {
                while word(text, position) == Some(SPACES) {
                    position += 8;
                }
                while text.get(position) == Some(&b' ') {
                    position += 1;
                }
            }
            Some(b'\n' | b'\r' | b'\t') => position += 1,
            _ => return position,
        }
    }
}

/// The end of a string literal, and whether its text is its value.
pub(super) struct ScannedString {
    pub(super) end: usize,
    pub(super) plain: bool,
}

/// Scans the string literal whose opening quote is at `start`.
pub(super) fn scan_string(text: &[u8], start: usize) -> Result<ScannedString, JsonError> {
    let mut position = start + 1;
    let mut escaped = false;
    loop {
        position = find_special(text, position);
        match text.get(position) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = true;
                position = scan_escape(text, position)?;
            }
            Some(&control) => {
                return Err(JsonError::new(
                    position,
                    format!(
                        "control character 0x{control:02x} inside a string; write it as \\u{control:04x}"
                    ),
                ));
            }
            None => return Err(JsonError::incomplete(start, "string is not closed")),
        }
    }
    let plain = !escaped && std::str::from_utf8(&text[start + 1..position]).is_ok();
    Ok(ScannedString { end: position + 1, plain })
}

/// Returns the offset just after the string whose opening quote is at `start`, or `None` when the
/// text ends first. Escapes are stepped over, not checked.
pub(crate) fn skip_string(text: &[u8], start: usize) -> Option<usize> {
    let mut position = start + 1;
    loop {
        position = find_special(text, position);
        match text.get(position)? {
            b'"' => return Some(position + 1),
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
}

/// Returns the offset of the first quote, backslash or control character at or after `position`.
fn find_special(text: &[u8], mut position: usize) -> usize {
    while let Some(bytes) = word(text, position) {
        let quote = has_zero(bytes ^ u64::from_ne_bytes([b'"'; 8]));
        let backslash = has_zero(bytes ^ u64::from_ne_bytes([b'\\'; 8]));
        // A byte below 0x20 borrows from its high bit when 0x20 is taken away.
        let control = bytes.wrapping_sub(ONES * 0x20) & !bytes & HIGHS;
        let special = quote | backslash | control;
        if special != 0 {
            return position + (special.trailing_zeros() / 8) as usize;
        }
        position += 8;
    }
    while let Some(&byte) = text.get(position) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        position += 1;
    }
    position
}

/// Returns eight bytes as a little-endian word, or `None` near the end of the text.
fn word(text: &[u8], position: usize) -> Option<u64> {
    let bytes = text.get(position..position + 8)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// Marks the high bit of every byte that is zero (and possibly of bytes after the first one).
fn has_zero(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

fn scan_escape(text: &[u8], position: usize) -> Result<usize, JsonError> {
    match text.get(position + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(position + 2),
        Some(b'u') => {
            for offset in position + 2..position + 6 {
                match text.get(offset) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => {
                        return Err(JsonError::new(
                            position,
                            "\\u must be followed by four hexadecimal digits",
                        ));
                    }
                    None => return Err(JsonError::incomplete(position, "string is not closed")),
                }
            }
            Ok(position + 6)
        }
        Some(_) => Err(JsonError::new(position, "unknown escape sequence in a string")),
        None => Err(JsonError::incomplete(position, "string is not closed")),
    }
}

/// Scans the number literal at `start` and returns its end.
pub(super) fn scan_number(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let digits = |mut position: usize| {
        while text.get(position).is_some_and(u8::is_ascii_digit) {
            position += 1;
        }
        position
    };
    let malformed = |position: usize| {
        let message = "number is not well formed: digits are missing";
        if position < text.len() {
            JsonError::new(position, message)
        } else {
            JsonError::incomplete(position, message)
        }
    };
    let integer = if text[start] == b'-' { start + 1 } else { start };
    let mut position = digits(integer);
    if position == integer {
        return Err(malformed(position));
    }
    if text[integer] == b'0' && position > integer + 1 {
        return Err(JsonError::new(integer, "number must not start with 0"));
    }
    let mut has_exponent = false;
    if text.get(position) == Some(&b'.') {
        let fraction = position + 1;
        position = digits(fraction);
        if position == fraction {
            return Err(malformed(position));
        }
    }
    if let Some(b'e' | b'E') = text.get(position) {
        has_exponent = true;
        let sign = position + 1;
        let exponent = if let Some(b'+' | b'-') = text.get(sign) { sign + 1 } else { sign };
        position = digits(exponent);
        if position == exponent {
            return Err(malformed(position));
        }
    }
    // Upstream: every number becomes a float64, and one outside its range is an error.
    if has_exponent || position - start > number::MAX_SAFE_DIGITS {
        let finite = number::number_value(&text[start..position]).is_some_and(f64::is_finite);
        if !finite {
            return Err(JsonError::new(start, "number is too large for a 64-bit float"));
        }
    }
    Ok(position)
}

/// Scans `true`, `false` or `null` at `start`.
pub(super) fn scan_literal(text: &[u8], start: usize) -> Result<(Kind, usize), JsonError> {
    let (kind, word): (Kind, &[u8]) = match text[start] {
        b't' => (Kind::Bool, b"true"),
        b'f' => (Kind::Bool, b"false"),
        _ => (Kind::Null, b"null"),
    };
    let found = &text[start..text.len().min(start + word.len())];
    if found == word {
        Ok((kind, start + word.len()))
    } else if word.starts_with(found) {
        Err(JsonError::incomplete(start, "unexpected end of JSON text"))
    } else {
        Err(JsonError::new(start, "found a word where the beginning of a value was expected"))
    }
}
