//! Numbers of books, cards and people, colours, identifiers, encoded bytes.
//!
//! Where a format has a check digit it is computed; nothing is decoded.

use super::is_blank;

/// Tells whether a text has the form of a UUID, of a version and with a variant if these are asked.
pub(super) fn is_uuid(text: &str, version: Option<char>, needs_variant: bool) -> bool {
    let mut rest = text;
    let mut digits = String::new();
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        digits.push_str(group);
        rest = after;
    }
    let digit = |index: usize| digits.as_bytes().get(index).map(u8::to_ascii_lowercase);
    rest.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && version.is_none_or(|version| digit(12).map(char::from) == Some(version))
        && (!needs_variant || matches!(digit(16), Some(b'8' | b'9' | b'a' | b'b')))
}

/// Tells whether a text is an identifier of twelve bytes in hexadecimal digits.
pub(super) fn is_object_identifier(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Tells whether a text is bytes in base 64.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Tells whether a text is a colour such as `#00aaff`.
pub(super) fn is_hexadecimal_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Tells whether a text is a colour such as `rgb(0, 31, 255)`.
pub(super) fn is_rgb_color(text: &str) -> bool {
    let inside = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    let Some(inside) = inside else { return false };
    let is_part = |part: &str| {
        let part = part.trim_matches(is_blank);
        part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
            && part.parse::<u8>().is_ok()
    };
    inside.split(',').count() == 3 && inside.split(',').all(is_part)
}

/// Tells whether a text is a social security number of the United States.
pub(super) fn is_social_security_number(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(index, byte)| match index {
            3 | 6 => byte == b'-' || byte == b' ',
            _ => byte.is_ascii_digit(),
        })
}

/// Tells whether the digits of a text are the number of a credit card.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| digits.starts_with(prefix));
    let is_issued = match digits.len() {
        13 => begins(&["4"]),
        14 => begins(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => begins(&["34", "37", "2131", "1800"]),
        16 => begins(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    };
    let sum: u32 = (digits.bytes().rev().enumerate())
        .map(|(index, digit)| {
            let value = u32::from(digit - b'0') * if index % 2 == 1 { 2 } else { 1 };
            value / 10 + value % 10
        })
        .sum();
    is_issued && sum.is_multiple_of(10)
}

/// Tells whether a text is the number of a book in the old form.
pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let Some((last, first)) = digits.split_last() else { return false };
    if digits.len() != 10 || !first.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let check = match last {
        b'X' => 10,
        digit if digit.is_ascii_digit() => u32::from(digit - b'0'),
        _ => return false,
    };
    let sum: u32 =
        first.iter().zip(1_u32..).map(|(digit, weight)| weight * u32::from(digit - b'0')).sum();
    (sum + 10 * check).is_multiple_of(11)
}

/// Tells whether a text is the number of a book in the new form.
pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weighted =
        |(index, digit): (usize, &u8)| u32::from(digit - b'0') * if index % 2 == 1 { 3 } else { 1 };
    digits.iter().enumerate().map(weighted).sum::<u32>().is_multiple_of(10)
}

fn isbn_digits(text: &str) -> Vec<u8> {
    text.chars()
        .filter(|character| !is_blank(*character) && *character != '-')
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
}
