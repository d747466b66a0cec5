//! Types, texts, numbers and enumerations.
//!
//! Nothing here looks inside lists and maps, except to compare them with allowed values.

use operon_object::{Value, go_json, quote};

use super::Walker;
use crate::{
    FieldErrorKind,
    node::Node,
    number::{as_double, go_number, is_in_range, is_whole, truncated},
};

impl Walker {
    pub(super) fn null(&mut self, node: &Node) -> u64 {
        if node.types.is_empty() || node.has_type("null") || node.is_nullable {
            return 1;
        }
        self.wrong_type(&node.types.join(","), "null");
        0
    }

    pub(super) fn value_type(&mut self, node: &Node, value: &Value) -> u64 {
        let (found, found_format) = match value {
            Value::Null => ("null", ""),
            Value::Bool(_) => ("boolean", ""),
            Value::Integer(_) => ("integer", "int64"),
            Value::Float(_) => ("number", "float64"),
            Value::Text(_) => ("string", ""),
            Value::List(_) => ("array", ""),
            Value::Map(_) => ("object", ""),
        };
        let is_whole_double = match value {
            Value::Float(number) => node.has_type("integer") && is_whole(*number),
            _ => false,
        };
        let is_integer_for_number = found == "integer" && node.has_type("number");
        let is_right = node.has_type(found) || is_whole_double || is_integer_for_number;
        if let Some(format) = &node.format {
            if matches!(value, Value::Text(_) | Value::List(_)) {
                // Upstream: with a format of texts a list is not refused, though no text.
                if !node.has_type("number") && !node.has_type("integer") {
                    return 1;
                }
            } else if !is_right && found_format != &*format.name {
                self.wrong_type(&format.name, found_format);
                return 0;
            }
        }
        if !is_right {
            self.wrong_type(&node.types.join(","), found);
            return 0;
        }
        1
    }

    /// Upstream: only the first broken rule of a text is told.
    pub(super) fn text(&mut self, node: &Node, text: &str) {
        let rules = &node.text;
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = rules.max_length
            && length > most
        {
            self.fail(FieldErrorKind::TooLong, Value::Null, too_long(most));
        } else if let Some(least) = rules.min_length
            && length < least
        {
            self.invalid(Value::text(text), &format!("should be at least {least} chars long"));
        } else if let Some(pattern) = &rules.pattern {
            match pattern.is_match(text) {
                Ok(true) => (),
                Ok(false) => {
                    self.invalid(Value::text(text), &format!("should match '{}'", pattern.text()));
                }
                Err(fault) => {
                    let pattern = pattern.text();
                    let rule = format!("should match '{pattern}, but pattern is invalid: {fault}'");
                    self.invalid(Value::text(text), &rule);
                }
            }
        }
    }

    pub(super) fn format(&mut self, node: &Node, text: &str) -> u64 {
        let Some(format) = &node.format else { return 0 };
        let Some(rule) = format.rule else { return 0 };
        if !rule(text) {
            self.wrong_type(&format.name, text);
        }
        1
    }

    pub(super) fn number(&mut self, node: &Node, value: &Value) {
        let type_name = match node.types.as_slice() {
            [single] if matches!(&**single, "integer" | "number") => &**single,
            _ => "",
        };
        let format = match &node.format {
            Some(format) if !type_name.is_empty() => &*format.name,
            _ => "",
        };
        let range = Range { type_name, format };
        let rules = &node.number;
        self.in_range(range, value, "Checked");
        if let Some(factor) = rules.multiple_of {
            let is_native = self.in_range(range, &Value::Float(factor), "MultipleOf");
            self.multiple_of(value, factor, is_native);
        }
        if let Some(bound) = rules.minimum {
            let is_native = self.in_range(range, &Value::Float(bound), "Minimum boundary");
            let words = ("greater than or equal to", "greater than");
            self.bound(
                value,
                Bound { bound, is_lower: true, excludes: rules.excludes_minimum },
                is_native,
                words,
            );
        }
        if let Some(bound) = rules.maximum {
            let is_native = self.in_range(range, &Value::Float(bound), "Maximum boundary");
            let words = ("less than or equal to", "less than");
            self.bound(
                value,
                Bound { bound, is_lower: false, excludes: rules.excludes_maximum },
                is_native,
                words,
            );
        }
    }

