//! Numbers as text and numbers of different types side by side, as Go and CEL see them.
//!
//! There is no arithmetic here.

use std::cmp::Ordering;

/// Writes a double as Go's `%g` does: `3`, `0.1`, `1e+06`, `+Inf`.
pub(super) fn format_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Writes a duration in seconds without an exponent: `5400s`, `0.5s`.
pub(super) fn format_duration(nanoseconds: i64) -> String {
    format!("{}s", seconds_of(nanoseconds))
}

/// Returns a duration in seconds, computed as Go does.
fn seconds_of(nanoseconds: i64) -> f64 {
    let whole = nanoseconds / 1_000_000_000;
    let rest = nanoseconds % 1_000_000_000;
    whole as f64 + rest as f64 / 1e9
}

/// Reads a double as Go's `strconv.ParseFloat` does; nothing if the text is none or too large.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let (sign, unsigned) = split_sign(text);
    let negate = |number: f64| if sign == Some('-') { -number } else { number };
    let lower = unsigned.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => return Some(negate(f64::INFINITY)),
        "nan" if sign.is_none() => return Some(f64::NAN),
        _ => {}
    }
    if lower.contains('_') && !underscores_separate_digits(&lower) {
        return None;
    }
    let plain = lower.replace('_', "");
    let number = match plain.strip_prefix("0x") {
        Some(digits) => parse_hexadecimal(digits)?,
        None => parse_decimal(&plain)?,
    };
    number.is_finite().then(|| negate(number))
}

fn split_sign(text: &str) -> (Option<char>, &str) {
    match text.as_bytes().first() {
        Some(b'+') => (Some('+'), &text[1..]),
        Some(b'-') => (Some('-'), &text[1..]),
        Some(_) | None => (None, text),
    }
}

fn underscores_separate_digits(text: &str) -> bool {
    let (digits, hexadecimal) = match text.strip_prefix("0x") {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let mut after_digit = hexadecimal;
    let mut after_underscore = false;
    for byte in digits.bytes() {
        if byte == b'_' {
            if !after_digit {
                return false;
            }
            (after_digit, after_underscore) = (false, true);
            continue;
        }
        let digit = byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
        if !digit && after_underscore {
            return false;
        }
        (after_digit, after_underscore) = (digit, false);
    }
    !after_underscore
}

fn parse_decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, Some(split_sign(exponent).1)),
        None => (text, None),
    };
    let digits_only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent_is_good = exponent.is_none_or(|digits| !digits.is_empty() && digits_only(digits));
    if !has_digits || !digits_only(whole) || !digits_only(fraction) || !exponent_is_good {
        return None;
    }
    text.parse().ok()
}

/// Reads `1.8p3`, the part after `0x`.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Exponents beyond this give zero or infinity whatever the digits are.
    let exponent: i64 = match exponent.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-1_000_000, 1_000_000),
        Err(_) => return None,
    };
    let mut value: u128 = 0;
    let mut scale = exponent - 4 * i64::try_from(fraction.len()).ok()?;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = char::from(digit).to_digit(16)?;
        if value >> 120 == 0 {
            value = value << 4 | u128::from(digit);
        } else {
            // Digits that no longer fit only decide about rounding.
            value |= u128::from(digit != 0);
            scale += 4;
        }
    }
    let mut number = value as f64;
    while scale != 0 && number != 0.0 && number.is_finite() {
        let step = scale.clamp(-500, 500);
        number *= 2.0_f64.powi(i32::try_from(step).ok()?);
        scale -= step;
    }
    Some(number)
}

/// Compares a double with an int. Upstream: the int is rounded to a double first, so
/// 9007199254740993 equals 9007199254740992.0.
pub(super) fn compare_double_int(double: f64, int: i64) -> Option<Ordering> {
    double.partial_cmp(&(int as f64))
}

/// Compares a double with a uint, rounding likewise.
pub(super) fn compare_double_uint(double: f64, uint: u64) -> Option<Ordering> {
    double.partial_cmp(&(uint as f64))
}

/// Compares an int with a uint.
pub(super) fn compare_int_uint(int: i64, uint: u64) -> Ordering {
    match u64::try_from(int) {
        Ok(int) => int.cmp(&uint),
        Err(_) => Ordering::Less,
    }
}

/// Truncates a double to an int. Upstream: both ends of the range are refused, although the lower
/// one would fit.
pub(super) fn double_to_int(double: f64) -> Option<i64> {
    let limit = 9_223_372_036_854_775_808.0;
    (double > -limit && double < limit).then_some(double as i64)
}

/// Truncates a double to a uint.
pub(super) fn double_to_uint(double: f64) -> Option<u64> {
    (0.0..18_446_744_073_709_551_616.0).contains(&double).then_some(double as u64)
}

/// Converts a double that is a whole number to an int.
pub(super) fn whole_int(double: f64) -> Option<i64> {
    double_to_int(double).filter(|int| compare_double_int(double, *int) == Some(Ordering::Equal))
}

/// Converts a double that is a whole number to a uint.
pub(super) fn whole_uint(double: f64) -> Option<u64> {
    double_to_uint(double)
        .filter(|uint| compare_double_uint(double, *uint) == Some(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::{format_double, parse_double};

    #[test]
    fn doubles_print_as_in_go() {
        let claims = [
            (3.0, "3"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (9_007_199_254_740_992.0, "9.007199254740992e+15"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e100, "1e+100"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ];
        for (number, expected) in claims {
            assert_eq!(format_double(number), expected);
        }
    }

    #[test]
    fn doubles_read_as_in_go() {
        let good = [
            ("1", 1.0),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1_000.5", 1000.5),
            ("0x1p4", 16.0),
            ("0x_1p4", 16.0),
            ("-0x1.8p1", -3.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0x1p-1074", 5e-324),
            ("1e-400", 0.0),
        ];
        for (text, expected) in good {
            assert_eq!(parse_double(text), Some(expected), "{text}");
        }
        assert!(parse_double("NaN").is_some_and(f64::is_nan));
        let bad = [
            "", ".", "e3", "1e", "1e+", " 1", "1 ", "1__0", "_1", "1_", "1_.5", "+nan", "0x1",
            "0x1p", "0xp1", "1e400", "0x1p5000", "infinit", "1f",
        ];
        for text in bad {
            assert_eq!(parse_double(text), None, "{text}");
        }
    }
}
