//! Sets of characters in patterns: `[a-z]`, `\d`, `\p{Greek}`, `[:alpha:]`.
//!
//! In Go `\d`, `\w` and `\s` know ASCII only, and neither `[` nor `&&` is special between brackets;
//! the sets are therefore written out. Which characters `\p{...}` holds is the engine's knowledge.

use std::fmt::Write as _;

use regex::Regex;

use super::{
    PatternFault,
    escape::{escaped_code, excerpt},
    translate::Flags,
};

/// A set in Rust's dialect, and the rest of the pattern behind it.
pub(super) struct Class<'p> {
    pub(super) text: String,
    pub(super) weight: u64,
    pub(super) rest: &'p str,
}

/// About how many states a small set takes.
pub(super) const PERL_CLASS_WEIGHT: u64 = 4;

/// About how many states a set takes that holds characters of many alphabets.
const UNICODE_CLASS_WEIGHT: u64 = 400;

const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Writes `\d`, `\S` and the like, given by their letter.
pub(super) fn perl_class(letter: char, flags: Flags) -> String {
    let set = perl_set(letter);
    let negation = if letter.is_ascii_uppercase() { "^" } else { "" };
    with_flags(&format!("[{negation}{set}]"), flags)
}

/// Reads `\pL`, `\p{Greek}` or `\P{^Lu}`.
pub(super) fn unicode_class(pattern: &str, flags: Flags) -> Result<Class<'_>, PatternFault> {
    let (text, rest) = unicode_set(pattern)?;
    Ok(Class { text: with_flags(&text, flags), weight: UNICODE_CLASS_WEIGHT, rest })
}

/// Reads a set between brackets.
pub(super) fn class(pattern: &str, flags: Flags) -> Result<Class<'_>, PatternFault> {
    let mut rest = &pattern[1..];
    let mut text = "[".to_owned();
    let mut weight = PERL_CLASS_WEIGHT;
    // An empty set in front: a set may turn out to hold nothing, which Rust does not write.
    let negation = rest.strip_prefix('^');
    if let Some(after) = negation {
        text.push('^');
        weight = 16;
        rest = after;
    }
    text.push_str(r"[^\x{0}-\x{10FFFF}]");
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        if let Some((set, after)) = posix_set(rest)? {
            text.push_str(set);
            rest = after;
        } else if rest.starts_with(r"\p") || rest.starts_with(r"\P") {
            let (set, after) = unicode_set(rest)?;
            text.push_str(&set);
            weight = UNICODE_CLASS_WEIGHT;
            rest = after;
        } else if let Some(letter) = perl_letter(rest) {
            let negation = if letter.is_ascii_uppercase() { "^" } else { "" };
            let _ = write!(text, "[{negation}{}]", perl_set(letter));
            rest = &rest[2..];
        } else {
            rest = range(rest, pattern, &mut text)?;
            weight += 1;
        }
    }
    text.push(']');
    Ok(Class { text: with_flags(&text, flags), weight, rest: &rest[1..] })
}

fn with_flags(set: &str, flags: Flags) -> String {
    if flags.ignores_case { format!("(?i:{set})") } else { set.to_owned() }
}

fn perl_letter(rest: &str) -> Option<char> {
    let letter = rest.strip_prefix('\\')?.chars().next()?;
    matches!(letter, 'd' | 'D' | 's' | 'S' | 'w' | 'W').then_some(letter)
}

fn perl_set(letter: char) -> &'static str {
    match letter.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\f\r\x20",
        _ => "0-9A-Za-z_",
    }
}

/// Reads `[:alpha:]` or `[:^alpha:]`.
fn posix_set(rest: &str) -> Result<Option<(&str, &str)>, PatternFault> {
    let Some(end) = rest.strip_prefix("[:").and_then(|name| name.find(":]")) else {
        return Ok(None);
    };
    let (set, after) = rest.split_at(end + 4);
    let name = &set[2..end + 2];
    if POSIX_CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)) {
        Ok(Some((set, after)))
    } else {
        Err(PatternFault::new("invalid character class range", set))
    }
}

/// Reads one character or a range such as `a-z`.
fn range<'p>(rest: &'p str, class: &str, text: &mut String) -> Result<&'p str, PatternFault> {
    let (low, mut after) = class_code(rest, class)?;
    let mut high = low;
    if let Some(end) = after.strip_prefix('-')
        && !end.is_empty()
        && !end.starts_with(']')
    {
        (high, after) = class_code(end, class)?;
        if high < low {
            let excerpt = excerpt(rest, after);
            return Err(PatternFault::new("invalid character class range", excerpt));
        }
    }
    // Halves of surrogate pairs are codes in Go but no characters anywhere.
    let low = if (0xd800..0xe000).contains(&low) { 0xe000 } else { low };
    let high = if (0xd800..0xe000).contains(&high) { 0xd7ff } else { high };
    if low <= high {
        let _ = write!(text, r"\x{{{low:X}}}-\x{{{high:X}}}");
    }
    Ok(after)
}

fn class_code<'p>(rest: &'p str, class: &str) -> Result<(u32, &'p str), PatternFault> {
    match rest.chars().next() {
        None => Err(PatternFault::new("missing closing ]", class)),
        Some('\\') => escaped_code(rest),
        Some(character) => Ok((u32::from(character), &rest[character.len_utf8()..])),
    }
}

/// Reads a set that is named by a category or an alphabet.
fn unicode_set(rest: &str) -> Result<(String, &str), PatternFault> {
    let invalid = |excerpt| Err(PatternFault::new("invalid character class range", excerpt));
    let name = &rest[2..];
    let (name, after) = match name.strip_prefix('{') {
        Some(name) => match name.split_once('}') {
            Some(parts) => parts,
            None => return invalid(rest),
        },
        None => match name.chars().next() {
            Some(letter) => name.split_at(letter.len_utf8()),
            None => return invalid(rest),
        },
    };
    let is_negated = rest.starts_with(r"\P") != name.starts_with('^');
    let name = name.strip_prefix('^').unwrap_or(name);
    let sign = if is_negated { 'P' } else { 'p' };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_- ".contains(character);
    let candidates = match name.to_ascii_lowercase().as_str() {
        "any" | "assigned" | "ascii" => vec![format!(r"\{sign}{{{name}}}")],
        _ => vec![format!(r"\{sign}{{gc={name}}}"), format!(r"\{sign}{{sc={name}}}")],
    };
    let known = candidates.into_iter().find(|candidate| Regex::new(candidate).is_ok());
    match known {
        Some(set) if name.chars().all(is_plain) && !name.is_empty() => Ok((set, after)),
        _ => invalid(excerpt(rest, after)),
    }
}
