//! The limits that keep any rule, however hostile, within bounded time, memory and stack.
//!
//! Upstream evaluates without a budget. Where it has a limit of its own, ours is never lower for
//! rules that a person could have written.

use std::fmt;

/// Limits the bytes of a rule: what upstream reads as a whole constraint is no longer.
pub const MAX_RULE_BYTES: usize = 131_072;

/// Limits the characters of a rule. Upstream: the parser refuses more.
pub const MAX_RULE_CHARACTERS: usize = 100_000;

/// Limits how often one grammar rule may be open at once. Upstream: the same number stops its
/// parser, so `((…))` fails at the same depth.
pub const MAX_PARSE_DEPTH: usize = 250;

/// Limits the height of the expression tree, which bounds the stack of checking and evaluating.
/// At this height a debug build stays below half of a 2 MiB stack.
pub const MAX_NESTING: usize = 300;

/// Limits how deeply the type of an expression nests, which bounds the stack of checking. Upstream
/// has no limit, but only hundreds of brackets or a chain of `map` make such types.
pub const MAX_TYPE_NESTING: usize = 300;

/// Limits the steps of type checking, which could otherwise double with every `map` in a chain.
/// The longest rule of ordinary comparisons takes half of them.
pub const MAX_CHECK_STEPS: usize = 1_000_000;

/// Limits the steps of one evaluation: a few tens of milliseconds, and a thousand times more than
/// any published rule needs for the largest published bundle.
pub const MAX_EVALUATION_STEPS: usize = 2_000_000;

/// Limits the bytes one evaluation may allocate in all, counted without giving any back: a hundred
/// times the longest rule, and far below what a resolver has for one bundle.
pub const MAX_EVALUATION_BYTES: usize = 32 * 1024 * 1024;

/// Limits how deeply values built by a rule nest, since dropping them takes stack. Values of
/// properties are not built and may nest as deeply as JSON.
pub const MAX_VALUE_NESTING: usize = 300;

/// Limits the bytes of one compiled `matches` pattern; patterns of rules take a few thousand.
pub const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// Limits how many constant `matches` patterns of one rule are compiled ahead of evaluation, and
/// so what a compiled rule can hold. Further ones are compiled whenever they are used.
pub const MAX_PREPARED_PATTERNS: usize = 16;

/// Names the limit that a rule exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The rule has more bytes than [`MAX_RULE_BYTES`].
    RuleBytes,
    /// The rule has more characters than [`MAX_RULE_CHARACTERS`].
    RuleCharacters,
    /// The rule opens more brackets or operators at once than [`MAX_PARSE_DEPTH`].
    ParseDepth,
    /// The expression tree is higher than [`MAX_NESTING`].
    Nesting,
    /// The type of an expression nests deeper than [`MAX_TYPE_NESTING`].
    TypeNesting,
    /// Type checking takes more than [`MAX_CHECK_STEPS`].
    CheckSteps,
    /// Evaluation takes more than [`MAX_EVALUATION_STEPS`].
    EvaluationSteps,
    /// Evaluation allocates more than [`MAX_EVALUATION_BYTES`].
    EvaluationBytes,
    /// A value built by the rule nests deeper than [`MAX_VALUE_NESTING`].
    ValueNesting,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, limit) = match self {
            Self::RuleBytes => ("the rule has more bytes than allowed", MAX_RULE_BYTES),
            Self::RuleCharacters => {
                ("the rule has more characters than allowed", MAX_RULE_CHARACTERS)
            }
            Self::ParseDepth => ("the rule nests too deeply", MAX_PARSE_DEPTH),
            Self::Nesting => ("the expression tree is too high", MAX_NESTING),
            Self::TypeNesting => ("the type of an expression nests too deeply", MAX_TYPE_NESTING),
            Self::CheckSteps => ("type checking takes too many steps", MAX_CHECK_STEPS),
            Self::EvaluationSteps => ("evaluation takes too many steps", MAX_EVALUATION_STEPS),
            Self::EvaluationBytes => ("evaluation needs too many bytes", MAX_EVALUATION_BYTES),
            Self::ValueNesting => ("a value nests too deeply", MAX_VALUE_NESTING),
        };
        write!(formatter, "{what}: Operon's limit is {limit}")
    }
}
