//! Arithmetic, order and negation.
//!
//! Operands of different types do not mix, except that numbers are ordered by their value.
//! Results that do not fit are faults; nothing wraps around.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Outcome;
use crate::cel::budget::{Budget, Fault};
use crate::cel::number;
use crate::cel::value::{List, Octets, Text, Value};

const INT_OVERFLOW: Fault<'static> = Fault::Plain("integer overflow");
const UINT_OVERFLOW: Fault<'static> = Fault::Plain("unsigned integer overflow");
const TIMESTAMP_OVERFLOW: Fault<'static> = Fault::Plain("timestamp overflow");
const DIVISION_BY_ZERO: Fault<'static> = Fault::Plain("division by zero");
const MODULUS_BY_ZERO: Fault<'static> = Fault::Plain("modulus by zero");
const NAN_ORDER: Fault<'static> = Fault::Plain("NaN values cannot be ordered");

pub(super) fn not<'a>(operand: &Value<'a>) -> Outcome<'a> {
    match operand {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        other => Err(Fault::NoSuchOverload("!", other.type_name())),
    }
}

pub(super) fn negate<'a>(operand: &Value<'a>) -> Outcome<'a> {
    match operand {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or(INT_OVERFLOW),
        Value::Double(value) => Ok(Value::Double(-value)),
        Value::Duration(value) => value.checked_neg().map(Value::Duration).ok_or(INT_OVERFLOW),
        other => Err(Fault::NoSuchOverload("-", other.type_name())),
    }
}

pub(super) fn add<'a>(left: Value<'a>, right: Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_add(right).map(Value::Int).ok_or(INT_OVERFLOW)
        }
        (Value::Uint(left), Value::Uint(right)) => {
            left.checked_add(right).map(Value::Uint).ok_or(UINT_OVERFLOW)
        }
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_add(right).map(Value::Duration).ok_or(INT_OVERFLOW)
        }
        (Value::Timestamp(point), Value::Duration(duration))
        | (Value::Duration(duration), Value::Timestamp(point)) => {
            point.plus(duration).map(Value::Timestamp).ok_or(TIMESTAMP_OVERFLOW)
        }
        (Value::String(left), Value::String(right)) => {
            let (left, right) = (left.as_str(), right.as_str());
            budget.allocate(left.len().saturating_add(right.len()))?;
            Ok(Value::String(Text::Made([left, right].concat().into())))
        }
        (Value::Bytes(left), Value::Bytes(right)) => {
            let (left, right) = (left.as_slice(), right.as_slice());
            budget.allocate(left.len().saturating_add(right.len()))?;
            let joined: Rc<[u8]> = [left, right].concat().into();
            Ok(Value::Bytes(Octets::Made(joined)))
        }
        (Value::List(left), Value::List(right)) => concatenate(left, right, budget),
        (left, _) => Err(Fault::NoSuchOverload("+", left.type_name())),
    }
}

fn concatenate<'a>(left: List<'a>, right: List<'a>, budget: &mut Budget) -> Outcome<'a> {
    if left.len() == 0 {
        return Ok(Value::List(right));
    }
    if right.len() == 0 {
        return Ok(Value::List(left));
    }
    budget.allocate_values(left.len().saturating_add(right.len()))?;
    let elements = |list: &List<'a>| {
        let list = list.clone();
        (0..list.len()).filter_map(move |index| list.get(index))
    };
    Ok(Value::list(elements(&left).chain(elements(&right)).collect())?)
}

