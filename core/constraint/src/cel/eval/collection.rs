//! Lists and maps: size, membership and indexing.
//!
//! Nothing is changed here: a list or map never differs from what it was made as.

use super::{Outcome, equality};
use crate::cel::budget::{Budget, Fault};
use crate::cel::number;
use crate::cel::value::{Key, List, Map, Value};

/// Returns the number of elements, entries, characters or bytes.
pub(super) fn size<'a>(operand: &Value<'a>) -> Outcome<'a> {
    let size = match operand {
        Value::String(text) => text.as_str().chars().count(),
        Value::Bytes(bytes) => bytes.as_slice().len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(Fault::NoSuchOverload("size", other.type_name())),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

/// Tells whether a list has the element, or a map the key.
pub(super) fn contains<'a>(
    element: &Value<'a>,
    container: &Value<'a>,
    budget: &mut Budget,
) -> Outcome<'a> {
    match container {
        Value::List(list) => {
            for index in 0..list.len() {
                if let Some(candidate) = list.get(index)
                    && equality::equal(element, &candidate, budget)?
                {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Value::Map(map) => Ok(Value::Bool(find(map, element, budget)?.is_some())),
        other => Err(Fault::NoSuchOverload("in", other.type_name())),
    }
}

/// Returns the element at an index or the value of a key.
pub(super) fn index<'a>(operand: &Value<'a>, key: &Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    if !matches!(
        key,
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)
    ) {
        return Err(Fault::NoSuchOverload("[]", key.type_name()));
    }
    match operand {
        Value::Map(map) => match find(map, key, budget)? {
            Some(value) => Ok(value),
            None => Err(Fault::NoSuchKey(describe_key(key))),
        },
        Value::List(list) => element(list, key),
        _ => Err(Fault::NoSuchKey(describe_key(key))),
    }
}

fn element<'a>(list: &List<'a>, key: &Value<'a>) -> Outcome<'a> {
    let index = match key {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        Value::Double(index) => number::whole_int(*index),
        other => return Err(Fault::NoSuchOverload("[]", other.type_name())),
    };
    let Some(index) = index else {
        return Err(Fault::Plain("unsupported index value in list"));
    };
    usize::try_from(index)
        .ok()
        .and_then(|position| list.get(position))
        .ok_or(Fault::IndexOutOfBounds(index))
}

/// Finds the value of a key in a map.
pub(super) fn find<'a>(
    map: &Map<'a>,
    key: &Value<'a>,
    budget: &mut Budget,
) -> Result<Option<Value<'a>>, Fault<'a>> {
    let made = match (map, key) {
        (_, Value::String(text)) => {
            budget.scan(text.as_str().len())?;
            return Ok(map.field(text.as_str()));
        }
        (Map::Property(_) | Map::Json(_), _) => return Ok(None),
        (Map::Made(made), _) if made.entries.is_empty() => return Ok(None),
        (Map::Made(made), _) => made,
    };
    let lookup = |key: Key<'a>| made.entries.get(&key).map(|(_, value)| value.clone());
    if let Some(found) = lookup(key_form(key, usize::MAX)?) {
        return Ok(Some(found));
    }
    // Upstream: an int key is found by an equal uint or double, but a double key only by a double.
    Ok(match key {
        Value::Double(double) => number::whole_int(*double)
            .and_then(|int| lookup(Key::Int(int)))
            .or_else(|| number::whole_uint(*double).and_then(|uint| lookup(Key::Uint(uint)))),
        Value::Int(int) => u64::try_from(*int).ok().and_then(|uint| lookup(Key::Uint(uint))),
        Value::Uint(uint) => i64::try_from(*uint).ok().and_then(|int| lookup(Key::Int(int))),
        _ => None,
    })
}

/// Returns the form under which a map keeps a key; `unique` tells apart keys that are never found.
pub(super) fn key_form<'a>(key: &Value<'a>, unique: usize) -> Result<Key<'a>, Fault<'a>> {
    Ok(match key {
        Value::Null => Key::Null,
        Value::Bool(value) => Key::Bool(*value),
        Value::Int(value) => Key::Int(*value),
        Value::Uint(value) => Key::Uint(*value),
        Value::Double(value) if value.is_nan() => Key::Unfindable(unique),
        // Both zeros are the same key.
        Value::Double(value) => Key::Double((value + 0.0).to_bits()),
        Value::String(text) => Key::String(text.clone()),
        Value::Bytes(_) => return Err(Fault::BytesAsKey),
        Value::Duration(value) => Key::Duration(*value),
        Value::Timestamp(value) => Key::Timestamp(*value),
        Value::Type(value) => Key::Type(*value),
        Value::Empty => Key::Empty,
        Value::List(_) | Value::Map(_) => Key::Unfindable(unique),
    })
}

fn describe_key(key: &Value<'_>) -> Box<str> {
    match key {
        Value::String(text) => text.as_str().into(),
        Value::Int(value) => value.to_string().into(),
        Value::Uint(value) => value.to_string().into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Double(value) => number::format_double(*value).into(),
        other => other.type_name().name().into(),
    }
}
