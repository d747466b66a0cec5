//! Type checks a rule, so that most mistakes are found before any bundle is looked at.
//!
//! Checking also finds out what each name means. It never evaluates: `1 / 0` passes.

mod comprehension;
mod name;

use super::ast::{Expression, MessageField, NodeId, Tree};
use super::compile_budget::CompileBudget;
use super::error::CelError;
use super::function::Function;
use super::limit::Limit;
use super::literal::Literal;
use super::message::Message;
use super::signature::signatures;
use super::type_name::TypeName;
use super::types::{Constructor, Scalar, Type};
use super::unify::Bindings;

/// Says what a name in a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The node is no name.
    Nothing,
    /// The properties of the candidate.
    Properties,
    /// The variable of the macro at this nesting.
    Variable(usize),
    /// A type, as `int`.
    Type(TypeName),
    /// An enum value.
    Constant(i64),
}

/// Checks the tree and returns the meaning of each node; the root must be a bool.
pub(super) fn check(
    rule: &str,
    tree: &Tree,
    root: NodeId,
    budget: &mut CompileBudget,
) -> Result<Vec<Meaning>, CelError> {
    let mut checker = Checker {
        rule,
        tree,
        bindings: Bindings::new(budget.check_steps()),
        meanings: vec![Meaning::Nothing; tree.len()],
        variables: Vec::new(),
        mentioned_variables: Vec::new(),
        mentioned_messages: Vec::new(),
        numbers_mix: false,
    };
    let checked = checker.whole(root).map_err(|error| *error);
    let is_cut_short = checked == Err(CelError::Limit(Limit::CheckSteps));
    budget.charge_check(checker.bindings.steps(), is_cut_short);
    checked.map(|()| checker.meanings)
}

/// Errors are boxed to keep the frames of the recursion small.
type Checked<T> = Result<T, Box<CelError>>;

struct Checker<'a> {
    rule: &'a str,
    tree: &'a Tree,
    bindings: Bindings,
    meanings: Vec<Meaning>,
    /// Holds the macro variables in scope; the position is what [`Meaning::Variable`] says.
    variables: Vec<(&'a str, Type)>,
    mentioned_variables: Vec<(NodeId, Type)>,
    mentioned_messages: Vec<NodeId>,
    numbers_mix: bool,
}

impl<'a> Checker<'a> {
    fn whole(&mut self, root: NodeId) -> Checked<()> {
        let result = self.expression(root)?;
        let result = limited(self.bindings.resolve(&result))?;
        if !matches!(result, Type::Scalar(Scalar::Bool)) {
            return Err(Box::new(CelError::NotBoolean));
        }
        // Upstream: these faults show only when a program is made of the checked rule.
        self.check_type_names()?;
        self.settle_variables()?;
        self.check_constant_indexes()
    }

    fn expression(&mut self, id: NodeId) -> Checked<Type> {
        let node = self.tree.node(id);
        match &node.expression {
            Expression::Literal(literal) => Ok(literal_type(literal)),
            Expression::Identifier(name) => self.identifier(id, name),
            Expression::Select { operand, field } => self.selection(id, *operand, field),
            Expression::Has { operand, .. } => {
                self.field_type(*operand, node.offset)?;
                Ok(Type::BOOL)
            }
            Expression::Call { function, receiver, arguments } => {
                self.call(*function, *receiver, arguments, node.offset)
            }
            Expression::UnknownCall { name } => {
                let message = format!("there is no function `{name}`");
                Err(self.error(node.offset, message))
            }
            Expression::And(operands) | Expression::Or(operands) => self.logical(operands),
            Expression::List(elements) => self.list(elements),
            Expression::Map(entries) => self.map(entries),
            Expression::Message { name, fields } => self.message(name, fields, node.offset),
            Expression::Comprehension(comprehension) => {
                self.comprehension(comprehension, node.offset)
            }
        }
    }

