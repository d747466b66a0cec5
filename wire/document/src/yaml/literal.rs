//! JSON string literals as Go's `encoding/json` writes them, from bytes that may not be UTF-8.

/// For every byte whether it can be copied as it is; `&`, `<` and `>` depend on the options.
const PLAIN: [bool; 256] = plain_bytes();

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

const fn plain_bytes() -> [bool; 256] {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = false;
        byte += 1;
    }
    table[b'"' as usize] = false;
    table[b'\\' as usize] = false;
    table[b'&' as usize] = false;
    table[b'<' as usize] = false;
    table[b'>' as usize] = false;
    // The first byte of the line separators U+2028 and U+2029.
    table[0xe2] = false;
    table
}

/// Appends a string literal; bytes that are not UTF-8 become `\ufffd`, as in Go.
pub(super) fn write_literal(bytes: &[u8], html_escape: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    match std::str::from_utf8(bytes) {
        Ok(_) => write_valid(bytes, html_escape, out),
        Err(_) => {
            for chunk in bytes.utf8_chunks() {
                write_valid(chunk.valid().as_bytes(), html_escape, out);
                for _ in chunk.invalid() {
                    out.extend_from_slice(b"\\ufffd");
                }
            }
        }
    }
    out.push(b'"');
}

fn write_valid(bytes: &[u8], html_escape: bool, out: &mut Vec<u8>) {
    let mut copied = 0;
    let mut position = 0;
    while let Some(step) = bytes[position..].iter().position(|&byte| !PLAIN[byte as usize]) {
        position += step;
        let byte = bytes[position];
        let mut width = 1;
        let mut unicode = None;
        let mut short = None;
        match byte {
            b'"' | b'\\' => short = Some(byte),
            b'\n' => short = Some(b'n'),
            b'\r' => short = Some(b'r'),
            b'\t' => short = Some(b't'),
            0x08 => short = Some(b'b'),
            0x0c => short = Some(b'f'),
            b'&' | b'<' | b'>' => unicode = html_escape.then_some([0, 0, byte >> 4, byte & 0xf]),
            0xe2 => {
                width = 3;
                if bytes[position + 1] == 0x80 && matches!(bytes[position + 2], 0xa8 | 0xa9) {
                    unicode = Some([2, 0, 2, bytes[position + 2] & 0xf]);
                }
            }
            _ => unicode = Some([0, 0, byte >> 4, byte & 0xf]),
        }
        if short.is_some() || unicode.is_some() {
            out.extend_from_slice(&bytes[copied..position]);
            copied = position + width;
        }
        if let Some(letter) = short {
            out.extend_from_slice(&[b'\\', letter]);
        }
        if let Some(digits) = unicode {
            out.extend_from_slice(b"\\u");
            out.extend(digits.map(|digit| HEX_DIGITS[digit as usize]));
        }
        position += width;
    }
    out.extend_from_slice(&bytes[copied..]);
}
