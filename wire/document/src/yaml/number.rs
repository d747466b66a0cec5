//! Numbers as YAML 1.1 and Go write them.
//!
//! Base 60 (`190:20:30`) is left out, as upstream leaves it out.

use std::borrow::Cow;

/// A number that a plain scalar spells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// `8080`, `-1`, `0644` (octal), `0o17`, `0x1F`, `0b101`, `1_000`.
    Integer(i64),
    /// An integer beyond the signed range, such as `18446744073709551615`.
    Unsigned(u64),
    /// `1.5`, `1e3`, `-.5`, and integers too large for 64 bits.
    Float(f64),
}

/// Reads a scalar that starts with a digit or a sign.
///
/// Upstream: underscores are dropped wherever they stand, so `0x_1` and even `1__` are numbers.
pub(super) fn read_number(scalar: &str) -> Option<Number> {
    let plain = without_underscores(scalar);
    read_integer(&plain)
        .or_else(|| is_yaml_float(&plain).then(|| read_float(&plain)).flatten())
        .or_else(|| read_binary_oddity(&plain))
}

/// Reads a scalar that starts with a dot; here an underscore must stand between two digits.
pub(super) fn read_dotted(scalar: &str) -> Option<Number> {
    let bytes = scalar.as_bytes();
    let is_digit = |position: Option<usize>| {
        position.and_then(|position| bytes.get(position)).is_some_and(u8::is_ascii_digit)
    };
    let separated = bytes
        .iter()
        .enumerate()
        .filter(|&(_, &byte)| byte == b'_')
        .all(|(position, _)| is_digit(position.checked_sub(1)) && is_digit(Some(position + 1)));
    let plain = without_underscores(scalar);
    (separated && is_yaml_float(&plain)).then(|| read_float(&plain)).flatten()
}

/// Prints a float that is the key of a mapping.
///
/// Upstream: a key is printed with the precision of 32 bits and an exponent from 1e6 on, unlike
/// the same number as a value.
pub(super) fn float_key(value: f64) -> String {
    let short = value as f32;
    if short.is_nan() {
        return ".nan".into();
    }
    if short.is_infinite() {
        return if short > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let scientific = format!("{short:e}");
    let (mantissa, exponent) =
        scientific.split_once('e').expect("bug: `{:e}` always prints an exponent");
    let exponent: i32 = exponent.parse().expect("bug: `{:e}` prints a decimal exponent");
    if (-4..6).contains(&exponent) {
        return format!("{short}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn without_underscores(scalar: &str) -> Cow<'_, str> {
    if scalar.contains('_') { Cow::Owned(scalar.replace('_', "")) } else { Cow::Borrowed(scalar) }
}

fn read_integer(plain: &str) -> Option<Number> {
    let (negative, unsigned) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain),
    };
    let (digits, radix) = split_radix(unsigned);
    let magnitude = read_digits(digits, radix)?;
    if negative {
        return 0i64.checked_sub_unsigned(magnitude).map(Number::Integer);
    }
    match i64::try_from(magnitude) {
        Ok(value) => Some(Number::Integer(value)),
        // Upstream: an explicit plus sign rules the unsigned reading out.
        Err(_) if plain.starts_with('+') => None,
        Err(_) => Some(Number::Unsigned(magnitude)),
    }
}

/// Takes the prefix off that tells the base; a bare leading zero means octal.
fn split_radix(unsigned: &str) -> (&str, u32) {
    let bytes = unsigned.as_bytes();
    match bytes {
        [b'0', b'b' | b'B', _, ..] => (&unsigned[2..], 2),
        [b'0', b'o' | b'O', _, ..] => (&unsigned[2..], 8),
        [b'0', b'x' | b'X', _, ..] => (&unsigned[2..], 16),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    }
}

fn read_digits(digits: &str, radix: u32) -> Option<u64> {
    // The standard parser takes a sign of its own, which no digits may start with here.
    let starts_with_digit = digits.chars().next()?.is_digit(radix);
    if starts_with_digit { u64::from_str_radix(digits, radix).ok() } else { None }
}

/// Reads what upstream reads in a second try at binary numbers.
///
/// Upstream: that try looks for a sign behind the prefix, so `0b-1` is minus one.
fn read_binary_oddity(plain: &str) -> Option<Number> {
    let digits = plain.strip_prefix("0b")?;
    let (negative, digits) = match digits.as_bytes().first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => return None,
    };
    let magnitude = read_digits(digits, 2)?;
    if negative {
        0i64.checked_sub_unsigned(magnitude).map(Number::Integer)
    } else {
        i64::try_from(magnitude).ok().map(Number::Integer)
    }
}

/// Tells whether a text is digits with at most one dot and an optional exponent.
fn is_yaml_float(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(position) => (&unsigned[..position], Some(&unsigned[position + 1..])),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => !mantissa.is_empty() && is_digits(mantissa),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    is_mantissa && is_exponent
}

/// Reads digits as a float; what is beyond the range of floats, such as `1e400`, is not a number.
fn read_float(plain: &str) -> Option<Number> {
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then_some(Number::Float(value))
}
