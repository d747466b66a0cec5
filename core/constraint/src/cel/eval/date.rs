//! The parts of timestamps and durations: `getHours()` and its relatives.
//!
//! What day it is today is not known here.

use super::Outcome;
use crate::cel::budget::{Budget, Fault};
use crate::cel::function::TimePart;
use crate::cel::time::{Timestamp, Zone};
use crate::cel::value::Value;

/// What looking through the names of all zones costs.
const STEPS_TO_FIND_A_ZONE: usize = 500;

/// Returns a part of a timestamp, in a time zone if one is given, or of a duration.
pub(super) fn part<'a>(
    part: TimePart,
    name: &'static str,
    operand: &Value<'a>,
    zone: Option<&Value<'a>>,
    budget: &mut Budget,
) -> Outcome<'a> {
    let found = match (operand, zone) {
        (Value::Timestamp(point), None) => Some(timestamp_part(part, *point, 0)),
        (Value::Timestamp(point), Some(Value::String(zone))) => {
            budget.step(STEPS_TO_FIND_A_ZONE)?;
            let zone =
                Zone::parse(zone.as_str()).map_err(|message| Fault::Described(message.into()))?;
            Some(timestamp_part(part, *point, zone.offset_at(point.seconds)))
        }
        (Value::Duration(nanoseconds), None) => duration_part(part, *nanoseconds),
        _ => None,
    };
    found.map(Value::Int).ok_or_else(|| Fault::NoSuchOverload(name, operand.type_name()))
}

fn timestamp_part(part: TimePart, point: Timestamp, offset: i64) -> i64 {
    let calendar = point.calendar(offset);
    match part {
        TimePart::FullYear => calendar.year,
        TimePart::Month => calendar.month - 1,
        TimePart::DayOfYear => calendar.day_of_year,
        TimePart::DayOfMonth => calendar.day - 1,
        TimePart::Date => calendar.day,
        TimePart::DayOfWeek => calendar.day_of_week,
        TimePart::Hours => calendar.hour,
        TimePart::Minutes => calendar.minute,
        TimePart::Seconds => calendar.second,
        TimePart::Milliseconds => i64::from(point.nanoseconds / 1_000_000),
    }
}

/// Returns the whole duration in a unit, not the part below the next larger one.
fn duration_part(part: TimePart, nanoseconds: i64) -> Option<i64> {
    match part {
        TimePart::Hours => Some(nanoseconds / 3_600_000_000_000),
        TimePart::Minutes => Some(nanoseconds / 60_000_000_000),
        TimePart::Seconds => Some(nanoseconds / 1_000_000_000),
        TimePart::Milliseconds => Some(nanoseconds / 1_000_000),
        TimePart::FullYear
        | TimePart::Month
        | TimePart::DayOfYear
        | TimePart::DayOfMonth
        | TimePart::Date
        | TimePart::DayOfWeek => None,
    }
}
