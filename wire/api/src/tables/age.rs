//! How long ago something was, in the few digits people want.
//!
//! The steps are those of `kubectl`, so that the two can be compared line by line.

use operon_object::{Object, Timestamp};

/// Returns how old an object is.
pub(super) fn age_of(object: &Object, now: Timestamp) -> String {
    age(object.created(), now)
}

/// Returns how long ago a time was, such as `3m12s` or `2d3h`.
///
/// Upstream: one second in the future is still now, because clocks differ.
pub(super) fn age(time: Option<Timestamp>, now: Timestamp) -> String {
    let Some(time) = time else { return "<unknown>".to_owned() };
    let seconds = now.milliseconds().saturating_sub(time.milliseconds()) / 1000;
    if seconds < -1 { "<invalid>".to_owned() } else { duration(seconds.max(0)) }
}

/// Returns a number of seconds in at most two units.
pub(super) fn duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    let two = |large: i64, large_unit: char, small: i64, small_unit: char| match small {
        0 => format!("{large}{large_unit}"),
        small => format!("{large}{large_unit}{small}{small_unit}"),
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, 'd', hours % 24, 'h'),
        _ if days < 730 => format!("{days}d"),
        _ if days < 2920 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_kubectl() {
        let (minute, hour, day) = (60, 3600, 86_400);
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (3 * minute + 12, "3m12s"),
            (10 * minute - 1, "9m59s"),
            (10 * minute + 59, "10m"),
            (3 * hour - 1, "179m"),
            (3 * hour, "3h"),
            (7 * hour + 59 * minute, "7h59m"),
            (8 * hour + 59 * minute, "8h"),
            (2 * day - 1, "47h"),
            (2 * day + 3 * hour, "2d3h"),
            (7 * day, "7d"),
            (8 * day + 23 * hour, "8d"),
            (729 * day, "729d"),
            (730 * day, "2y"),
            (800 * day, "2y70d"),
            (2919 * day, "7y364d"),
            (2920 * day, "8y"),
            (4000 * day, "10y"),
        ] {
            let created = Timestamp::from_milliseconds(0);
            let now = Timestamp::from_milliseconds(seconds * 1000);
            assert_eq!(age(Some(created), now), expected, "{seconds}");
        }
        assert_eq!(age(None, Timestamp::default()), "<unknown>");
    }
}
