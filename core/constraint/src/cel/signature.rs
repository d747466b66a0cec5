//! The signatures of the functions, which the checker chooses from.
//!
//! Evaluation does not look here: it decides by the types that values turn out to have.

use super::function::{Function, TimePart};
use super::limit::Limit;
use super::types::{Scalar, Type};
use super::unify::Bindings;

/// Holds one way to call a function.
pub(super) struct Signature {
    /// Says that the first parameter is written before a dot.
    pub(super) receiver: bool,
    /// Says that the parameters are numbers of different types. Upstream: such comparisons are
    /// refused until the first macro of a rule is entered, and allowed from then on.
    pub(super) mixes_numbers: bool,
    parameters: &'static [Pattern],
    result: Pattern,
}

/// Names a type in a signature; `A` and `B` stand for any type, the same one throughout.
#[derive(Clone, Copy)]
enum Pattern {
    Any,
    Dyn,
    Bool,
    Bytes,
    Double,
    Int,
    String,
    Uint,
    Duration,
    Timestamp,
    A,
    B,
    ListOfA,
    MapOfAToB,
    TypeOfA,
}

impl Signature {
    /// Returns the parameter types and the result type with new variables for `A` and `B`.
    pub(super) fn instantiate(&self, bindings: &mut Bindings) -> Result<(Vec<Type>, Type), Limit> {
        let mut letters = [None, None];
        let parameters = self
            .parameters
            .iter()
            .map(|parameter| parameter.instantiate(&mut letters, bindings))
            .collect::<Result<_, _>>()?;
        let result = self.result.instantiate(&mut letters, bindings)?;
        Ok((parameters, result))
    }
}

impl Pattern {
    fn instantiate(
        self,
        letters: &mut [Option<Type>; 2],
        bindings: &mut Bindings,
    ) -> Result<Type, Limit> {
        let mut letter = |index: usize| -> Type {
            letters[index].get_or_insert_with(|| bindings.fresh()).clone()
        };
        Ok(match self {
            Self::Any => Type::Any,
            Self::Dyn => Type::Dyn,
            Self::Bool => Type::BOOL,
            Self::Bytes => Type::Scalar(Scalar::Bytes),
            Self::Double => Type::Scalar(Scalar::Double),
            Self::Int => Type::INT,
            Self::String => Type::STRING,
            Self::Uint => Type::Scalar(Scalar::Uint),
            Self::Duration => Type::Duration,
            Self::Timestamp => Type::Timestamp,
            Self::A => letter(0),
            Self::B => letter(1),
            Self::ListOfA => Type::list(letter(0))?,
            Self::MapOfAToB => Type::map(letter(0), letter(1))?,
            Self::TypeOfA => Type::type_of(letter(0))?,
        })
    }
}

/// Returns the signatures of a function in the order in which they are tried.
pub(super) fn signatures(function: Function) -> &'static [Signature] {
    match function {
        Function::Conditional => CONDITIONAL,
        Function::Not => NOT,
        Function::Negate => NEGATE,
        Function::Equals | Function::NotEquals => EQUALITY,
        Function::Less | Function::LessOrEqual | Function::Greater | Function::GreaterOrEqual => {
            ORDER
        }
        Function::In => IN,
        Function::Add => ADD,
        Function::Subtract => SUBTRACT,
        Function::Multiply | Function::Divide => MULTIPLY,
        Function::Modulo => MODULO,
        Function::Index => INDEX,
        Function::Size => SIZE,
        Function::Type => TYPE,
        Function::Dyn => DYN,
        Function::Bool => BOOL,
        Function::Bytes => BYTES,
        Function::Double => DOUBLE,
        Function::Duration => DURATION,
        Function::Int => INT,
        Function::String => STRING,
        Function::Timestamp => TIMESTAMP,
        Function::Uint => UINT,
        Function::Contains | Function::StartsWith | Function::EndsWith => TEXT_TEST,
        Function::Matches => MATCHES,
        Function::Part(
            TimePart::FullYear
            | TimePart::Month
            | TimePart::DayOfYear
            | TimePart::DayOfMonth
            | TimePart::Date
            | TimePart::DayOfWeek,
        ) => DATE_PART,
        Function::Part(
            TimePart::Hours | TimePart::Minutes | TimePart::Seconds | TimePart::Milliseconds,
        ) => TIME_PART,
        Function::SemverCompare => SEMVER_COMPARE,
    }
}

const fn of(parameters: &'static [Pattern], result: Pattern) -> Signature {
    Signature { receiver: false, mixes_numbers: false, parameters, result }
}

const fn on(parameters: &'static [Pattern], result: Pattern) -> Signature {
    Signature { receiver: true, mixes_numbers: false, parameters, result }
}

const fn mixed(parameters: &'static [Pattern]) -> Signature {
    Signature { receiver: false, mixes_numbers: true, parameters, result: Bool }
}