    fn selection(&mut self, id: NodeId, operand: NodeId, field: &str) -> Checked<Type> {
        if let Some(found) = self.qualified_name(id, operand, field)? {
            return Ok(found);
        }
        let offset = self.tree.node(id).offset;
        self.field_type(operand, offset)
    }

    /// Checks the operand of a selection and returns the type of its fields.
    fn field_type(&mut self, operand: NodeId, offset: usize) -> Checked<Type> {
        let operand = self.expression(operand)?;
        let operand = limited(self.bindings.resolve(&operand))?;
        match &operand {
            Type::Dyn | Type::Any => Ok(Type::Dyn),
            Type::Variable(_) => {
                limited(self.bindings.assignable(&Type::Dyn, &operand))?;
                Ok(Type::Dyn)
            }
            Type::Composite(composite) if composite.constructor == Constructor::Map => {
                limited(self.bindings.resolve(&composite.parameters[1]))
            }
            Type::Composite(_)
            | Type::Null
            | Type::Scalar(_)
            | Type::Wrapper(_)
            | Type::Duration
            | Type::Timestamp
            | Type::Empty => {
                let message = format!("a value of type {} has no fields", operand.describe());
                Err(self.error(offset, message))
            }
        }
    }

    fn call(
        &mut self,
        function: Function,
        receiver: Option<NodeId>,
        arguments: &[NodeId],
        offset: usize,
    ) -> Checked<Type> {
        let mut types = arguments
            .iter()
            .map(|argument| self.expression(*argument))
            .collect::<Checked<Vec<Type>>>()?;
        // Upstream: the receiver is checked after the arguments, which decides whether a macro in
        // either comes before a mixed comparison in the other.
        if let Some(receiver) = receiver {
            types.insert(0, self.expression(receiver)?);
        }
        self.resolve_call(function, receiver.is_some(), &types, offset)
    }

    /// Returns the result type of a call with arguments of these types.
    fn resolve_call(
        &mut self,
        function: Function,
        receiver: bool,
        arguments: &[Type],
        offset: usize,
    ) -> Checked<Type> {
        if let Some(result) = limited(self.matching_result(function, receiver, arguments))? {
            return Ok(result);
        }
        let mut texts = Vec::with_capacity(arguments.len());
        for argument in arguments {
            texts.push(limited(self.bindings.resolve(argument))?.describe());
        }
        let name = function.name();
        let message = if receiver {
            let on = texts.remove(0);
            format!("`{name}` on {on} does not take ({})", texts.join(", "))
        } else {
            format!("`{name}` does not take ({})", texts.join(", "))
        };
        Err(self.error(offset, message))
    }

    /// Tries all signatures. If several match with different results, the result is dynamic.
    fn matching_result(
        &mut self,
        function: Function,
        receiver: bool,
        arguments: &[Type],
    ) -> Result<Option<Type>, Limit> {
        let mut result: Option<Type> = None;
        for signature in signatures(function) {
            let refused = signature.mixes_numbers && !self.numbers_mix;
            if signature.receiver != receiver || refused {
                continue;
            }
            let (parameters, returned) = signature.instantiate(&mut self.bindings)?;
            if !self.bindings.assignable_all(arguments, &parameters)? {
                continue;
            }
            let returned = self.bindings.resolve(&returned)?;
            result = Some(match result {
                None => returned,
                Some(first) if first.is_dynamic() => first,
                Some(first) if self.bindings.same(&returned, &first)? => first,
                Some(_) => Type::Dyn,
            });
        }
        Ok(result)
    }

    /// Checks the operands of `&&` or `||` half by half. Upstream: long chains are balanced trees
    /// there, and what one half teaches about types is known in the other.
    fn logical(&mut self, operands: &[NodeId]) -> Checked<Type> {
        if let [operand] = operands {
            return self.expression(*operand);
        }
        let (left, right) = operands.split_at((operands.len() - 1) / 2 + 1);
        let left_type = self.logical(left)?;
        let right_type = self.logical(right)?;
        self.expect_bool(&left_type, left[0])?;
        self.expect_bool(&right_type, right[0])?;
        Ok(Type::BOOL)
    }

