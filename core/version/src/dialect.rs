//! Recognises a term that belongs to another range dialect, or that this one misreads, and finds
//! the spelling its author most likely wants.
//!
//! It looks at one term alone; what terms do together is the concern of the lint.

use crate::range::{Operator, VersionRange};
use crate::term::split_term;
use crate::trap::RangeTrapKind as Kind;
use crate::version::Version;

/// Matches every version, which `*` says elsewhere.
pub(crate) const EVERY_VERSION: &str = ">=0.0.0-0";

/// Says what is wrong with a term, and what to write instead if that can be told.
pub(crate) type Finding = (Kind, Option<String>);

/// Inspects a term of two or more characters.
pub(crate) fn inspect(term: &str) -> Option<Finding> {
    let (kind, candidate) = inspect_separators(term).or_else(|| inspect_term(term))?;
    Some((kind, candidate.and_then(|text| settle(&text))))
}

/// Accepts a spelling whose terms can all be read and hold no trap, correcting those that do.
///
/// The recursion is shallow: every correction removes one foreign sign and adds none.
pub(crate) fn settle(candidate: &str) -> Option<String> {
    let settle_term = |term: &str| match inspect_term(term) {
        // Alternatives instead of a term among others would change what the others mean.
        Some((_, better)) => settle(&better?).filter(|text| !text.contains("||")),
        None if term == "||" || VersionRange::parse(term).is_ok() => Some(term.to_owned()),
        None => None,
    };
    let terms: Option<Vec<String>> = candidate.split_whitespace().map(settle_term).collect();
    terms.filter(|terms| !terms.is_empty()).map(|terms| terms.join(" "))
}

fn inspect_separators(term: &str) -> Option<Finding> {
    if term.contains(',') || term.contains("&&") {
        let separated = term.replace([',', '&'], " ");
        return Some((Kind::ForeignAnd, Some(separated)));
    }
    if term != "||" && term.contains("||") {
        let separated = term.replace("||", " || ");
        return Some((Kind::OrWithoutBlanks, Some(separated)));
    }
    let (sign, version) = split_text(term)?;
    let has_white_space = version.contains(char::is_whitespace);
    has_white_space.then(|| (Kind::OtherWhiteSpace, Some(format!("{sign}{version}"))))
}

fn inspect_term(term: &str) -> Option<Finding> {
    let Some((sign, version)) = split_text(term) else {
        let rest = term.trim_start_matches(['=', '<', '>', '!', '~', '^']);
        let only_wildcards = !rest.is_empty() && rest.chars().all(|letter| "xX*.".contains(letter));
        let every_version = Some(EVERY_VERSION.to_owned());
        return only_wildcards.then_some((Kind::ForeignWildcard, every_version));
    };
    if sign.ends_with(['v', 'V']) {
        let sign = sign.trim_end_matches(['v', 'V']);
        return Some((Kind::VersionPrefix, Some(format!("{sign}{version}"))));
    }
    match Operator::parse(sign.as_bytes()) {
        Some(operator) => inspect_version(term, operator, sign, version),
        None => Some((Kind::UnknownOperator, native_spelling(sign, version))),
    }
}

fn split_text(term: &str) -> Option<(&str, &str)> {
    let (_, version) = split_term(term.as_bytes())?;
    let (sign, version) = term.split_at(term.len() - version.len());
    Some((sign.trim(), version))
}

/// Inspects a term whose operator is known.
fn inspect_version(term: &str, operator: Operator, sign: &str, version: &str) -> Option<Finding> {
    let numbers_end = version.find(['-', '+']).unwrap_or(version.len());
    let (numbers, suffix) = version.split_at(numbers_end);
    let parts: Vec<&str> = numbers.split('.').collect();
    let is_wildcard = |part: &&&str| matches!(**part, "x" | "X" | "*");
    let wildcards = parts.iter().filter(is_wildcard).count();
    let is_misplaced = wildcards > 1 || parts.last() != Some(&"x") || !suffix.is_empty();
    if parts.contains(&"X") || parts.contains(&"*") {
        Some((Kind::ForeignWildcard, with_wildcard(sign, &parts)))
    } else if wildcards > 0 && is_misplaced {
        Some((Kind::MisplacedWildcard, with_wildcard(sign, &parts)))
    } else if wildcards > 0 && operator == Operator::NotEqual {
        Some((Kind::ExcludedWildcard, both_sides(term)))
    } else if wildcards == 0 && parts.len() < 3 {
        Some((Kind::PartialVersion, completed(operator, sign, &parts, suffix)))
    } else if let Some((before, _)) = version.split_once('+') {
        Some((Kind::BuildMetadata, Some(format!("{sign}{before}"))))
    } else if suffix.contains('x') {
        inspect_prerelease(operator, version, suffix)
    } else {
        None
    }
}