use Pattern::{
    A, Any, B, Bool, Bytes, Double, Duration, Dyn, Int, ListOfA, MapOfAToB, String, Timestamp,
    TypeOfA, Uint,
};

const CONDITIONAL: &[Signature] = &[of(&[Bool, A, A], A)];
const NOT: &[Signature] = &[of(&[Bool], Bool)];
const NEGATE: &[Signature] = &[of(&[Double], Double), of(&[Int], Int)];
const EQUALITY: &[Signature] = &[of(&[A, A], Bool)];
const ORDER: &[Signature] = &[
    of(&[Bool, Bool], Bool),
    of(&[Int, Int], Bool),
    mixed(&[Int, Double]),
    mixed(&[Int, Uint]),
    of(&[Uint, Uint], Bool),
    mixed(&[Uint, Double]),
    mixed(&[Uint, Int]),
    of(&[Double, Double], Bool),
    mixed(&[Double, Int]),
    mixed(&[Double, Uint]),
    of(&[String, String], Bool),
    of(&[Bytes, Bytes], Bool),
    of(&[Timestamp, Timestamp], Bool),
    of(&[Duration, Duration], Bool),
];
const IN: &[Signature] = &[of(&[A, ListOfA], Bool), of(&[A, MapOfAToB], Bool)];
const ADD: &[Signature] = &[
    of(&[Bytes, Bytes], Bytes),
    of(&[Double, Double], Double),
    of(&[Duration, Duration], Duration),
    of(&[Duration, Timestamp], Timestamp),
    of(&[Timestamp, Duration], Timestamp),
    of(&[Int, Int], Int),
    of(&[ListOfA, ListOfA], ListOfA),
    of(&[String, String], String),
    of(&[Uint, Uint], Uint),
];
const SUBTRACT: &[Signature] = &[
    of(&[Double, Double], Double),
    of(&[Duration, Duration], Duration),
    of(&[Int, Int], Int),
    of(&[Timestamp, Duration], Timestamp),
    of(&[Timestamp, Timestamp], Duration),
    of(&[Uint, Uint], Uint),
];
const MULTIPLY: &[Signature] =
    &[of(&[Double, Double], Double), of(&[Int, Int], Int), of(&[Uint, Uint], Uint)];
const MODULO: &[Signature] = &[of(&[Int, Int], Int), of(&[Uint, Uint], Uint)];
const INDEX: &[Signature] = &[of(&[ListOfA, Int], A), of(&[MapOfAToB, A], B)];
const SIZE: &[Signature] = &[
    of(&[Bytes], Int),
    on(&[Bytes], Int),
    of(&[ListOfA], Int),
    on(&[ListOfA], Int),
    of(&[MapOfAToB], Int),
    on(&[MapOfAToB], Int),
    of(&[String], Int),
    on(&[String], Int),
];
const TYPE: &[Signature] = &[of(&[A], TypeOfA)];
const DYN: &[Signature] = &[of(&[A], Dyn)];
const BOOL: &[Signature] = &[of(&[Bool], Bool), of(&[String], Bool)];
const BYTES: &[Signature] = &[of(&[Bytes], Bytes), of(&[String], Bytes)];
const DOUBLE: &[Signature] =
    &[of(&[Double], Double), of(&[Int], Double), of(&[String], Double), of(&[Uint], Double)];
const DURATION: &[Signature] = &[of(&[Duration], Duration), of(&[String], Duration)];
const INT: &[Signature] = &[
    of(&[Int], Int),
    of(&[Double], Int),
    of(&[Duration], Int),
    of(&[String], Int),
    of(&[Timestamp], Int),
    of(&[Uint], Int),
];
const STRING: &[Signature] = &[
    of(&[String], String),
    of(&[Bool], String),
    of(&[Bytes], String),
    of(&[Double], String),
    of(&[Duration], String),
    of(&[Int], String),
    of(&[Timestamp], String),
    of(&[Uint], String),
];
const TIMESTAMP: &[Signature] =
    &[of(&[Timestamp], Timestamp), of(&[Int], Timestamp), of(&[String], Timestamp)];
const UINT: &[Signature] =
    &[of(&[Uint], Uint), of(&[Double], Uint), of(&[Int], Uint), of(&[String], Uint)];
const TEXT_TEST: &[Signature] = &[on(&[String, String], Bool)];
const MATCHES: &[Signature] = &[of(&[String, String], Bool), on(&[String, String], Bool)];
const DATE_PART: &[Signature] = &[on(&[Timestamp], Int), on(&[Timestamp, String], Int)];
const TIME_PART: &[Signature] =
    &[on(&[Timestamp], Int), on(&[Timestamp, String], Int), on(&[Duration], Int)];
const SEMVER_COMPARE: &[Signature] = &[of(&[Any, Any], Int)];
