//! Reads timestamps (RFC 3339) and durations (`1h30m`) as Go does.
//!
//! Where Go is laxer than the standard, so are we: a one-digit hour and a decimal comma pass.

use super::{FIRST_SECOND, LAST_SECOND, Timestamp, day_of_date, days_in_month};

/// Says why a text is no timestamp.
pub(in crate::cel) enum TimestampFault {
    /// The text has another form, or names a day or time that does not exist.
    Malformed,
    /// The year is not one of 1 to 9999.
    OutOfRange,
}

/// Reads `2023-01-02T03:04:05.678+01:00`.
pub(in crate::cel) fn parse_timestamp(text: &str) -> Result<Timestamp, TimestampFault> {
    let timestamp = Scanner(text.as_bytes()).timestamp().ok_or(TimestampFault::Malformed)?;
    if !(FIRST_SECOND..=LAST_SECOND).contains(&timestamp.seconds) {
        return Err(TimestampFault::OutOfRange);
    }
    Ok(timestamp)
}

/// Reads `1h30m`, `-1.5s` or `0` as nanoseconds.
pub(in crate::cel) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, unsigned) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    if unsigned == "0" {
        return Some(0);
    }
    if unsigned.is_empty() {
        return None;
    }
    let mut rest = unsigned;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanoseconds, after) = duration_term(rest)?;
        total = total.checked_add(nanoseconds)?;
        // The most negative duration is one larger than the most positive one.
        if total > 1 << 63 {
            return None;
        }
        rest = after;
    }
    if negative {
        return 0_i64.checked_sub_unsigned(total);
    }
    i64::try_from(total).ok()
}

fn duration_term(text: &str) -> Option<(u64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole_length = digits(text);
    let whole = leading_integer(&text[..whole_length])?;
    let mut rest = &text[whole_length..];
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let length = digits(after);
        fraction = &after[..length];
        rest = &after[length..];
    }
    if whole_length == 0 && fraction.is_empty() {
        return None;
    }
    let unit_length = rest
        .find(|character: char| character == '.' || character.is_ascii_digit())
        .unwrap_or(rest.len());
    let unit = nanoseconds_of_unit(&rest[..unit_length])?;
    let mut nanoseconds = whole.checked_mul(unit)?;
    nanoseconds = nanoseconds.checked_add(fraction_of_unit(fraction, unit))?;
    (nanoseconds <= 1 << 63).then_some((nanoseconds, &rest[unit_length..]))
}

fn leading_integer(digits: &str) -> Option<u64> {
    if digits.is_empty() {
        return Some(0);
    }
    digits.parse::<u64>().ok().filter(|value| *value <= 1 << 63)
}

/// Upstream: the fraction is computed in floating point, which rounds it towards zero.
fn fraction_of_unit(digits: &str, unit: u64) -> u64 {
    let mut value: u64 = 0;
    let mut scale: f64 = 1.0;
    for digit in digits.bytes() {
        if value > (i64::MAX as u64) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > 1 << 63 {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

fn nanoseconds_of_unit(unit: &str) -> Option<u64> {
    match unit {
        "ns" => Some(1),
        // The micro sign and the Greek letter are both in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        _ => None,
    }
}

struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn timestamp(&mut self) -> Option<Timestamp> {
        let year = self.digits(4)?;
        self.literal(b'-')?;
        let month = self.digits(2).filter(|month| (1..=12).contains(month))?;
        self.literal(b'-')?;
        let day = self.digits(2)?;
        self.literal(b'T')?;
        let hour = self.one_or_two_digits().filter(|hour| *hour < 24)?;
        self.literal(b':')?;
        let minute = self.digits(2).filter(|minute| *minute < 60)?;
        self.literal(b':')?;
        let second = self.digits(2).filter(|second| *second < 60)?;
        let nanoseconds = self.fraction();
        let offset = self.offset()?;
        if !self.0.is_empty() || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        let of_day = hour * 3_600 + minute * 60 + second;
        Some(Timestamp {
            seconds: day_of_date(year, month, day) * 86_400 + of_day - i64::from(offset),
            nanoseconds,
            offset,
        })
    }

    fn offset(&mut self) -> Option<i32> {
        let sign = match self.0.first()? {
            b'Z' => {
                self.0 = &self.0[1..];
                return Some(0);
            }
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        // Upstream: an offset of 24 hours or 60 minutes passes.
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        self.literal(b':')?;
        let minutes = self.digits(2).filter(|minutes| *minutes <= 60)?;
        i32::try_from(sign * (hours * 3_600 + minutes * 60)).ok()
    }

    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', digit, ..] = self.0 else {
            return 0;
        };
        if !digit.is_ascii_digit() {
            return 0;
        }
        self.0 = &self.0[1..];
        let mut nanoseconds = 0;
        let mut unit = 100_000_000;
        while let Some(digit) = self.0.first().filter(|digit| digit.is_ascii_digit()) {
            nanoseconds += u32::from(digit - b'0') * unit;
            unit /= 10;
            self.0 = &self.0[1..];
        }
        nanoseconds
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self.0.get(..count)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = &self.0[count..];
        let value = |total, digit: &u8| total * 10 + i64::from(digit - b'0');
        Some(digits.iter().fold(0, value))
    }

    fn one_or_two_digits(&mut self) -> Option<i64> {
        match self.digits(2) {
            Some(value) => Some(value),
            None => self.digits(1),
        }
    }

    fn literal(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }
}
