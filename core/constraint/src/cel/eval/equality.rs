//! Equality of values.
//!
//! Values of different types are unequal, never an error, except that numbers of all types are
//! compared by their value. Nested values are compared without recursion.

use super::collection;
use crate::cel::budget::{Budget, Fault};
use crate::cel::number;
use crate::cel::value::{List, Map, Value};

/// Tells whether two values are equal.
pub(super) fn equal<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &mut Budget,
) -> Result<bool, Fault<'a>> {
    let mut pairs = Vec::new();
    if !compare(left, right, &mut pairs, budget)? {
        return Ok(false);
    }
    while let Some((left, right)) = pairs.pop() {
        if !compare(&left, &right, &mut pairs, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

type Pairs<'a> = Vec<(Value<'a>, Value<'a>)>;

/// Compares two values; pairs that must be equal too are left for later.
fn compare<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    pairs: &mut Pairs<'a>,
    budget: &mut Budget,
) -> Result<bool, Fault<'a>> {
    budget.step(1)?;
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            budget.scan(left.as_str().len().min(right.as_str().len()))?;
            Ok(left == right)
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            budget.scan(left.as_slice().len().min(right.as_slice().len()))?;
            Ok(left.as_slice() == right.as_slice())
        }
        (Value::List(left), Value::List(right)) => compare_lists(left, right, pairs, budget),
        (Value::Map(left), Value::Map(right)) => compare_maps(left, right, pairs, budget),
        (left, right) => Ok(equal_scalars(left, right)),
    }
}

fn compare_lists<'a>(
    left: &List<'a>,
    right: &List<'a>,
    pairs: &mut Pairs<'a>,
    budget: &mut Budget,
) -> Result<bool, Fault<'a>> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for index in 0..left.len() {
        if let (Some(left), Some(right)) = (left.get(index), right.get(index))
            && !compare_later(left, right, pairs, budget)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Upstream: the keys of the left map are looked up in the right one, and a lookup by a double
/// finds an int key but not the other way round; so map equality depends on the order.
fn compare_maps<'a>(
    left: &Map<'a>,
    right: &Map<'a>,
    pairs: &mut Pairs<'a>,
    budget: &mut Budget,
) -> Result<bool, Fault<'a>> {
    if left.len() != right.len() {
        return Ok(false);
    }
    budget.allocate_values(left.len())?;
    for key in left.keys() {
        let (Some(left), Some(right)) =
            (collection::find(left, &key, budget)?, collection::find(right, &key, budget)?)
        else {
            return Ok(false);
        };
        if !compare_later(left, right, pairs, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn compare_later<'a>(
    left: Value<'a>,
    right: Value<'a>,
    pairs: &mut Pairs<'a>,
    budget: &mut Budget,
) -> Result<bool, Fault<'a>> {
    let nested = |value: &Value<'a>| matches!(value, Value::List(_) | Value::Map(_));
    if nested(&left) && nested(&right) {
        budget.allocate_values(2)?;
        pairs.push((left, right));
        return Ok(true);
    }
    compare(&left, &right, pairs, budget)
}

fn equal_scalars(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) | (Value::Empty, Value::Empty) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) | (Value::Duration(left), Value::Duration(right)) => {
            left == right
        }
        (Value::Uint(left), Value::Uint(right)) => left == right,
        (Value::Double(left), Value::Double(right)) => left == right,
        (Value::Int(int), Value::Uint(uint)) | (Value::Uint(uint), Value::Int(int)) => {
            number::compare_int_uint(*int, *uint).is_eq()
        }
        (Value::Double(double), Value::Int(int)) | (Value::Int(int), Value::Double(double)) => {
            number::compare_double_int(*double, *int).is_some_and(std::cmp::Ordering::is_eq)
        }
        (Value::Double(double), Value::Uint(uint)) | (Value::Uint(uint), Value::Double(double)) => {
            number::compare_double_uint(*double, *uint).is_some_and(std::cmp::Ordering::is_eq)
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => left == right,
        _ => false,
    }
}
