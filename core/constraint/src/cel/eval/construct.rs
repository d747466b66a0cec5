//! Makes the values of message literals.
//!
//! Well-known messages are other names for ordinary values. A packed `google.protobuf.Any` is not
//! unpacked: such a literal has no value.

use std::collections::BTreeMap;

use operon_object::encode_base64;

use super::{Evaluation, Outcome};
use crate::cel::ast::MessageField;
use crate::cel::budget::{Budget, Fault};
use crate::cel::message::Message;
use crate::cel::number;
use crate::cel::time::Timestamp;
use crate::cel::value::{Key, List, Map, Octets, Text, Value};

/// The largest int that JSON numbers hold exactly; larger ones become strings.
const MAX_SAFE_INT: u64 = (1 << 53) - 1;

impl<'a> Evaluation<'a> {
    pub(super) fn message(&mut self, name: &str, fields: &'a [MessageField]) -> Outcome<'a> {
        let mut values = BTreeMap::new();
        let mut last = None;
        for field in fields {
            let value = self.expression(field.value)?;
            values.insert(field.name.as_str(), value);
            last = Some(field.name.as_str());
        }
        let Some(message) = Message::from_name(name) else {
            return Err(Fault::Plain("no such message"));
        };
        let mut take = |field: &str| values.remove(field);
        match message {
            Message::Duration => duration(take("seconds"), take("nanos")),
            Message::Timestamp => timestamp(take("seconds"), take("nanos")),
            Message::Empty => Ok(Value::Empty),
            Message::Any => Err(Fault::Plain("google.protobuf.Any literals are not supported")),
            Message::Struct => match take("fields") {
                Some(fields) => to_json(fields, &mut self.budget),
                None => Ok(Value::map(BTreeMap::new())?),
            },
            Message::ListValue => match take("values") {
                Some(values) => to_json(values, &mut self.budget),
                None => Ok(Value::list(Vec::new())?),
            },
            // The fields exclude each other; the last one written wins.
            Message::Value => match last.and_then(&mut take) {
                Some(_) if last == Some("null_value") => Ok(Value::Null),
                Some(value) => to_json(value, &mut self.budget),
                None => Ok(Value::Null),
            },
            Message::BoolValue
            | Message::BytesValue
            | Message::DoubleValue
            | Message::FloatValue
            | Message::Int32Value
            | Message::Int64Value
            | Message::StringValue
            | Message::Uint32Value
            | Message::Uint64Value => wrapper(message, take("value")),
        }
    }
}

fn wrapper(message: Message, value: Option<Value<'_>>) -> Outcome<'_> {
    match (message, value) {
        (Message::BoolValue, None) => Ok(Value::Bool(false)),
        (Message::BytesValue, None) => Ok(Value::Bytes(Octets::Borrowed(&[]))),
        (Message::DoubleValue | Message::FloatValue, None) => Ok(Value::Double(0.0)),
        (Message::StringValue, None) => Ok(Value::String(Text::Borrowed(""))),
        (Message::Uint32Value | Message::Uint64Value, None) => Ok(Value::Uint(0)),
        (_, None) => Ok(Value::Int(0)),
        (Message::BoolValue, Some(value @ Value::Bool(_)))
        | (Message::BytesValue, Some(value @ Value::Bytes(_)))
        | (Message::DoubleValue, Some(value @ Value::Double(_)))
        | (Message::StringValue, Some(value @ Value::String(_)))
        | (Message::Int64Value, Some(value @ Value::Int(_)))
        | (Message::Uint64Value, Some(value @ Value::Uint(_))) => Ok(value),
        (Message::FloatValue, Some(Value::Double(value))) => {
            Ok(Value::Double(f64::from(value as f32)))
        }
        (Message::Int32Value, Some(Value::Int(value))) if i32::try_from(value).is_ok() => {
            Ok(Value::Int(value))
        }
        (Message::Uint32Value, Some(Value::Uint(value))) if u32::try_from(value).is_ok() => {
            Ok(Value::Uint(value))
        }
        (_, Some(other)) => Err(Fault::NoSuchOverload("value", other.type_name())),
    }
}

fn duration<'a>(seconds: Option<Value<'a>>, nanos: Option<Value<'a>>) -> Outcome<'a> {
    let (seconds, nanos) = seconds_and_nanos(seconds, nanos)?;
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let nearest = if total < 0 { i64::MIN } else { i64::MAX };
    Ok(Value::Duration(i64::try_from(total).unwrap_or(nearest)))
}

fn timestamp<'a>(seconds: Option<Value<'a>>, nanos: Option<Value<'a>>) -> Outcome<'a> {
    let (seconds, nanos) = seconds_and_nanos(seconds, nanos)?;
    let seconds = seconds.saturating_add(i64::from(nanos.div_euclid(1_000_000_000)));
    let rest = nanos.rem_euclid(1_000_000_000).unsigned_abs();
    Ok(Value::Timestamp(Timestamp::at(seconds, rest)))
}

fn seconds_and_nanos<'a>(
    seconds: Option<Value<'a>>,
    nanos: Option<Value<'a>>,
) -> Result<(i64, i32), Fault<'a>> {
    let int = |value: Option<Value<'a>>| match value {
        None => Ok(0),
        Some(Value::Int(value)) => Ok(value),
        Some(other) => Err(Fault::NoSuchOverload("message field", other.type_name())),
    };
    let nanos = i32::try_from(int(nanos)?).map_err(|_| Fault::Plain("integer overflow"))?;
    Ok((int(seconds)?, nanos))
}

/// Converts a value to what JSON can hold. Recursion is bounded by the nesting of made values;
/// borrowed containers are JSON already.
fn to_json<'a>(value: Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    budget.step(1)?;
    match value {
        Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_) => Ok(value),
        Value::List(List::Json(_) | List::Properties(_))
        | Value::Map(Map::Json(_) | Map::Property(_)) => Ok(value),
        Value::Int(value) if value.unsigned_abs() > MAX_SAFE_INT => {
            Ok(Value::text(value.to_string()))
        }
        Value::Uint(value) if value > MAX_SAFE_INT => Ok(Value::text(value.to_string())),
        Value::Int(_) | Value::Uint(_) => super::convert::to_double(value),
        Value::Duration(nanoseconds) => Ok(Value::text(number::format_duration(nanoseconds))),
        Value::Timestamp(point) => Ok(Value::text(point.to_string())),
        Value::Bytes(bytes) => {
            budget.allocate(2 * bytes.as_slice().len())?;
            Ok(Value::text(encode_base64(bytes.as_slice())))
        }
        Value::List(List::Made(list)) => {
            budget.allocate_values(list.elements.len())?;
            let mut elements = Vec::with_capacity(list.elements.len());
            for element in &list.elements {
                elements.push(to_json(element.clone(), budget)?);
            }
            Ok(Value::list(elements)?)
        }
        Value::Map(Map::Made(map)) => {
            budget.allocate_values(3 * map.entries.len())?;
            let mut entries = BTreeMap::new();
            for (key, value) in map.entries.values() {
                let Value::String(name) = key else {
                    return Err(Fault::NoSuchOverload("message field", key.type_name()));
                };
                let value = to_json(value.clone(), budget)?;
                entries.insert(Key::String(name.clone()), (key.clone(), value));
            }
            Ok(Value::map(entries)?)
        }
        Value::Empty => Ok(Value::map(BTreeMap::new())?),
        Value::Type(_) => Err(Fault::NoSuchOverload("message field", value.type_name())),
    }
}
