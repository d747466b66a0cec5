//! Durations as Go writes them: `1h30m`, `45s`, `1.5h`.

use std::time::Duration;

use operon_object::quote;

/// Reads a duration, or says in Go's words why it is none. A negative one is none here either: it would
/// mean to look again before anything happened.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let quoted = quote(text);
    let invalid = || format!("time: invalid duration {quoted}");
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() || rest.starts_with('-') {
        return Err(invalid());
    }
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|mark: char| !mark.is_ascii_digit() && mark != '.');
        let (number, behind) = rest.split_at(digits.unwrap_or(rest.len()));
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = behind.find(|mark: char| mark.is_ascii_digit() || mark == '.');
        let (unit, behind) = behind.split_at(end.unwrap_or(behind.len()));
        let seconds = match unit {
            "" => return Err(format!("time: missing unit in duration {quoted}")),
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            unit => {
                return Err(format!("time: unknown unit {} in duration {quoted}", quote(unit)));
            }
        };
        total += number * seconds;
        rest = behind;
    }
    Duration::try_from_secs_f64(total).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let claims = [
            ("45m", Ok(2_700_000)),
            ("1h30m", Ok(5_400_000)),
            ("1.5h", Ok(5_400_000)),
            ("0", Ok(0)),
            ("250ms", Ok(250)),
            ("", Err("time: invalid duration \"\"")),
            ("-5m", Err("time: invalid duration \"-5m\"")),
            ("5", Err("time: missing unit in duration \"5\"")),
            ("45mError.code", Err("time: unknown unit \"mError\" in duration \"45mError.code\"")),
            ("m", Err("time: invalid duration \"m\"")),
        ];
        for (text, expected) in claims {
            let got = parse_duration(text).map(|duration| duration.as_millis());
            assert_eq!(got, expected.map_err(str::to_owned), "{text}");
        }
    }
}
