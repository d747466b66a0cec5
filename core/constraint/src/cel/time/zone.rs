//! Time zones by name and by offset.
//!
//! The zone of the machine is not known here, and neither are rules of the past.

use super::zone_table::ZONES;
use super::{SECONDS_PER_DAY, date_of_day, day_of_date, days_in_month};

/// Holds a time zone.
pub(in crate::cel) enum Zone {
    /// A fixed number of seconds east of UTC.
    Offset(i64),
    /// A zone with a name.
    Named(&'static ZoneGroup),
}

/// Holds the rules of the zones with these names.
#[derive(Debug)]
pub(in crate::cel) struct ZoneGroup {
    /// Counts minutes east of UTC outside summer time.
    pub(super) minutes: i64,
    pub(super) summer: Option<Summer>,
    /// Lists the names, separated by blanks.
    pub(super) names: &'static str,
}

/// Holds the rules of summer time.
#[derive(Debug)]
pub(super) struct Summer {
    /// Counts minutes east of UTC during summer time.
    pub(super) minutes: i64,
    /// Says when summer time begins, in standard time.
    pub(super) begins: Change,
    /// Says when summer time ends, in summer time.
    pub(super) ends: Change,
}

/// Names a minute of a year, as "the last Sunday of March, 2 o'clock".
#[derive(Debug)]
pub(super) struct Change {
    /// Counts from 1.
    pub(super) month: i64,
    /// Counts weeks from 1; 5 is the last.
    pub(super) week: i64,
    /// Counts from 0, which is Sunday.
    pub(super) weekday: i64,
    /// Counts minutes from midnight; may lie outside the day.
    pub(super) minute: i64,
}

impl Zone {
    /// Reads `Europe/Berlin`, `UTC`, `+02:00` or `-3:30`.
    pub(in crate::cel) fn parse(text: &str) -> Result<Self, String> {
        if let Some((hours, minutes)) = text.split_once(':') {
            return parse_offset(text, hours, minutes);
        }
        // Upstream: no name at all is UTC. `Local` is where the process runs; ours has no place.
        if matches!(text, "" | "UTC" | "Local") {
            return Ok(Self::Offset(0));
        }
        let has_name = |group: &&ZoneGroup| group.names.split(' ').any(|name| name == text);
        match ZONES.iter().find(has_name) {
            Some(group) => Ok(Self::Named(group)),
            None => Err(format!("unknown time zone {text}")),
        }
    }

    /// Returns the seconds east of UTC at a point in time.
    pub(in crate::cel) fn offset_at(&self, seconds: i64) -> i64 {
        match self {
            Self::Offset(offset) => *offset,
            Self::Named(group) => 60 * group.minutes_at(seconds),
        }
    }
}

/// Upstream: the two numbers are not limited, and a huge offset wraps around.
fn parse_offset(text: &str, hours: &str, minutes: &str) -> Result<Zone, String> {
    let number = |digits: &str| {
        digits.parse::<i64>().map_err(|_| format!("invalid time zone offset {text}"))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let whole = hours.wrapping_mul(60);
    let total = if text.starts_with('-') {
        whole.wrapping_sub(minutes)
    } else {
        whole.wrapping_add(minutes)
    };
    let nanoseconds = total.wrapping_mul(60 * 1_000_000_000);
    Ok(Zone::Offset(nanoseconds / 1_000_000_000))
}

impl ZoneGroup {
    fn minutes_at(&self, seconds: i64) -> i64 {
        let Some(summer) = &self.summer else {
            return self.minutes;
        };
        let local_day = seconds.saturating_add(60 * self.minutes).div_euclid(SECONDS_PER_DAY);
        let (year, _, _) = date_of_day(local_day);
        let begins = summer.begins.seconds_in(year) - 60 * self.minutes;
        let ends = summer.ends.seconds_in(year) - 60 * summer.minutes;
        // South of the equator summer spans the turn of the year.
        let in_summer = if begins < ends {
            (begins..ends).contains(&seconds)
        } else {
            !(ends..begins).contains(&seconds)
        };
        if in_summer { summer.minutes } else { self.minutes }
    }
}

impl Change {
    /// Returns the moment in a year as seconds since 1970 of the local clock.
    fn seconds_in(&self, year: i64) -> i64 {
        let first = day_of_date(year, self.month, 1);
        let weekday_of_first = (first + 4).rem_euclid(7);
        let mut day = (self.weekday - weekday_of_first).rem_euclid(7) + 7 * (self.week - 1);
        if day >= days_in_month(year, self.month) {
            day -= 7;
        }
        (first + day) * SECONDS_PER_DAY + 60 * self.minute
    }
}
