//! The functions and operators of the language.
//!
//! Logical AND and OR are no functions here: they take any number of operands and absorb errors.

/// Names a function or operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Conditional,
    Not,
    Negate,
    Equals,
    NotEquals,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Index,
    Size,
    Type,
    Dyn,
    Bool,
    Bytes,
    Double,
    Duration,
    Int,
    String,
    Timestamp,
    Uint,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    /// `getHours()` and its relatives.
    Part(TimePart),
    SemverCompare,
}

/// Names a part of a timestamp; the last four are also parts of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePart {
    FullYear,
    Month,
    DayOfYear,
    DayOfMonth,
    Date,
    DayOfWeek,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

/// Lists the functions that a rule calls by name.
const NAMED: [Function; 26] = [
    Function::Size,
    Function::Type,
    Function::Dyn,
    Function::Bool,
    Function::Bytes,
    Function::Double,
    Function::Duration,
    Function::Int,
    Function::String,
    Function::Timestamp,
    Function::Uint,
    Function::Contains,
    Function::StartsWith,
    Function::EndsWith,
    Function::Matches,
    Function::Part(TimePart::FullYear),
    Function::Part(TimePart::Month),
    Function::Part(TimePart::DayOfYear),
    Function::Part(TimePart::DayOfMonth),
    Function::Part(TimePart::Date),
    Function::Part(TimePart::DayOfWeek),
    Function::Part(TimePart::Hours),
    Function::Part(TimePart::Minutes),
    Function::Part(TimePart::Seconds),
    Function::Part(TimePart::Milliseconds),
    Function::SemverCompare,
];

impl Function {
    /// Finds the function that a rule calls by this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        NAMED.into_iter().find(|function| function.name() == name)
    }

    /// Returns the name, or the symbol of an operator.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Conditional => "?:",
            Self::Not => "!",
            Self::Negate => "unary -",
            Self::Equals => "==",
            Self::NotEquals => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Index => "[]",
            Self::Size => "size",
            Self::Type => "type",
            Self::Dyn => "dyn",
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "duration",
            Self::Int => "int",
            Self::String => "string",
            Self::Timestamp => "timestamp",
            Self::Uint => "uint",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Matches => "matches",
            Self::Part(part) => part.name(),
            Self::SemverCompare => "semver_compare",
        }
    }

    /// Tells whether the function is written between its operands, or around them as `l[0]` and
    /// `c ? a : b` are.
    pub(super) fn is_operator_between(self) -> bool {
        matches!(
            self,
            Self::Conditional
                | Self::Equals
                | Self::NotEquals
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::In
                | Self::Add
                | Self::Subtract
                | Self::Multiply
                | Self::Divide
                | Self::Modulo
                | Self::Index
        )
    }
}

impl TimePart {
    fn name(self) -> &'static str {
        match self {
            Self::FullYear => "getFullYear",
            Self::Month => "getMonth",
            Self::DayOfYear => "getDayOfYear",
            Self::DayOfMonth => "getDayOfMonth",
            Self::Date => "getDate",
            Self::DayOfWeek => "getDayOfWeek",
            Self::Hours => "getHours",
            Self::Minutes => "getMinutes",
            Self::Seconds => "getSeconds",
            Self::Milliseconds => "getMilliseconds",
        }
    }
}
