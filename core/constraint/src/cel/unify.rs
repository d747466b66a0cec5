//! Finds types for the unknown parts of types.
//!
//! A [`Bindings`] knows what each type variable stands for so far. Questions either succeed and
//! leave what they learned, or fail and leave nothing behind.

use std::rc::Rc;

use super::limit::{Limit, MAX_TYPE_NESTING};
use super::types::{Composite, Constructor, Type};

/// Holds what each type variable stands for.
pub(super) struct Bindings {
    bound: Vec<Option<Type>>,
    /// Remembers what was overwritten since the question began, to take it back on failure.
    undo: Vec<(usize, Option<Type>)>,
    steps: usize,
    max_steps: usize,
    depth: usize,
}

impl Bindings {
    /// Allows so many steps.
    pub(super) fn new(max_steps: usize) -> Self {
        Self { bound: Vec::new(), undo: Vec::new(), steps: 0, max_steps, depth: 0 }
    }

    /// Returns the steps taken so far.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Makes a variable that stands for nothing yet.
    pub(super) fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Variable(self.bound.len() - 1)
    }

    /// Tells whether a value of the first type can stand where the second is wanted, and binds
    /// variables so that it can.
    pub(super) fn assignable(&mut self, given: &Type, wanted: &Type) -> Result<bool, Limit> {
        self.assignable_all(std::slice::from_ref(given), std::slice::from_ref(wanted))
    }

    /// Answers [`Bindings::assignable`] for lists of types of equal length.
    pub(super) fn assignable_all(
        &mut self,
        given: &[Type],
        wanted: &[Type],
    ) -> Result<bool, Limit> {
        self.undo.clear();
        let fits = given.len() == wanted.len() && self.fit_all(given, wanted)?;
        if !fits {
            while let Some((variable, before)) = self.undo.pop() {
                self.bound[variable] = before;
            }
        }
        Ok(fits)
    }

    /// Replaces bound variables by what they stand for.
    pub(super) fn resolve(&mut self, subject: &Type) -> Result<Type, Limit> {
        let subject = self.follow(subject)?;
        match &subject {
            Type::Composite(composite) => {
                let parameters = composite
                    .parameters
                    .iter()
                    .map(|parameter| self.resolve(parameter))
                    .collect::<Result<_, _>>()?;
                Type::composite(composite.constructor, parameters)
            }
            Type::Dyn
            | Type::Any
            | Type::Null
            | Type::Scalar(_)
            | Type::Wrapper(_)
            | Type::Duration
            | Type::Timestamp
            | Type::Empty
            | Type::Variable(_) => Ok(subject),
        }
    }

    /// Tells whether two types are the same, variables only if they are the same variable.
    pub(super) fn same(&mut self, left: &Type, right: &Type) -> Result<bool, Limit> {
        self.step()?;
        match (left, right) {
            (Type::Composite(left), Type::Composite(right)) => {
                if Rc::ptr_eq(left, right) {
                    return Ok(true);
                }
                if left.constructor != right.constructor {
                    return Ok(false);
                }
                for (left, right) in left.parameters.iter().zip(&right.parameters) {
                    if !self.same(left, right)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (left, right) => Ok(same_simple(left, right)),
        }
    }

    /// Returns the more general of two types that fit each other.
    pub(super) fn more_general(&mut self, left: &Type, right: &Type) -> Result<Type, Limit> {
        let chosen = if self.at_least_as_general(left, right)? { left } else { right };
        Ok(chosen.clone())
    }

    fn fit_all(&mut self, given: &[Type], wanted: &[Type]) -> Result<bool, Limit> {
        for (given, wanted) in given.iter().zip(wanted) {
            if !self.fit(given, wanted)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fit(&mut self, given: &Type, wanted: &Type) -> Result<bool, Limit> {
        self.step()?;
        self.depth += 1;
        if self.depth > 2 * MAX_TYPE_NESTING {
            return Err(Limit::TypeNesting);
        }
        let fits = self.fit_at_depth(given, wanted);
        self.depth -= 1;
        fits
    }

    fn fit_at_depth(&mut self, given: &Type, wanted: &Type) -> Result<bool, Limit> {
        if let Type::Variable(variable) = wanted {
            match self.stand_for(given, *variable)? {
                Standing::Fits => return Ok(true),
                Standing::Contradicts => return Ok(false),
                // The given type may still be a variable that can stand for the wanted one.
                Standing::Circular => {}
            }
        }
        if let Type::Variable(variable) = given {
            return Ok(self.stand_for(wanted, *variable)? == Standing::Fits);
        }
        if given.is_dynamic() || wanted.is_dynamic() {
            return Ok(true);
        }
        match (given, wanted) {
            (Type::Null, other) | (other, Type::Null) => Ok(other.is_nullable()),
            (Type::Composite(given), Type::Composite(wanted)) => self.fit_composites(given, wanted),
            (given, wanted) => Ok(same_simple(given, wanted)),
        }
    }

    /// Upstream: the type of any type fits the type of any other.
    fn fit_composites(&mut self, given: &Composite, wanted: &Composite) -> Result<bool, Limit> {
        if given.constructor != wanted.constructor {
            return Ok(false);
        }
        match given.constructor {
            Constructor::TypeOf => Ok(true),
            Constructor::List | Constructor::Map => {
                self.fit_all(&given.parameters, &wanted.parameters)
            }
        }
    }

    /// Lets the variable stand for the type if it can, widening what it stood for.
    fn stand_for(&mut self, subject: &Type, variable: usize) -> Result<Standing, Limit> {
        if matches!(subject, Type::Variable(same) if *same == variable) {
            return Ok(Standing::Fits);
        }
        let Some(bound) = self.bound[variable].clone() else {
            if self.mentions(subject, variable)? {
                return Ok(Standing::Circular);
            }
            self.bind(variable, subject.clone());
            return Ok(Standing::Fits);
        };
        if self.same(subject, &bound)? {
            return Ok(Standing::Fits);
        }
        if !self.fit(subject, &bound)? {
            return Ok(Standing::Contradicts);
        }
        let wider = self.more_general(subject, &bound)?;
        if !self.mentions(&wider, variable)? {
            self.bind(variable, wider);
        }
        Ok(Standing::Fits)
    }

    fn bind(&mut self, variable: usize, bound: Type) {
        let before = self.bound[variable].replace(bound);
        self.undo.push((variable, before));
    }

    /// Tells whether the variable occurs in the type, also through other variables.
    fn mentions(&mut self, subject: &Type, variable: usize) -> Result<bool, Limit> {
        let mut subject = subject.clone();
        while let Type::Variable(other) = subject {
            self.step()?;
            if other == variable {
                return Ok(true);
            }
            match self.bound[other].clone() {
                Some(bound) => subject = bound,
                None => return Ok(false),
            }
        }
        self.step()?;
        match &subject {
            Type::Composite(composite) => {
                for parameter in &composite.parameters {
                    if self.mentions(parameter, variable)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Type::Dyn
            | Type::Any
            | Type::Null
            | Type::Scalar(_)
            | Type::Wrapper(_)
            | Type::Duration
            | Type::Timestamp
            | Type::Empty
            | Type::Variable(_) => Ok(false),
        }
    }

    fn at_least_as_general(&mut self, left: &Type, right: &Type) -> Result<bool, Limit> {
        self.step()?;
        let open = |subject: &Type| subject.is_dynamic() || matches!(subject, Type::Variable(_));
        if open(left) {
            return Ok(true);
        }
        if open(right) {
            return Ok(false);
        }
        let (Type::Composite(left), Type::Composite(right)) = (left, right) else {
            return Ok(same_simple(left, right));
        };
        if left.constructor != right.constructor {
            return Ok(false);
        }
        if left.constructor == Constructor::TypeOf {
            return Ok(true);
        }
        for (left, right) in left.parameters.iter().zip(&right.parameters) {
            if !self.at_least_as_general(left, right)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns what a chain of variables ends in.
    fn follow(&mut self, subject: &Type) -> Result<Type, Limit> {
        let mut subject = subject.clone();
        loop {
            self.step()?;
            let Type::Variable(variable) = subject else {
                return Ok(subject);
            };
            match self.bound[variable].clone() {
                Some(bound) => subject = bound,
                None => return Ok(subject),
            }
        }
    }

    fn step(&mut self) -> Result<(), Limit> {
        self.steps += 1;
        if self.steps > self.max_steps {
            return Err(Limit::CheckSteps);
        }
        Ok(())
    }
}

#[derive(PartialEq, Eq)]
enum Standing {
    Fits,
    Contradicts,
    Circular,
}

/// Compares types that are not composite. A wrapper differs from its scalar only in taking null.
fn same_simple(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Scalar(left) | Type::Wrapper(left), Type::Scalar(right) | Type::Wrapper(right)) => {
            left == right
        }
        (Type::Variable(left), Type::Variable(right)) => left == right,
        (Type::Dyn, Type::Dyn)
        | (Type::Any, Type::Any)
        | (Type::Null, Type::Null)
        | (Type::Duration, Type::Duration)
        | (Type::Timestamp, Type::Timestamp)
        | (Type::Empty, Type::Empty) => true,
        _ => false,
    }
}
