//! Numbers as Go writes and compares them.
//!
//! Schemas hold doubles, objects hold integers and doubles; which of the two is compared, and how,
//! is upstream's choice. Nothing here knows a schema.

use operon_object::Value;

/// The largest whole number that every JSON reader keeps exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// Writes a double as Go's `%v` does.
pub(crate) fn go_number(number: f64) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Upstream: numbers from a million on, and those with four zeros after the point, are written
    // with an exponent of at least two digits.
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Returns a number as a double.
pub(crate) fn as_double(value: &Value) -> Option<f64> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "upstream compares doubles")]
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Cuts a double to an integer, at most the largest or smallest one.
///
/// What upstream does with larger doubles depends on the processor it runs on; some compare with the
/// smallest integer then.
#[expect(clippy::cast_possible_truncation, reason = "this is what is asked for")]
pub(crate) fn truncated(number: f64) -> i64 {
    number as i64
}

/// Tells whether a double counts as a whole number in JSON.
///
/// Upstream: a relative error of a billionth is forgiven.
pub(crate) fn is_whole(number: f64) -> bool {
    if !number.is_finite() || number.abs() > MAX_EXACT {
        return false;
    }
    let rounded = number.round();
    number == rounded || rounded != 0.0 && (number - rounded).abs() < 1e-9 * rounded.abs()
}

/// Tells whether a number may be one of the type and format that a schema names.
pub(crate) fn is_in_range(value: &Value, type_name: &str, format: &str) -> bool {
    match (type_name, format) {
        ("integer", format) => {
            let integer = match value {
                Value::Integer(number) => Some(*number),
                // The bounds are where a double no longer fits; 2^63 itself does not.
                Value::Float(number)
                    if number.fract() == 0.0
                        && *number >= -9_223_372_036_854_775_808.0
                        && *number < 9_223_372_036_854_775_808.0 =>
                {
                    Some(truncated(*number))
                }
                _ => None,
            };
            integer.is_some_and(|integer| format != "int32" || i32::try_from(integer).is_ok())
        }
        ("number", "float") => {
            #[expect(clippy::cast_possible_truncation, reason = "to see whether it fits")]
            let fits = |number: f64| (number as f32).is_finite();
            as_double(value).is_none_or(fits)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{go_number, is_whole};

    #[test]
    fn doubles_are_written_as_go_does() {
        let claims = [
            (1.5, "1.5"),
            (0.0, "0"),
            (100.0, "100"),
            (123_456.789, "123456.789"),
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1.25e-5, "1.25e-05"),
            (0.0001, "0.0001"),
            (-3.0, "-3"),
            (1e100, "1e+100"),
        ];
        for (number, expected) in claims {
            assert_eq!(go_number(number), expected);
        }
    }

    #[test]
    fn nearly_whole_doubles_are_whole() {
        for (number, expected) in [
            (3.0, true),
            (3.000_000_000_1, true),
            (3.000_001, false),
            (0.000_000_000_1, false),
            (1e16, false),
            (f64::INFINITY, false),
        ] {
            assert_eq!(is_whole(number), expected, "{number}");
        }
    }
}
