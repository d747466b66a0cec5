//! Type checks macros as the loops they stand for.
//!
//! Each macro folds its range into a hidden result. The steps of that fold are checked as if they
//! were written out, since they decide what the element types of lists turn out to be.

use super::{Checked, Checker, limited};
use crate::cel::ast::{Comprehension, ComprehensionKind, NodeId};
use crate::cel::function::Function;
use crate::cel::types::{Constructor, Type};

impl<'a> Checker<'a> {
    pub(super) fn comprehension(
        &mut self,
        comprehension: &'a Comprehension,
        offset: usize,
    ) -> Checked<Type> {
        let range = self.expression(comprehension.range)?;
        let hidden = match comprehension.kind {
            ComprehensionKind::All | ComprehensionKind::Exists => Type::BOOL,
            ComprehensionKind::ExistsOne => Type::INT,
            ComprehensionKind::Map | ComprehensionKind::Filter => {
                let element = self.bindings.fresh();
                limited(Type::list(element))?
            }
        };
        let element = self.element_type(&range, comprehension.range)?;
        // Upstream: entering a macro forgets that numbers of different types must not be compared,
        // and leaving it does not remember.
        self.numbers_mix = true;
        self.variables.push((&comprehension.variable, element.clone()));
        let step = self.step(comprehension, &hidden, element, offset)?;
        self.variables.pop();
        if !limited(self.bindings.assignable(&hidden, &step))? {
            let (hidden, step) = (hidden.describe(), step.describe());
            let message = format!("the elements do not fit together: {hidden} and {step}");
            return Err(self.error(offset, message));
        }
        match comprehension.kind {
            ComprehensionKind::All | ComprehensionKind::Exists | ComprehensionKind::ExistsOne => {
                Ok(Type::BOOL)
            }
            ComprehensionKind::Map | ComprehensionKind::Filter => {
                limited(self.bindings.resolve(&hidden))
            }
        }
    }

    /// Returns the type of the variable of a macro over this range.
    fn element_type(&mut self, range: &Type, place: NodeId) -> Checked<Type> {
        let range = limited(self.bindings.resolve(range))?;
        match &range {
            Type::Dyn | Type::Variable(_) => {
                limited(self.bindings.assignable(&Type::Dyn, &range))?;
                Ok(Type::Dyn)
            }
            Type::Composite(composite) if composite.constructor != Constructor::TypeOf => {
                Ok(composite.parameters[0].clone())
            }
            Type::Composite(_)
            | Type::Any
            | Type::Null
            | Type::Scalar(_)
            | Type::Wrapper(_)
            | Type::Duration
            | Type::Timestamp
            | Type::Empty => {
                let offset = self.tree.node(place).offset;
                let found = range.describe();
                let hint =
                    if matches!(range, Type::Any) { ": write dyn(…) around it" } else { "" };
                let message = format!("a macro ranges over a list or map, not {found}{hint}");
                Err(self.error(offset, message))
            }
        }
    }

    /// Checks what the macro does with one element and returns the type of the next result.
    fn step(
        &mut self,
        comprehension: &'a Comprehension,
        hidden: &Type,
        element: Type,
        offset: usize,
    ) -> Checked<Type> {
        let condition = match comprehension.condition {
            Some(condition) => Some((condition, self.expression(condition)?)),
            None => None,
        };
        let next = match comprehension.kind {
            ComprehensionKind::All | ComprehensionKind::Exists => {
                if let Some((place, found)) = condition {
                    self.expect_bool(&found, place)?;
                }
                return Ok(Type::BOOL);
            }
            ComprehensionKind::ExistsOne => Type::INT,
            ComprehensionKind::Map | ComprehensionKind::Filter => {
                let appended = match comprehension.transform {
                    Some(transform) => self.expression(transform)?,
                    None => element,
                };
                let appended = limited(Type::list(appended))?;
                let operands = [hidden.clone(), appended];
                self.resolve_call(Function::Add, false, &operands, offset)?
            }
        };
        let Some((_, condition)) = condition else {
            return Ok(next);
        };
        let operands = [condition, next, hidden.clone()];
        self.resolve_call(Function::Conditional, false, &operands, offset)
    }
}
