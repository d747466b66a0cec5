//! How long something was not used: typed as `7d`, told as `3 days ago`.

use std::time::Duration;

/// The units that can be typed, in seconds.
const UNITS: [(char, u64); 5] =
    [('s', 1), ('m', 60), ('h', 3600), ('d', 24 * 3600), ('w', 7 * 24 * 3600)];

/// Reads an age, such as `90m` or `7d`.
pub(super) fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no age; write one such as `12h`, `7d` or `2w`");
    let text = text.trim();
    let (unit, seconds) =
        UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit)).ok_or_else(wrong)?;
    let number: u64 = text.trim_end_matches(unit).trim().parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

/// Tells an age in its largest unit.
pub(super) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    let (number, noun) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {noun}{} ago", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_and_told() {
        for (text, expected) in [
            ("7d", Some(604_800)),
            ("90m", Some(5400)),
            (" 2w ", Some(1_209_600)),
            ("0s", Some(0)),
            ("7", None),
            ("d", None),
            ("-1d", None),
            ("1.5h", None),
            ("99999999999999999w", None),
            ("", None),
        ] {
            assert_eq!(parse_age(text).ok().map(|age| age.as_secs()), expected, "{text}");
        }
        for (seconds, expected) in [
            (3, "just now"),
            (60, "1 minute ago"),
            (7199, "1 hour ago"),
            (86_400 * 3, "3 days ago"),
        ] {
            assert_eq!(age(Duration::from_secs(seconds)), expected);
        }
    }
}
