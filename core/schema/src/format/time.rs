//! Days, moments and durations.
//!
//! Only the form is checked; no time is computed.

use super::is_blank;

/// Tells whether a text is a day such as `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = &bytes[range];
        digits.iter().all(u8::is_ascii_digit).then(|| {
            digits.iter().fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'))
        })
    };
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let last = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

/// Tells whether a text is a moment such as `2006-01-02T15:04:05Z`.
///
/// Upstream: the mark before the fraction may be any character, and what follows a second `t` does
/// not count.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let mut fields = clock.split(':');
    for most in ["23", "59", "59"] {
        match fields.next() {
            Some(field) if is_digits(field, 2) && field <= most => (),
            _ => return false,
        }
    }
    let mut after_mark = rest.chars();
    after_mark.next();
    let fraction = after_mark.as_str();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    is_zone(rest) || (1..=digits).any(|length| is_zone(&fraction[length..]))
}

fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    text == "z"
        || offset.is_some_and(|(hours, minutes)| is_digits(hours, 2) && is_digits(minutes, 2))
}

fn is_digits(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a text is a duration such as `1h30m` or `3 days`.
///
/// Upstream: somewhere in the text a number must be followed by a unit; all else is ignored.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || mentions_duration(text)
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        let whole = &rest[..rest.len() - unit.len()];
        let (fraction, unit) = match unit.strip_prefix('.') {
            None => ("", unit),
            Some(after) => {
                let unit = after.trim_start_matches(|character: char| character.is_ascii_digit());
                (&after[..after.len() - unit.len()], unit)
            }
        };
        if whole.is_empty() && fraction.is_empty()
            || whole.parse::<i64>().is_err() && !whole.is_empty()
        {
            return false;
        }
        let next = unit.find(|character: char| character == '.' || character.is_ascii_digit());
        let (unit, after) = unit.split_at(next.unwrap_or(unit.len()));
        if !["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "m", "h"].contains(&unit) {
            return false;
        }
        rest = after;
    }
    true
}

/// The units by name; a text may also go on after the last name of each.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "\u{b5}s", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

fn mentions_duration(text: &str) -> bool {
    let mut rest = text;
    let mut is_mentioned = false;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let number = &rest[start..];
        let after = number.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = &number[..number.len() - after.len()];
        let unit = after.trim_start_matches(is_blank);
        let is_letter = |character: char| character.is_ascii_alphabetic() || character == '\u{b5}';
        let behind = unit.trim_start_matches(is_letter);
        let unit = unit[..unit.len() - behind.len()].to_lowercase();
        rest = after;
        if unit.is_empty() {
            continue;
        }
        rest = behind;
        if number.parse::<i64>().is_err() {
            return false;
        }
        is_mentioned |= UNITS.iter().any(|names| {
            names.contains(&unit.as_str())
                || names.last().is_some_and(|longest| unit.starts_with(longest))
        });
    }
    is_mentioned
}
