//! Evaluates a checked rule for one set of properties.
//!
//! Evaluation looks at the types that values turn out to have, never at static types, and is
//! bounded in time and memory by its budget.

mod collection;
mod comprehension;
mod construct;
mod convert;
mod date;
mod equality;
mod operator;
mod text;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use regex::Regex;

use super::ast::{Expression, NodeId, Tree};
use super::budget::{Budget, Fault};
use super::check::Meaning;
use super::error::CelError;
use super::function::Function;
use super::pattern::PatternError;
use super::value::{List, Map, Value};
use crate::property::Property;

/// Holds what evaluation needs of a program.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) tree: &'a Tree,
    pub(super) root: NodeId,
    pub(super) meanings: &'a [Meaning],
    pub(super) patterns: &'a BTreeMap<NodeId, Result<Regex, PatternError>>,
}

/// Evaluates a program for the properties of one candidate; returns the steps it took, too.
pub(super) fn evaluate<'a>(
    plan: Plan<'a>,
    properties: &'a [Property],
    max_steps: usize,
) -> (Result<bool, CelError>, usize) {
    let budget = Budget::new(max_steps);
    let mut evaluation = Evaluation { plan, properties, variables: Vec::new(), budget };
    let answer = match evaluation.truth(plan.root, "the rule") {
        Ok(answer) => Ok(answer),
        Err(Fault::Limit(limit)) => Err(CelError::Limit(limit)),
        Err(fault) => Err(CelError::Evaluation(fault.to_string())),
    };
    (answer, evaluation.budget.steps())
}

type Outcome<'a> = Result<Value<'a>, Fault<'a>>;

struct Evaluation<'a> {
    plan: Plan<'a>,
    properties: &'a [Property],
    variables: Vec<Value<'a>>,
    budget: Budget,
}

impl<'a> Evaluation<'a> {
    fn expression(&mut self, id: NodeId) -> Outcome<'a> {
        self.budget.step(1)?;
        let tree: &'a Tree = self.plan.tree;
        match &tree.node(id).expression {
            Expression::Literal(literal) => Ok(Value::from_literal(literal)),
            Expression::Identifier(name) => {
                let missing = Fault::NoSuchField(name);
                self.named_value(id).ok_or(missing)
            }
            Expression::Select { operand, field } => match self.named_value(id) {
                Some(value) => Ok(value),
                None => self.select(*operand, field),
            },
            Expression::Has { operand, field } => self.has(*operand, field),
            Expression::Call { function, receiver, arguments } => {
                self.call(id, *function, *receiver, arguments)
            }
            Expression::UnknownCall { .. } => Err(Fault::Plain("no such function")),
            Expression::And(operands) => self.logical(operands, false),
            Expression::Or(operands) => self.logical(operands, true),
            Expression::List(elements) => self.list(elements),
            Expression::Map(entries) => self.map(entries),
            Expression::Message { name, fields } => self.message(name, fields),
            Expression::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn named_value(&self, id: NodeId) -> Option<Value<'a>> {
        match self.plan.meanings[id.index()] {
            Meaning::Nothing => None,
            Meaning::Properties => Some(Value::List(List::Properties(self.properties))),
            Meaning::Variable(position) => self.variables.get(position).cloned(),
            Meaning::Type(type_name) => Some(Value::Type(type_name)),
            Meaning::Constant(value) => Some(Value::Int(value)),
        }
    }

    fn select(&mut self, operand: NodeId, field: &'a str) -> Outcome<'a> {
        let Value::Map(map) = self.expression(operand)? else {
            return Err(Fault::NoSuchField(field));
        };
        self.field_of(&map, field)?.ok_or(Fault::NoSuchField(field))
    }

    /// Upstream: a value that can have no fields has none; only a list is an error to ask.
    fn has(&mut self, operand: NodeId, field: &'a str) -> Outcome<'a> {
        match self.expression(operand)? {
            Value::Map(map) => Ok(Value::Bool(self.field_of(&map, field)?.is_some())),
            Value::List(_) => Err(Fault::Plain("unsupported index type 'string' in list")),
            Value::Empty => Err(Fault::NoSuchField(field)),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
            | Value::Type(_) => Ok(Value::Bool(false)),
        }
    }

    fn field_of(&mut self, map: &Map<'a>, field: &str) -> Result<Option<Value<'a>>, Fault<'a>> {
        self.budget.scan(field.len())?;
        Ok(map.field(field))
    }

    /// Evaluates `&&` or `||`: the deciding answer wins over faults before and after it.
    fn logical(&mut self, operands: &[NodeId], deciding: bool) -> Outcome<'a> {
        let name = if deciding { "||" } else { "&&" };
        let mut first_fault = None;
        for operand in operands {
            match self.truth(*operand, name) {
                Ok(answer) if answer == deciding => return Ok(Value::Bool(deciding)),
                Ok(_) => {}
                Err(fault) if fault.is_final() => return Err(fault),
                Err(fault) => first_fault = first_fault.or(Some(fault)),
            }
        }
        match first_fault {
            Some(fault) => Err(fault),
            None => Ok(Value::Bool(!deciding)),
        }
    }

    /// Evaluates an expression that must turn out to be a bool.
    fn truth(&mut self, id: NodeId, wanted_by: &'static str) -> Result<bool, Fault<'a>> {
        match self.expression(id)? {
            Value::Bool(answer) => Ok(answer),
            other => Err(Fault::NoSuchOverload(wanted_by, other.type_name())),
        }
    }

    fn list(&mut self, elements: &[NodeId]) -> Outcome<'a> {
        self.budget.allocate_values(elements.len())?;
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            values.push(self.expression(*element)?);
        }
        Ok(Value::list(values)?)
    }

