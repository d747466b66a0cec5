//! Numbers as Go reads and prints them: every JSON number is a 64-bit float.

/// A plain literal of at most this many bytes cannot overflow a float, so it needs no check.
pub(super) const MAX_SAFE_DIGITS: usize = 300;

/// Integers of at most this many digits are printed by Go exactly as they were written.
const EXACT_INTEGER_DIGITS: usize = 15;

/// Returns the value of a number literal, or `None` when the text is not one.
pub fn number_value(literal: &[u8]) -> Option<f64> {
    std::str::from_utf8(literal).ok()?.parse().ok()
}

/// Prints a finite float as Go's `encoding/json` does: shortest digits that read back the same,
/// with an exponent only below 1e-6 and from 1e21 on.
pub fn format_float(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0".into() } else { "0".into() };
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) =
        scientific.split_once('e').expect("bug: `{:e}` always prints an exponent");
    let exponent: i32 = exponent.parse().expect("bug: `{:e}` prints a decimal exponent");
    if (-6..21).contains(&exponent) {
        return format!("{value}");
    }
    // Go always writes the sign of an exponent.
    let sign = if exponent < 0 { "" } else { "+" };
    format!("{mantissa}e{sign}{exponent}")
}

/// Appends a number literal the way Go prints it after reading it into a float.
pub(super) fn write_number(literal: &[u8], out: &mut Vec<u8>) {
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    let is_short_integer = digits.len() <= EXACT_INTEGER_DIGITS
        && digits.iter().all(u8::is_ascii_digit)
        && literal != b"-0";
    if is_short_integer {
        out.extend_from_slice(literal);
    } else {
        let value = number_value(literal).expect("bug: the tape holds well-formed numbers only");
        out.extend_from_slice(format_float(value).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_go_prints_them() {
        for (literal, expected) in [
            ("1", "1"),
            ("-0", "-0"),
            ("1.0", "1"),
            ("0.1", "0.1"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1e100", "1e+100"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("1.5e-10", "1.5e-10"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("123456789012345678", "123456789012345680"),
            ("9223372036854775807", "9223372036854776000"),
            ("12345678901234567890", "12345678901234567000"),
        ] {
            let mut out = Vec::new();
            write_number(literal.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{literal}");
        }
    }
}
