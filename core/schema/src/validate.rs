//! Judging values by a schema.
//!
//! Rules are checked in upstream's order, because the order of the errors is shown to people. Where
//! no alternative of several fits, the errors of the one are told that fits best: each step counts
//! what it found in order, and upstream's way of counting is kept.

mod combination;
mod container;
mod report;
mod scalar;

use operon_object::Value;

use self::report::Report;
use crate::{FieldError, FieldErrorKind, node::Node};

pub use self::report::{MAX_ERROR_TEXT, MAX_FIELD_ERRORS};

/// Limits the steps of judging one object: values looked at, names and allowed values looked
/// through, alternatives counted each. Large objects of published CRDs need some ten thousand.
pub const MAX_VALIDATION_STEPS: u64 = 20_000_000;

/// Lists what is wrong with a value.
pub(crate) fn validate(root: &Node, value: &Value) -> Vec<FieldError> {
    let mut walker =
        Walker { path: String::new(), report: Report::default(), steps_left: MAX_VALIDATION_STEPS };
    walker.node(root, value);
    let is_stopped = walker.steps_left == 0;
    let mut errors = walker.report.into_errors();
    if is_stopped {
        errors.push(about_no_field(format!(
            "validation was stopped after {MAX_VALIDATION_STEPS} steps: the schema asks too much of \
             an object of this size"
        )));
    }
    errors
}

struct Walker {
    /// The path of the value that is judged, as upstream writes it.
    path: String,
    report: Report,
    steps_left: u64,
}

impl Walker {
    /// Judges one value and returns how much was found in order.
    fn node(&mut self, node: &Node, value: &Value) -> u64 {
        if !self.charge(cost(node, value)) {
            return 0;
        }
        if value.is_null() {
            let matches = self.null(node);
            self.allowed_values(node, value);
            return matches;
        }
        let mut matches = 1;
        if !node.types.is_empty() || node.format.is_some() {
            matches += 1 + self.value_type(node, value);
        }
        matches += 1 + self.combinations(node, value);
        match value {
            Value::Null | Value::Bool(_) => (),
            Value::Text(text) => {
                matches += 1;
                self.text(node, text);
                matches += self.format(node, text);
            }
            Value::Integer(_) | Value::Float(_) => {
                matches += 2;
                self.number(node, value);
            }
            Value::List(elements) => matches += 1 + self.list(node, elements),
            Value::Map(_) => (),
        }
        matches += 1;
        self.allowed_values(node, value);
        if let Value::Map(map) = value {
            matches += 1 + self.map(node, map);
        }
        matches
    }

    /// Counts steps; tells whether there are some left.
    fn charge(&mut self, steps: usize) -> bool {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.steps_left = self.steps_left.saturating_sub(steps);
        self.steps_left > 0
    }

    fn fail(&mut self, kind: FieldErrorKind, value: Value, detail: String) {
        let field = self.path.strip_prefix('.').unwrap_or(&self.path).to_owned();
        self.report.add(FieldError { field, kind, value, detail });
    }

    /// Reports a broken rule; `rule` follows the path of the value.
    fn invalid(&mut self, value: Value, rule: &str) {
        let detail = format!("{} in body {rule}", self.path);
        self.fail(FieldErrorKind::Invalid, value, detail);
    }

    /// Upstream: a wrong type is told in the place of the value itself.
    fn wrong_type(&mut self, expected: &str, found: &str) {
        let detail = format!(
            "{} in body must be of type {expected}: {}",
            self.path,
            operon_object::quote(found)
        );
        self.fail(FieldErrorKind::TypeInvalid, Value::text(found), detail);
    }

    /// Upstream: what is not about a single rule of a value is told about no field.
    fn composite(&mut self, detail: String) {
        self.report.add(about_no_field(detail));
    }
}

fn about_no_field(detail: String) -> FieldError {
    FieldError { field: String::new(), kind: FieldErrorKind::Invalid, value: "".into(), detail }
}

/// Estimates the work of judging one value, without what it holds: names and allowed values are
/// looked through, long texts are read.
fn cost(node: &Node, value: &Value) -> usize {
    let own = match value {
        Value::Text(text) => text.len() / 64,
        Value::Map(map) => {
            let rules = &node.map;
            rules.properties.len() + rules.required.len() + rules.patterns.len() * map.len()
        }
        _ => 0,
    };
    1 + node.allowed.len() + own
}
