//! Digests in the forms that names and labels on clusters have.
//!
//! Which text is hashed is the caller's business; nothing here knows a kind.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha224, Sha256};

/// Upstream: the digits of Go's `big.Int.Text(62)`.
const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns the SHA-224 of a text as a number in base 62, without padding.
pub fn base62_sha224(text: &str) -> String {
    base62(&Sha224::digest(text))
}

/// Returns the SHA-256 of some bytes in hexadecimal digits.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the FNV-1a hash of a text in hexadecimal digits, without padding.
pub fn fnv64_hex(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:x}")
}

/// Writes a big-endian number in base 62.
fn base62(digest: &[u8]) -> String {
    let mut number = digest.to_vec();
    let mut digits = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut rest = 0_u32;
        for byte in &mut number {
            let part = rest << 8 | u32::from(*byte);
            *byte =
                u8::try_from(part / 62).expect("bug: the rest is below 62, so this is below 256");
            rest = part % 62;
        }
        digits.push(char::from(DIGITS[usize::try_from(rest).expect("bug: below 62")]));
    }
    if digits.is_empty() {
        digits.push('0');
    }
    digits.iter().rev().collect()
}