/// Returns the numbers before the first wildcard and one `x`.
fn with_wildcard(sign: &str, parts: &[&str]) -> Option<String> {
    let is_number = |part: &&&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let count = parts.iter().take_while(is_number).count().min(2);
    (count > 0).then(|| format!("{sign}{}.x", parts[..count].join(".")))
}

/// Returns what excluding a wildcard should have meant.
fn both_sides(term: &str) -> Option<String> {
    let range = VersionRange::parse(term).ok()?;
    let sides = range.alternatives().first()?.iter();
    Some(sides.map(ToString::to_string).collect::<Vec<_>>().join(" || "))
}

fn completed(operator: Operator, sign: &str, parts: &[&str], suffix: &str) -> Option<String> {
    let numbers = parts.join(".");
    let zeroes = ".0".repeat(3 - parts.len());
    match operator {
        _ if !suffix.is_empty() => Some(format!("{sign}{numbers}{zeroes}{suffix}")),
        Operator::GreaterOrEqual | Operator::Less => Some(format!("{sign}{numbers}{zeroes}")),
        Operator::Equal | Operator::Greater | Operator::LessOrEqual => {
            Some(format!("{sign}{numbers}.x"))
        }
        Operator::NotEqual => both_sides(&format!("!={numbers}.x")),
    }
}

/// Uses that `>=` and `<` leave an `x` alone and that `.0` appended gives the next version.
fn inspect_prerelease(operator: Operator, version: &str, suffix: &str) -> Option<Finding> {
    let kind = Kind::WildcardInPrerelease;
    if suffix.contains(".x") {
        return Some((kind, None));
    }
    match operator {
        Operator::GreaterOrEqual | Operator::Less => None,
        Operator::Equal => Some((kind, Some(format!(">={version} <{version}.0")))),
        Operator::NotEqual => Some((kind, Some(format!("<{version} || >={version}.0")))),
        Operator::Greater => Some((kind, Some(format!(">={version}.0")))),
        Operator::LessOrEqual => Some((kind, Some(format!("<{version}.0")))),
    }
}

fn native_spelling(sign: &str, version: &str) -> Option<String> {
    match sign {
        "=<" => Some(format!("<={version}")),
        "=>" => Some(format!(">={version}")),
        "<>" | "><" | "=!" => Some(format!("!={version}")),
        "===" => Some(format!("={version}")),
        "~" | "~>" => compatible(version, false),
        "^" => compatible(version, true),
        _ => None,
    }
}

/// Spells out a tilde, which keeps the minor number, or a caret, which keeps the first number
/// that is not zero.
fn compatible(version: &str, is_caret: bool) -> Option<String> {
    let mut numbers = version;
    while let Some((before, "x" | "X" | "*")) = numbers.rsplit_once('.') {
        numbers = before;
    }
    let written = numbers.split(['-', '+']).next()?.split('.').count();
    let lower = Version::parse_tolerant(numbers).ok()?;
    let keeps_major = written == 1 || is_caret && lower.major() > 0;
    let keeps_minor = written == 2 || !is_caret || lower.minor() > 0;
    let upper = if keeps_major {
        Version::new(lower.major().checked_add(1)?, 0, 0)
    } else if keeps_minor {
        Version::new(lower.major(), lower.minor().checked_add(1)?, 0)
    } else {
        Version::new(0, 0, lower.patch().checked_add(1)?)
    };
    Some(format!(">={lower} <{upper}"))
}
