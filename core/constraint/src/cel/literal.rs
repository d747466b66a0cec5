//! The values of number and string tokens.
//!
//! The lexer has already checked the form; what can still fail is the size of a number and a code
//! point that does not exist.

use std::sync::Arc;

/// Holds the value of a literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// Reads an int token, with its sign if it has one.
pub(super) fn int(text: &str, negative: bool) -> Result<Literal, &'static str> {
    let (digits, radix) = split_radix(text);
    let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
    i64::from_str_radix(&signed, radix)
        .map(Literal::Int)
        .map_err(|_| "int literal does not fit 64 bits")
}

/// Reads a uint token, whose last letter is `u`.
pub(super) fn uint(text: &str) -> Result<Literal, &'static str> {
    let (digits, radix) = split_radix(&text[..text.len() - 1]);
    u64::from_str_radix(digits, radix)
        .map(Literal::Uint)
        .map_err(|_| "uint literal does not fit 64 bits")
}

/// Reads a double token, with its sign if it has one.
pub(super) fn double(text: &str, negative: bool) -> Result<Literal, &'static str> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            Ok(Literal::Double(if negative { -number } else { number }))
        }
        Ok(_) | Err(_) => Err("double literal is too large"),
    }
}

/// Reads a string token with its quotes and, before them, `r`.
pub(super) fn string(text: &str) -> Result<Literal, &'static str> {
    let bytes = decode(text, false)?;
    String::from_utf8(bytes)
        .map(|text| Literal::String(text.into()))
        .map_err(|_| "invalid unicode code point")
}

/// Reads a bytes token with its quotes and, before them, `b` or `br`.
pub(super) fn bytes(text: &str) -> Result<Literal, &'static str> {
    decode(&text[1..], true).map(|bytes| Literal::Bytes(bytes.into()))
}

fn split_radix(text: &str) -> (&str, u32) {
    match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    }
}

fn decode(text: &str, as_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let quoted = text.strip_prefix(['r', 'R']).unwrap_or(text);
    let raw = quoted.len() < text.len();
    let quote = &quoted[..1];
    let width = if quoted.starts_with(&quote.repeat(3)) && quoted.len() >= 6 { 3 } else { 1 };
    let content = &quoted[width..quoted.len() - width];
    // Upstream: line ends inside triple quotes read as `\n`, whatever the file used.
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    if raw {
        return Ok(content.into_bytes());
    }
    let mut decoded = Vec::with_capacity(content.len());
    let mut rest = content.as_str();
    while let Some(at) = rest.find('\\') {
        decoded.extend_from_slice(&rest.as_bytes()[..at]);
        let length = decode_escape(&rest[at..], as_bytes, &mut decoded)?;
        rest = &rest[at + length..];
    }
    decoded.extend_from_slice(rest.as_bytes());
    Ok(decoded)
}

/// Decodes the escape at the start and returns its length.
fn decode_escape(
    escape: &str,
    as_bytes: bool,
    decoded: &mut Vec<u8>,
) -> Result<usize, &'static str> {
    let (code, length) = match escape.as_bytes()[1] {
        b'a' => (7, 2),
        b'b' => (8, 2),
        b'f' => (12, 2),
        b'n' => (10, 2),
        b'r' => (13, 2),
        b't' => (9, 2),
        b'v' => (11, 2),
        b'x' | b'X' => (digits(&escape[2..4], 16), 4),
        b'u' | b'U' if as_bytes => return Err("a bytes literal takes no \\u escape"),
        b'u' => (digits(&escape[2..6], 16), 6),
        b'U' => (digits(&escape[2..10], 16), 10),
        b'0'..=b'3' => (digits(&escape[1..4], 8), 4),
        other => (u32::from(other), 2),
    };
    match u8::try_from(code) {
        Ok(byte) if as_bytes => decoded.push(byte),
        Ok(_) | Err(_) => {
            let character = char::from_u32(code).ok_or("invalid unicode code point")?;
            decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(length)
}

fn digits(text: &str, radix: u32) -> u32 {
    // The lexer admits only digits here; eight hexadecimal ones always fit.
    u32::from_str_radix(text, radix).unwrap_or(u32::MAX)
}
