//! How a range text falls apart: into tokens at blanks, and a token into operator and version.
//!
//! Nothing is judged here; texts are bytes because upstream reads ranges that are not UTF-8.

/// Marks one token of a range by its place, which may contain blanks after an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// Tells whether the token counts at all.
    ///
    /// Upstream: a token of one byte is dropped without a word, so `! 1.2.3` means `1.2.3`.
    pub(crate) fn is_kept(self) -> bool {
        self.end - self.start > 1
    }

    /// Returns the token without its blanks.
    pub(crate) fn text(self, range: &[u8]) -> Vec<u8> {
        range[self.start..self.end].iter().copied().filter(|byte| *byte != b' ').collect()
    }
}

/// Splits at blanks, except those that follow `<`, `>` or `=`.
pub(crate) fn tokens(range: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = b' ';
    for (position, byte) in range.iter().copied().enumerate() {
        if byte != b' ' {
            last = byte;
        } else if !matches!(last, b'<' | b'>' | b'=') {
            tokens.push(Token { start, end: position });
            start = position + 1;
        }
    }
    tokens.push(Token { start, end: range.len() });
    tokens.retain(|token| token.start < token.end);
    tokens
}

/// Splits a token before its first digit; the operator loses the white space around it.
///
/// Upstream: a digit of any script ends the operator, although no version may contain one.
pub(crate) fn split_term(token: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut offset = 0;
    for chunk in token.utf8_chunks() {
        if let Some(position) = chunk.valid().find(is_decimal_digit) {
            let (operator, version) = token.split_at(offset + position);
            return Some((trim_whitespace(operator), version));
        }
        offset += chunk.valid().len() + chunk.invalid().len();
    }
    None
}

/// Removes Unicode white space at both ends; a byte that is not UTF-8 is not white space.
pub(crate) fn trim_whitespace(text: &[u8]) -> &[u8] {
    let leading = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let text = &text[leading.len() - leading.trim_start().len()..];
    let trailing = text.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
    let trailing = trailing.map_or("", |chunk| chunk.valid());
    &text[..text.len() - (trailing.len() - trailing.trim_end().len())]
}

fn is_decimal_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    let code = u32::from(character);
    (0x1D7CE..=0x1D7FF).contains(&code)
        || DIGIT_ZEROES.iter().any(|zero| (*zero..zero + 10).contains(&code))
}

/// The zeroes of the other scripts; nine more digits follow each (Unicode 15, category Nd).
const DIGIT_ZEROES: [u32; 62] = [
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16A60, 0x16AC0,
    0x16B50, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E950, 0x1FBF0,
];
