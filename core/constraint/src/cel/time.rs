//! Points in time and durations as rules see them.
//!
//! No clock is read here: a rule knows only the times that it, or a property, spells out.

mod parse;
mod zone;
mod zone_table;

use std::cmp::Ordering;
use std::fmt;

pub(super) use parse::{TimestampFault, parse_duration, parse_timestamp};
pub(super) use zone::Zone;

/// The first second that a timestamp may name: 0001-01-01T00:00:00Z.
pub(super) const FIRST_SECOND: i64 = -62_135_596_800;

/// The last second that a timestamp may name: 9999-12-31T23:59:59Z.
pub(super) const LAST_SECOND: i64 = 253_402_300_799;

const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Holds a point in time and the offset it was written with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamp {
    /// Counts seconds since 1970-01-01T00:00:00Z.
    pub(super) seconds: i64,
    /// Counts nanoseconds after that, less than a second.
    pub(super) nanoseconds: u32,
    /// Counts seconds east of UTC; only the text form shows it.
    pub(super) offset: i32,
}

/// Holds the parts of a date and time of day.
pub(super) struct Calendar {
    pub(super) year: i64,
    /// Counts from 1.
    pub(super) month: i64,
    /// Counts from 1.
    pub(super) day: i64,
    /// Counts from 0.
    pub(super) day_of_year: i64,
    /// Counts from 0, which is Sunday.
    pub(super) day_of_week: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

impl Timestamp {
    /// Makes a point in time in UTC.
    pub(super) fn at(seconds: i64, nanoseconds: u32) -> Self {
        Self { seconds, nanoseconds, offset: 0 }
    }

    /// Adds a duration in nanoseconds; nothing if the result is outside the years 1 to 9999.
    pub(super) fn plus(self, duration: i64) -> Option<Self> {
        let nanoseconds = i64::from(self.nanoseconds) + duration.rem_euclid(NANOSECONDS_PER_SECOND);
        let seconds = self
            .seconds
            .checked_add(duration.div_euclid(NANOSECONDS_PER_SECOND))?
            .checked_add(nanoseconds.div_euclid(NANOSECONDS_PER_SECOND))?;
        if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
            return None;
        }
        let rest = nanoseconds.rem_euclid(NANOSECONDS_PER_SECOND);
        Some(Self { seconds, nanoseconds: u32::try_from(rest).ok()?, offset: self.offset })
    }

    /// Returns the nanoseconds from the other point to this one; nothing if they do not fit.
    pub(super) fn minus(self, other: Self) -> Option<i64> {
        let nanoseconds = i64::from(self.nanoseconds) - i64::from(other.nanoseconds);
        self.seconds
            .checked_sub(other.seconds)?
            .checked_mul(NANOSECONDS_PER_SECOND)?
            .checked_add(nanoseconds)
    }

    /// Returns the date and time of day at an offset from UTC.
    pub(super) fn calendar(self, offset: i64) -> Calendar {
        let local = self.seconds.saturating_add(offset);
        let days = local.div_euclid(SECONDS_PER_DAY);
        let second = local.rem_euclid(SECONDS_PER_DAY);
        let (year, month, day) = date_of_day(days);
        Calendar {
            year,
            month,
            day,
            day_of_year: days - day_of_date(year, 1, 1),
            day_of_week: (days + 4).rem_euclid(7),
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Calendar { year, month, day, hour, minute, second, .. } =
            self.calendar(i64::from(self.offset));
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanoseconds > 0 {
            let digits = format!("{:09}", self.nanoseconds);
            write!(formatter, ".{}", digits.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return formatter.write_str("Z");
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.unsigned_abs() / 60;
        write!(formatter, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Returns the number of days from 1970-01-01 to a date.
fn day_of_date(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March, so that a leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns the date that is a number of days after 1970-01-01.
fn date_of_day(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Timestamp, date_of_day, day_of_date, days_in_month, parse_timestamp};

    #[test]
    fn days_follow_each_other() {
        let mut expected = (1, 1, 1);
        for day in day_of_date(1, 1, 1)..=day_of_date(9999, 12, 31) {
            assert_eq!(date_of_day(day), expected);
            let (year, month, day) = expected;
            expected = if day < days_in_month(year, month) {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
        assert_eq!(date_of_day(0), (1970, 1, 1));
    }

    proptest! {
        #[test]
        fn timestamps_read_what_they_print(
            seconds in super::FIRST_SECOND + 86_400..super::LAST_SECOND - 86_400,
            nanoseconds in 0..1_000_000_000_u32,
            quarters in -56..=56_i32,
        ) {
            let point = Timestamp { seconds, nanoseconds, offset: quarters * 900 };
            let read = parse_timestamp(&point.to_string()).ok();
            prop_assert_eq!(read, Some(point));
            prop_assert_eq!(read.map(|read| read.offset), Some(point.offset));
        }

        #[test]
        fn adding_and_subtracting_agree(
            seconds in -1_000_000_000..1_000_000_000_i64,
            nanoseconds in 0..1_000_000_000_u32,
            duration in any::<i32>().prop_map(|value| i64::from(value) * 1_000_000_007),
        ) {
            let point = Timestamp::at(seconds, nanoseconds);
            let later = point.plus(duration);
            prop_assert_eq!(later.and_then(|later| later.minus(point)), Some(duration));
        }
    }
}
