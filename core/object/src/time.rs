//! Points in time, as objects write them.
//!
//! Nothing here reads a clock. Objects carry whole seconds in UTC; the engine counts milliseconds.

use std::{fmt, time::Duration};

use crate::Value;

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    milliseconds: i64,
}

impl Timestamp {
    /// Returns the point in time so many milliseconds after 1970 began.
    pub const fn from_milliseconds(milliseconds: i64) -> Self {
        Self { milliseconds }
    }

    /// Returns the milliseconds since 1970 began.
    pub const fn milliseconds(self) -> i64 {
        self.milliseconds
    }

    /// Reads a time such as `2026-11-16T05:54:39Z` or `2026-11-16T06:54:39.5+01:00`.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once(['T', 't'])?;
        let mut parts = date.splitn(3, '-').map(digits);
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let zone = time.find(['Z', 'z', '+', '-'])?;
        let (clock, zone) = time.split_at(zone);
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let mut parts = clock.splitn(3, ':').map(digits);
        let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
        let is_sound = (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61;
        if !is_sound {
            return None;
        }
        let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
        let days = days_before(year, month) + day - 1;
        let seconds = (hour * 60 + minute) * 60 + second - zone_seconds(zone)?;
        let milliseconds = days * MILLISECONDS_PER_DAY + seconds * 1000 + digits(&fraction)?;
        Some(Self { milliseconds })
    }

    /// Returns how long ago an earlier time was; nothing for one that is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        let passed = self.milliseconds.saturating_sub(earlier.milliseconds);
        Duration::from_millis(u64::try_from(passed).unwrap_or(0))
    }

    /// Returns the time so much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self { milliseconds: self.milliseconds.saturating_add(milliseconds) }
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::from(time.to_string())
    }
}

/// Writes whole seconds, as Kubernetes does.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.milliseconds.div_euclid(MILLISECONDS_PER_DAY);
        let seconds = self.milliseconds.rem_euclid(MILLISECONDS_PER_DAY) / 1000;
        let (year, month, day) = date_of(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn zone_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * (digits(hours)? * 60 + digits(minutes)?) * 60)
}

/// Counts the days from 1970 to the first of a month, in the calendar that Gregory began.
fn days_before(year: i64, month: i64) -> i64 {
    // Years that begin in March have the leap day at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719_468 days lie between the first of March of the year 0 and 1970.
    year * 365 + leaps + (month * 153 + 2) / 5 - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    // A guess that is never too early, and then the months of that year.
    let mut year = 1970 + days.div_euclid(365).max(days.div_euclid(366) + 1);
    while days_before(year, 1) > days {
        year -= 1;
    }
    let month = (1..=12).rev().find(|month| days_before(year, *month) <= days).unwrap_or(1);
    (year, month, days - days_before(year, month) + 1)
}

#[cfg(test)]
mod tests {
    use super::Timestamp;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_as_rfc_3339_has_them() {
        let claims = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-16T05:54:39Z", Some(1_794_808_479_000)),
            ("2026-11-16T06:54:39.25+01:00", Some(1_794_808_479_250)),
            ("2000-02-29T12:00:00z", Some(951_825_600_000)),
            ("1969-12-31T23:59:59Z", Some(-1000)),
            ("2026-13-01T00:00:00Z", None),
            ("2026-11-16", None),
            ("2026-11-16T05:54:39", None),
            ("+026-11-16T05:54:39Z", None),
            ("", None),
        ];
        for (text, expected) in claims {
            assert_eq!(Timestamp::parse(text).map(Timestamp::milliseconds), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(seconds in -60_000_000_000_i64..200_000_000_000) {
            let time = Timestamp::from_milliseconds(seconds * 1000);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }
}
