//! Runs macros.
//!
//! `all` and `exists` absorb faults as `&&` and `||` do; the other macros stop at the first one.

use super::{Evaluation, Outcome};
use crate::cel::ast::{Comprehension, ComprehensionKind};
use crate::cel::budget::Fault;
use crate::cel::value::{List, Value};

impl<'a> Evaluation<'a> {
    pub(super) fn comprehension(&mut self, comprehension: &'a Comprehension) -> Outcome<'a> {
        let range = match self.expression(comprehension.range)? {
            Value::List(list) => list,
            Value::Map(map) => {
                self.budget.allocate_values(map.len())?;
                let Value::List(keys) = Value::list(map.keys())? else {
                    return Err(Fault::Plain("no keys"));
                };
                keys
            }
            other => return Err(Fault::NoSuchOverload("macro", other.type_name())),
        };
        let position = self.variables.len();
        self.variables.push(Value::Null);
        let result = self.fold(comprehension, &range, position);
        // A fault leaves this call early but may be absorbed further up.
        self.variables.truncate(position);
        result
    }

    fn fold(
        &mut self,
        comprehension: &'a Comprehension,
        range: &List<'a>,
        position: usize,
    ) -> Outcome<'a> {
        match comprehension.kind {
            ComprehensionKind::All => self.quantify(comprehension, range, position, false),
            ComprehensionKind::Exists => self.quantify(comprehension, range, position, true),
            ComprehensionKind::ExistsOne => {
                let mut count = 0;
                for index in 0..range.len() {
                    self.bind(range, index, position);
                    count += usize::from(self.chosen(comprehension)?);
                }
                Ok(Value::Bool(count == 1))
            }
            ComprehensionKind::Map | ComprehensionKind::Filter => {
                self.collect(comprehension, range, position)
            }
        }
    }

    fn quantify(
        &mut self,
        comprehension: &'a Comprehension,
        range: &List<'a>,
        position: usize,
        deciding: bool,
    ) -> Outcome<'a> {
        let mut first_fault = None;
        for index in 0..range.len() {
            self.bind(range, index, position);
            match self.chosen(comprehension) {
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

    fn collect(
        &mut self,
        comprehension: &'a Comprehension,
        range: &List<'a>,
        position: usize,
    ) -> Outcome<'a> {
        let mut collected = Vec::new();
        for index in 0..range.len() {
            self.bind(range, index, position);
            if !self.chosen(comprehension)? {
                continue;
            }
            self.budget.allocate_values(1)?;
            collected.push(match comprehension.transform {
                Some(transform) => self.expression(transform)?,
                None => self.variables[position].clone(),
            });
        }
        Ok(Value::list(collected)?)
    }

    /// Evaluates the condition for the bound element; without a condition all are chosen.
    fn chosen(&mut self, comprehension: &Comprehension) -> Result<bool, Fault<'a>> {
        self.budget.step(1)?;
        match comprehension.condition {
            Some(condition) => self.truth(condition, "macro condition"),
            None => Ok(true),
        }
    }

    fn bind(&mut self, range: &List<'a>, index: usize, position: usize) {
        if let Some(element) = range.get(index) {
            self.variables[position] = element;
        }
    }
}