pub(super) fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_sub(*right).map(Value::Int).ok_or(INT_OVERFLOW)
        }
        (Value::Uint(left), Value::Uint(right)) => {
            left.checked_sub(*right).map(Value::Uint).ok_or(UINT_OVERFLOW)
        }
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left - right)),
        (Value::Duration(left), Value::Duration(right)) => {
            left.checked_sub(*right).map(Value::Duration).ok_or(INT_OVERFLOW)
        }
        (Value::Timestamp(point), Value::Duration(duration)) => {
            let backwards = duration.checked_neg().ok_or(INT_OVERFLOW)?;
            point.plus(backwards).map(Value::Timestamp).ok_or(TIMESTAMP_OVERFLOW)
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            left.minus(*right).map(Value::Duration).ok_or(INT_OVERFLOW)
        }
        (left, _) => Err(Fault::NoSuchOverload("-", left.type_name())),
    }
}

pub(super) fn multiply<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            left.checked_mul(*right).map(Value::Int).ok_or(INT_OVERFLOW)
        }
        (Value::Uint(left), Value::Uint(right)) => {
            left.checked_mul(*right).map(Value::Uint).ok_or(UINT_OVERFLOW)
        }
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left * right)),
        (left, _) => Err(Fault::NoSuchOverload("*", left.type_name())),
    }
}

pub(super) fn divide<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(DIVISION_BY_ZERO),
        (Value::Int(left), Value::Int(right)) => {
            left.checked_div(*right).map(Value::Int).ok_or(INT_OVERFLOW)
        }
        (Value::Uint(left), Value::Uint(right)) => Ok(Value::Uint(left / right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left / right)),
        (left, _) => Err(Fault::NoSuchOverload("/", left.type_name())),
    }
}

pub(super) fn modulo<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<'a> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(MODULUS_BY_ZERO),
        (Value::Int(left), Value::Int(right)) => {
            left.checked_rem(*right).map(Value::Int).ok_or(INT_OVERFLOW)
        }
        (Value::Uint(left), Value::Uint(right)) => Ok(Value::Uint(left % right)),
        (left, _) => Err(Fault::NoSuchOverload("%", left.type_name())),
    }
}

/// Answers `<`, `<=`, `>` or `>=`, as the name and the test of the order say.
pub(super) fn order<'a>(
    name: &'static str,
    holds: fn(Ordering) -> bool,
    left: &Value<'a>,
    right: &Value<'a>,
) -> Outcome<'a> {
    compare(name, left, right).map(|order| Value::Bool(holds(order)))
}

fn compare<'a>(
    name: &'static str,
    left: &Value<'a>,
    right: &Value<'a>,
) -> Result<Ordering, Fault<'a>> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
        (Value::Int(left), Value::Int(right)) | (Value::Duration(left), Value::Duration(right)) => {
            Ok(left.cmp(right))
        }
        (Value::Uint(left), Value::Uint(right)) => Ok(left.cmp(right)),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(right).ok_or(NAN_ORDER),
        (Value::Int(int), Value::Uint(uint)) => Ok(number::compare_int_uint(*int, *uint)),
        (Value::Uint(uint), Value::Int(int)) => Ok(number::compare_int_uint(*int, *uint).reverse()),
        (Value::Double(double), Value::Int(int)) => {
            number::compare_double_int(*double, *int).ok_or(NAN_ORDER)
        }
        (Value::Int(int), Value::Double(double)) => {
            let order = number::compare_double_int(*double, *int);
            order.map(Ordering::reverse).ok_or(NAN_ORDER)
        }
        (Value::Double(double), Value::Uint(uint)) => {
            number::compare_double_uint(*double, *uint).ok_or(NAN_ORDER)
        }
        (Value::Uint(uint), Value::Double(double)) => {
            let order = number::compare_double_uint(*double, *uint);
            order.map(Ordering::reverse).ok_or(NAN_ORDER)
        }
        (Value::String(left), Value::String(right)) => Ok(left.cmp(right)),
        (Value::Bytes(left), Value::Bytes(right)) => Ok(left.as_slice().cmp(right.as_slice())),
        (Value::Timestamp(left), Value::Timestamp(right)) => Ok(left.cmp(right)),
        (left, _) => Err(Fault::NoSuchOverload(name, left.type_name())),
    }
}
