//! A version range: alternatives, each a list of comparisons that must all hold.
//!
//! Comparison is by precedence alone; pre-releases are not treated apart, so `<2.0.0` contains
//! `2.0.0-alpha`. Ranges are never rewritten: a range prints as it was written.

use std::fmt;

use crate::quote::quote;
use crate::range_error::RangeError;
use crate::term::{split_term, tokens};
use crate::version::Version;
use crate::wildcard;

/// Limits the bytes of a range text. The longest real ranges have a few hundred; 64 KiB is what
/// upstream documents for one whole constraint, and holds thousands of terms.
pub const MAX_RANGE_LENGTH: usize = 64 * 1024;

/// Holds a set of versions in the notation of `skipRange` and required packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    text: Box<str>,
    alternatives: Vec<Vec<Comparator>>,
}

/// Compares a version with a fixed one, as `>=1.2.3` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparator {
    /// Says which side of the fixed version is meant.
    pub operator: Operator,
    /// Holds the fixed version.
    pub version: Version,
}

/// Names a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `1.2.3`, `=1.2.3` or `==1.2.3`.
    Equal,
    /// `!1.2.3` or `!=1.2.3`.
    NotEqual,
    /// `>1.2.3`.
    Greater,
    /// `>=1.2.3`.
    GreaterOrEqual,
    /// `<1.2.3`.
    Less,
    /// `<=1.2.3`.
    LessOrEqual,
}

impl VersionRange {
    /// Reads a range: blanks mean AND, `||` means OR, a last `x` is a wildcard.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Reads like [`VersionRange::parse`] from bytes that may not be UTF-8.
    pub fn parse_bytes(text: &[u8]) -> Result<Self, RangeError> {
        if text.len() > MAX_RANGE_LENGTH {
            return Err(RangeError::TooLong { length: text.len() });
        }
        // Upstream: the wildcards of all alternatives are expanded before any term is read, which
        // decides the error that a range with several faults is refused with.
        let expanded = split_alternatives(text)?
            .iter()
            .map(|terms| expand_terms(terms))
            .collect::<Result<Vec<_>, _>>()?;
        let alternatives = expanded
            .iter()
            .map(|terms| terms.iter().map(|term| read_comparator(term)).collect())
            .collect::<Result<Vec<Vec<_>>, _>>()?;
        if let Some(index) = alternatives.iter().position(Vec::is_empty) {
            return Err(RangeError::EmptyAlternative { position: index + 1 });
        }
        Ok(Self { text: String::from_utf8_lossy(text).into(), alternatives })
    }

    /// Tells whether the version satisfies all comparisons of some alternative.
    pub fn contains(&self, version: &Version) -> bool {
        let holds = |terms: &Vec<Comparator>| terms.iter().all(|term| term.matches(version));
        self.alternatives.iter().any(holds)
    }

    /// Returns the alternatives after wildcard expansion; neither they nor the list are empty.
    pub fn alternatives(&self) -> &[Vec<Comparator>] {
        &self.alternatives
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Comparator {
    /// Tells whether the comparison holds for the version.
    pub fn matches(&self, version: &Version) -> bool {
        let order = version.cmp(&self.version);
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
        }
    }
}

impl fmt::Display for Comparator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.operator.symbol(), self.version)
    }
}

impl Operator {
    /// Returns the usual sign, as `>=`.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        }
    }

    pub(crate) fn parse(sign: &[u8]) -> Option<Self> {
        match sign {
            b"" | b"=" | b"==" => Some(Self::Equal),
            b"!" | b"!=" => Some(Self::NotEqual),
            b">" => Some(Self::Greater),
            b">=" => Some(Self::GreaterOrEqual),
            b"<" => Some(Self::Less),
            b"<=" => Some(Self::LessOrEqual),
            _ => None,
        }
    }
}

fn split_alternatives(text: &[u8]) -> Result<Vec<Vec<Vec<u8>>>, RangeError> {
    let kept = tokens(text).into_iter().filter(|token| token.is_kept());
    let terms: Vec<Vec<u8>> = kept.map(|token| token.text(text)).collect();
    let is_or = |term: &Vec<u8>| term == b"||";
    if terms.first().is_some_and(is_or) {
        return Err(RangeError::FirstIsOr);
    }
    if terms.last().is_none_or(is_or) {
        return Err(RangeError::LastIsOr);
    }
    Ok(terms.split(is_or).map(<[_]>::to_vec).collect())
}

fn expand_terms(terms: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RangeError> {
    let mut expanded = Vec::with_capacity(terms.len());
    for term in terms {
        if term.contains(&b'x') {
            let (operator, version) = split_or_refuse(term)?;
            expanded.extend(wildcard::expand(operator, version));
        } else {
            expanded.push(term.clone());
        }
    }
    Ok(expanded)
}

fn read_comparator(term: &[u8]) -> Result<Comparator, RangeError> {
    let (sign, version) = split_or_refuse(term)?;
    let joined = || quote(&[sign, version].concat());
    let Some(operator) = Operator::parse(sign) else {
        let (term, operator) = (quote(term), quote(sign));
        return Err(RangeError::UnknownOperator { term, operator, joined: joined() });
    };
    match Version::parse_bytes(version) {
        Ok(version) => Ok(Comparator { operator, version }),
        Err(error) => {
            let (term, version) = (quote(term), quote(version));
            Err(RangeError::InvalidVersion { term, version, joined: joined(), error })
        }
    }
}

fn split_or_refuse(term: &[u8]) -> Result<(&[u8], &[u8]), RangeError> {
    split_term(term).ok_or_else(|| RangeError::MissingVersion { term: quote(term) })
}
