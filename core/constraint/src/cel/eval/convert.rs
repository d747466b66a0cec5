//! Conversions between types: `int(x)`, `string(x)` and so on.
//!
//! Nothing is converted unasked: operators do not come here.

use super::Outcome;
use crate::cel::budget::{Budget, Fault};
use crate::cel::number;
use crate::cel::time::{
    FIRST_SECOND, LAST_SECOND, Timestamp, TimestampFault, parse_duration, parse_timestamp,
};
use crate::cel::value::{Octets, Value};

pub(super) fn to_bool(operand: Value<'_>) -> Outcome<'_> {
    match operand {
        Value::Bool(_) => Ok(operand),
        Value::String(ref text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(Fault::Conversion(operand.type_name(), "bool")),
        },
        other => Err(Fault::NoSuchOverload("bool", other.type_name())),
    }
}

pub(super) fn to_bytes<'a>(operand: Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    match operand {
        Value::Bytes(_) => Ok(operand),
        Value::String(text) => {
            let bytes = text.as_str().as_bytes();
            budget.allocate(bytes.len())?;
            Ok(Value::Bytes(Octets::Made(bytes.into())))
        }
        other => Err(Fault::NoSuchOverload("bytes", other.type_name())),
    }
}

pub(super) fn to_double(operand: Value<'_>) -> Outcome<'_> {
    match operand {
        Value::Double(_) => Ok(operand),
        Value::Int(value) => Ok(Value::Double(value as f64)),
        Value::Uint(value) => Ok(Value::Double(value as f64)),
        Value::String(ref text) => number::parse_double(text.as_str())
            .map(Value::Double)
            .ok_or(Fault::Conversion(operand.type_name(), "double")),
        other => Err(Fault::NoSuchOverload("double", other.type_name())),
    }
}

pub(super) fn to_int(operand: Value<'_>) -> Outcome<'_> {
    let overflow = Fault::Plain("integer overflow");
    match operand {
        Value::Int(_) => Ok(operand),
        Value::Uint(value) => i64::try_from(value).map(Value::Int).map_err(|_| overflow),
        Value::Double(value) => number::double_to_int(value).map(Value::Int).ok_or(overflow),
        Value::Duration(nanoseconds) => Ok(Value::Int(nanoseconds)),
        Value::Timestamp(point) => Ok(Value::Int(point.seconds)),
        Value::String(ref text) => text
            .as_str()
            .parse()
            .map(Value::Int)
            .map_err(|_| Fault::Conversion(operand.type_name(), "int")),
        other => Err(Fault::NoSuchOverload("int", other.type_name())),
    }
}

pub(super) fn to_uint(operand: Value<'_>) -> Outcome<'_> {
    let overflow = Fault::Plain("unsigned integer overflow");
    match operand {
        Value::Uint(_) => Ok(operand),
        Value::Int(value) => u64::try_from(value).map(Value::Uint).map_err(|_| overflow),
        Value::Double(value) => number::double_to_uint(value).map(Value::Uint).ok_or(overflow),
        // Upstream: an int may have a plus sign, a uint may not.
        Value::String(ref text) if !text.as_str().starts_with('+') => text
            .as_str()
            .parse()
            .map(Value::Uint)
            .map_err(|_| Fault::Conversion(operand.type_name(), "uint")),
        Value::String(_) => Err(Fault::Conversion(operand.type_name(), "uint")),
        other => Err(Fault::NoSuchOverload("uint", other.type_name())),
    }
}

pub(super) fn to_duration(operand: Value<'_>) -> Outcome<'_> {
    match operand {
        Value::Duration(_) => Ok(operand),
        Value::String(ref text) => parse_duration(text.as_str())
            .map(Value::Duration)
            .ok_or(Fault::Conversion(operand.type_name(), "google.protobuf.Duration")),
        other => Err(Fault::NoSuchOverload("duration", other.type_name())),
    }
}

pub(super) fn to_timestamp(operand: Value<'_>) -> Outcome<'_> {
    let overflow = Fault::Plain("timestamp overflow");
    match operand {
        Value::Timestamp(_) => Ok(operand),
        Value::Int(seconds) if (FIRST_SECOND..=LAST_SECOND).contains(&seconds) => {
            Ok(Value::Timestamp(Timestamp::at(seconds, 0)))
        }
        Value::Int(_) => Err(overflow),
        Value::String(ref text) => match parse_timestamp(text.as_str()) {
            Ok(point) => Ok(Value::Timestamp(point)),
            Err(TimestampFault::OutOfRange) => Err(overflow),
            Err(TimestampFault::Malformed) => {
                Err(Fault::Conversion(operand.type_name(), "google.protobuf.Timestamp"))
            }
        },
        other => Err(Fault::NoSuchOverload("timestamp", other.type_name())),
    }
}

pub(super) fn to_string<'a>(operand: Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    let text = match operand {
        Value::String(_) => return Ok(operand),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => number::format_double(value),
        Value::Duration(nanoseconds) => number::format_duration(nanoseconds),
        Value::Timestamp(point) => point.to_string(),
        Value::Bytes(bytes) => {
            budget.allocate(bytes.as_slice().len())?;
            match std::str::from_utf8(bytes.as_slice()) {
                Ok(text) => text.to_owned(),
                Err(_) => {
                    let message = "invalid UTF-8 in bytes, cannot convert to string";
                    return Err(Fault::Plain(message));
                }
            }
        }
        other => return Err(Fault::NoSuchOverload("string", other.type_name())),
    };
    budget.allocate(text.len())?;
    Ok(Value::text(text))
}