    fn expect_bool(&mut self, found: &Type, operand: NodeId) -> Checked<()> {
        if limited(self.bindings.assignable(found, &Type::BOOL))? {
            return Ok(());
        }
        let offset = self.tree.node(operand).offset;
        let message = format!("expected a bool, found {}", found.describe());
        Err(self.error(offset, message))
    }

    fn list(&mut self, elements: &[NodeId]) -> Checked<Type> {
        let mut joined = None;
        for element in elements {
            let element = self.expression(*element)?;
            joined = Some(limited(self.join(joined, element))?);
        }
        let element = joined.unwrap_or_else(|| self.bindings.fresh());
        limited(Type::list(element))
    }

    fn map(&mut self, entries: &[(NodeId, NodeId)]) -> Checked<Type> {
        let mut keys = None;
        let mut values = None;
        for (key, value) in entries {
            let key = self.expression(*key)?;
            keys = Some(limited(self.join(keys, key))?);
            let value = self.expression(*value)?;
            values = Some(limited(self.join(values, value))?);
        }
        let key = keys.unwrap_or_else(|| self.bindings.fresh());
        let value = values.unwrap_or_else(|| self.bindings.fresh());
        limited(Type::map(key, value))
    }

    /// Returns a type for both elements; elements that do not fit each other are dynamic.
    fn join(&mut self, before: Option<Type>, next: Type) -> Result<Type, Limit> {
        let Some(before) = before else {
            return Ok(next);
        };
        if self.bindings.assignable(&before, &next)? {
            return self.bindings.more_general(&before, &next);
        }
        Ok(Type::Dyn)
    }

    fn message(&mut self, name: &str, fields: &'a [MessageField], offset: usize) -> Checked<Type> {
        let Some(message) = Message::from_name(name) else {
            return Err(self.error(offset, format!("there is no message `{name}`")));
        };
        for field in fields {
            let given = self.expression(field.value)?;
            let Some(wanted) = limited(message.field_type(&field.name))? else {
                let text = format!("`{name}` has no field `{}`", field.name);
                return Err(self.error(field.offset, text));
            };
            if !limited(self.bindings.assignable(&wanted, &given))? {
                let text = format!(
                    "field `{}` is of type {}, not {}",
                    field.name,
                    wanted.describe(),
                    given.describe()
                );
                return Err(self.error(field.offset, text));
            }
        }
        limited(message.literal_type())
    }

    /// Refuses a constant that can never be a key.
    fn check_constant_indexes(&self) -> Checked<()> {
        for (_, node) in self.tree.iter() {
            let Expression::Call { function: Function::Index, arguments, .. } = &node.expression
            else {
                continue;
            };
            let index = arguments[1];
            let is_type = matches!(self.meanings[index.index()], Meaning::Type(_));
            let is_no_key = matches!(
                self.tree.node(index).expression,
                Expression::Literal(Literal::Null | Literal::Bytes(_))
            );
            if is_type || is_no_key {
                let offset = self.tree.node(index).offset;
                return Err(self.error(offset, "null, bytes and types cannot be an index"));
            }
        }
        Ok(())
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Box<CelError> {
        Box::new(CelError::at(self.rule, offset, message))
    }
}

/// Turns an exceeded limit into an error of the rule.
fn limited<T>(result: Result<T, Limit>) -> Checked<T> {
    result.map_err(|limit| Box::new(limit.into()))
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::BOOL,
        Literal::Int(_) => Type::INT,
        Literal::Uint(_) => Type::Scalar(Scalar::Uint),
        Literal::Double(_) => Type::Scalar(Scalar::Double),
        Literal::String(_) => Type::STRING,
        Literal::Bytes(_) => Type::Scalar(Scalar::Bytes),
    }
}