    fn map(&mut self, entries: &[(NodeId, NodeId)]) -> Outcome<'a> {
        self.budget.allocate_values(3 * entries.len())?;
        let mut values = BTreeMap::new();
        for (key, value) in entries {
            let key = self.expression(*key)?;
            let value = self.expression(*value)?;
            let form = collection::key_form(&key, values.len())?;
            values.insert(form, (key, value));
        }
        Ok(Value::map(values)?)
    }

    fn call(
        &mut self,
        id: NodeId,
        function: Function,
        receiver: Option<NodeId>,
        arguments: &[NodeId],
    ) -> Outcome<'a> {
        let mut operands = receiver.into_iter().chain(arguments.iter().copied());
        match (operands.next(), operands.next(), operands.next()) {
            (Some(condition), Some(yes), Some(no)) => {
                let chosen = if self.truth(condition, "?:")? { yes } else { no };
                self.expression(chosen)
            }
            (Some(left), Some(right), None) => {
                let left = self.expression(left)?;
                let right = self.expression(right)?;
                self.binary(id, function, left, right)
            }
            (Some(operand), None, _) => {
                let operand = self.expression(operand)?;
                self.unary(function, operand)
            }
            (None, _, _) => Err(Fault::Plain("no such overload")),
        }
    }

    fn unary(&mut self, function: Function, operand: Value<'a>) -> Outcome<'a> {
        self.budget.scan(operand.text_length())?;
        match function {
            Function::Not => operator::not(&operand),
            Function::Negate => operator::negate(&operand),
            Function::Size => collection::size(&operand),
            Function::Type => Ok(Value::Type(operand.type_name())),
            Function::Dyn => Ok(operand),
            Function::Bool => convert::to_bool(operand),
            Function::Bytes => convert::to_bytes(operand, &mut self.budget),
            Function::Double => convert::to_double(operand),
            Function::Duration => convert::to_duration(operand),
            Function::Int => convert::to_int(operand),
            Function::String => convert::to_string(operand, &mut self.budget),
            Function::Timestamp => convert::to_timestamp(operand),
            Function::Uint => convert::to_uint(operand),
            Function::Part(part) => {
                date::part(part, function.name(), &operand, None, &mut self.budget)
            }
            Function::Conditional
            | Function::Equals
            | Function::NotEquals
            | Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
            | Function::In
            | Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Modulo
            | Function::Index
            | Function::Contains
            | Function::StartsWith
            | Function::EndsWith
            | Function::Matches
            | Function::SemverCompare => {
                Err(Fault::NoSuchOverload(function.name(), operand.type_name()))
            }
        }
    }

    fn binary(
        &mut self,
        id: NodeId,
        function: Function,
        left: Value<'a>,
        right: Value<'a>,
    ) -> Outcome<'a> {
        let budget = &mut self.budget;
        budget.scan(left.text_length())?;
        budget.scan(right.text_length())?;
        match function {
            Function::Equals => equality::equal(&left, &right, budget).map(Value::Bool),
            Function::NotEquals => {
                let equal = equality::equal(&left, &right, budget)?;
                Ok(Value::Bool(!equal))
            }
            Function::Less => operator::order("<", Ordering::is_lt, &left, &right),
            Function::LessOrEqual => operator::order("<=", Ordering::is_le, &left, &right),
            Function::Greater => operator::order(">", Ordering::is_gt, &left, &right),
            Function::GreaterOrEqual => operator::order(">=", Ordering::is_ge, &left, &right),
            Function::In => collection::contains(&left, &right, budget),
            Function::Add => operator::add(left, right, budget),
            Function::Subtract => operator::subtract(&left, &right),
            Function::Multiply => operator::multiply(&left, &right),
            Function::Divide => operator::divide(&left, &right),
            Function::Modulo => operator::modulo(&left, &right),
            Function::Index => collection::index(&left, &right, budget),
            Function::Contains => {
                text::test("contains", |text, part| text.contains(part), &left, &right)
            }
            Function::StartsWith => {
                text::test("startsWith", |text, part| text.starts_with(part), &left, &right)
            }
            Function::EndsWith => {
                text::test("endsWith", |text, part| text.ends_with(part), &left, &right)
            }
            Function::Matches => {
                let prepared = self.plan.patterns.get(&id);
                text::matches(&left, &right, prepared, budget)
            }
            Function::Part(part) => date::part(part, function.name(), &left, Some(&right), budget),
            Function::SemverCompare => text::semver_compare(&left, &right),
            Function::Conditional
            | Function::Not
            | Function::Negate
            | Function::Size
            | Function::Type
            | Function::Dyn
            | Function::Bool
            | Function::Bytes
            | Function::Double
            | Function::Duration
            | Function::Int
            | Function::String
            | Function::Timestamp
            | Function::Uint => Err(Fault::NoSuchOverload(function.name(), left.type_name())),
        }
    }
}
