//! Standard base64 as Go's `encoding/base64` reads it: padded, line breaks ignored.

use std::{error::Error, fmt};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const INVALID: u8 = 0xff;
const DIGITS: [u8; 256] = digits();

const fn digits() -> [u8; 256] {
    let mut table = [INVALID; 256];
    let mut digit = 0;
    while digit < 64 {
        table[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
}

/// The byte of the input at which it stops being base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base64Error {
    /// The offset in the encoded text.
    pub offset: usize,
}

impl fmt::Display for Base64Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not base64 at byte {}", self.offset)
    }
}

impl Error for Base64Error {}

/// Decodes padded standard base64; carriage returns and line feeds are passed over.
pub fn decode_base64(encoded: &[u8]) -> Result<Vec<u8>, Base64Error> {
    let mut decoded = Vec::with_capacity(encoded.len() / 4 * 3);
    let mut chunks = encoded.chunks_exact(4);
    let mut position = 0;
    for chunk in &mut chunks {
        let quad = [chunk[0], chunk[1], chunk[2], chunk[3]].map(|byte| DIGITS[byte as usize]);
        if quad.contains(&INVALID) {
            return decode_slow(encoded, position, decoded);
        }
        let bits = quad.iter().fold(0u32, |bits, &digit| bits << 6 | u32::from(digit));
        decoded.extend_from_slice(&bits.to_be_bytes()[1..]);
        position += 4;
    }
    decode_slow(encoded, position, decoded)
}

/// Decodes from `position` on, one character at a time: line breaks, padding, and mistakes.
fn decode_slow(
    encoded: &[u8],
    position: usize,
    mut decoded: Vec<u8>,
) -> Result<Vec<u8>, Base64Error> {
    let mut rest = encoded
        .iter()
        .copied()
        .enumerate()
        .skip(position)
        .filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    let end = encoded.len();
    loop {
        let mut quad = [0u8; 4];
        let mut filled = 0;
        while filled < 4 {
            match rest.next() {
                None if filled == 0 => return Ok(decoded),
                None => return Err(Base64Error { offset: end }),
                Some((offset, b'=')) => {
                    if filled < 2 {
                        return Err(Base64Error { offset });
                    }
                    if filled == 2 && !matches!(rest.next(), Some((_, b'='))) {
                        return Err(Base64Error { offset: end });
                    }
                    if let Some((offset, _)) = rest.next() {
                        return Err(Base64Error { offset });
                    }
                    push_quad(quad, filled, &mut decoded);
                    return Ok(decoded);
                }
                Some((offset, byte)) => {
                    let digit = DIGITS[byte as usize];
                    if digit == INVALID {
                        return Err(Base64Error { offset });
                    }
                    quad[filled] = digit;
                    filled += 1;
                }
            }
        }
        push_quad(quad, filled, &mut decoded);
    }
}

fn push_quad(quad: [u8; 4], filled: usize, decoded: &mut Vec<u8>) {
    let bits = quad.iter().fold(0u32, |bits, &digit| bits << 6 | u32::from(digit));
    decoded.extend_from_slice(&bits.to_be_bytes()[1..filled]);
}

/// Encodes bytes as padded standard base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0u8; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for position in 0..4 {
            if position <= chunk.len() {
                let digit = (bits >> (18 - 6 * position)) & 0x3f;
                encoded.push(ALPHABET[digit as usize] as char);
            } else {
                encoded.push('=');
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mistakes_are_placed() {
        assert_eq!(decode_base64(b"aGVsbG8"), Err(Base64Error { offset: 7 }));
        assert_eq!(decode_base64(b"aGV*bG8="), Err(Base64Error { offset: 3 }));
        assert_eq!(decode_base64(b"aGVsbG8=x"), Err(Base64Error { offset: 8 }));
        assert_eq!(decode_base64(b"aGVs\r\nbG8=\n"), Ok(b"hello".to_vec()));
        assert_eq!(decode_base64(b""), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(bytes: Vec<u8>) {
            prop_assert_eq!(decode_base64(encode_base64(&bytes).as_bytes()), Ok(bytes));
        }
    }
}