    /// Reports a number that is not of the type; also the numbers of the rules must be.
    fn in_range(&mut self, range: Range<'_>, value: &Value, what: &str) -> bool {
        let Range { type_name, format } = range;
        if is_in_range(value, type_name, format) {
            return true;
        }
        let kind = match format {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        let path = &self.path;
        let detail = format!("{what} value must be of type {type_name} {kind} in {path}");
        self.composite(detail);
        false
    }

    /// Upstream: an integer is compared with the whole part of a bound, unless the bound is not of
    /// the type.
    fn bound(&mut self, value: &Value, bound: Bound, is_native: bool, words: (&str, &str)) {
        let (is_broken, shown, shown_value) = match value {
            Value::Integer(number) if is_native => {
                let limit = truncated(bound.bound);
                let order = number.cmp(&limit);
                (bound.is_broken(Some(order)), limit.to_string(), value.clone())
            }
            _ => {
                let number = as_double(value).unwrap_or_default();
                let order = number.partial_cmp(&bound.bound);
                (bound.is_broken(order), go_number(bound.bound), Value::Float(number))
            }
        };
        if is_broken {
            let words = if bound.excludes { words.1 } else { words.0 };
            self.invalid(shown_value, &format!("should be {words} {shown}"));
        }
    }

    /// Upstream: for an integer the whole part of the factor counts, unless it is not of the type.
    fn multiple_of(&mut self, value: &Value, factor: f64, is_native: bool) {
        let (is_positive, is_multiple, factor, value) = match value {
            Value::Integer(number) if is_native => {
                let factor = truncated(factor);
                let is_multiple = factor > 0 && number % factor == 0;
                (factor > 0, is_multiple, Value::Integer(factor), value.clone())
            }
            _ => {
                let number = as_double(value).unwrap_or_default();
                let times = if factor < 1.0 { 1.0 / factor * number } else { number / factor };
                let is_multiple = is_whole(times);
                (factor > 0.0, is_multiple, Value::Float(factor), Value::Float(number))
            }
        };
        let shown = match &factor {
            Value::Float(factor) => go_number(*factor),
            factor => go_json(factor),
        };
        if !is_positive {
            let path = &self.path;
            let detail = format!("factor MultipleOf declared for {path} must be positive: {shown}");
            self.fail(FieldErrorKind::Invalid, factor, detail);
        } else if !is_multiple {
            self.invalid(value, &format!("should be a multiple of {shown}"));
        }
    }

    pub(super) fn allowed_values(&mut self, node: &Node, value: &Value) {
        if node.allowed.is_empty() || node.allowed.iter().any(|allowed| is_allowed(value, allowed))
        {
            return;
        }
        if self.report.is_full() {
            // All allowed values are quoted below, which may be many.
            self.report.count_only();
            return;
        }
        let shown = node.allowed.iter().map(|allowed| match allowed {
            Value::Text(text) => quote(text),
            other => quote(&go_json(other)),
        });
        let detail = format!("supported values: {}", shown.collect::<Vec<_>>().join(", "));
        self.fail(FieldErrorKind::NotSupported, value.clone(), detail);
    }
}

#[derive(Clone, Copy)]
struct Range<'n> {
    type_name: &'n str,
    format: &'n str,
}

#[derive(Clone, Copy)]
struct Bound {
    bound: f64,
    is_lower: bool,
    excludes: bool,
}

impl Bound {
    fn is_broken(self, order: Option<std::cmp::Ordering>) -> bool {
        order.is_some_and(|order| {
            let order = if self.is_lower { order.reverse() } else { order };
            order.is_gt() || self.excludes && order.is_eq()
        })
    }
}

fn too_long(most: i64) -> String {
    match most {
        1 => "may not be more than 1 byte".to_owned(),
        0.. => format!("may not be more than {most} bytes"),
        _ => "value is too long".to_owned(),
    }
}

/// Upstream: a value is converted to the type of the allowed one before they are compared, as Go
/// converts: a double is cut, and an integer is the code of a character.
fn is_allowed(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Integer(_), Value::Float(allowed)) => as_double(value) == Some(*allowed),
        (Value::Float(value), Value::Integer(allowed)) => truncated(*value) == *allowed,
        (Value::Integer(code), Value::Text(text)) => {
            let character = u32::try_from(*code).ok().and_then(char::from_u32);
            let mut characters = text.chars();
            characters.next() == Some(character.unwrap_or(char::REPLACEMENT_CHARACTER))
                && characters.next().is_none()
        }
        (value, allowed) => value == allowed,
    }
}
