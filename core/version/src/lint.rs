//! Finds the pieces of a range that do not mean what their author probably thinks.
//!
//! It neither refuses nor repairs anything: a range with traps may be in use in thousands of
//! clusters, and keeps its meaning.

use std::collections::BTreeSet;

use crate::dialect::{EVERY_VERSION, inspect, settle};
use crate::range::{Comparator, MAX_RANGE_LENGTH, Operator, VersionRange};
use crate::term::{Token, tokens};
use crate::trap::{RangeTrap, RangeTrapKind as Kind};
use crate::version::Version;

/// Returns the traps in the order of the text; a range longer than [`MAX_RANGE_LENGTH`], which is
/// refused anyway, is not looked at.
///
/// Contradictions and advice are given only for an alternative that is otherwise clean, since
/// any other trap there may be their cause.
pub fn range_traps(text: &str) -> Vec<RangeTrap> {
    if text.len() > MAX_RANGE_LENGTH {
        return Vec::new();
    }
    let words = words(text);
    if words.is_empty() {
        let every_version = Some(EVERY_VERSION.to_owned());
        return vec![trap(Kind::EmptyAlternative, 0, text.len(), every_version)];
    }
    let mut traps = empty_alternatives(&words);
    for alternative in words.split(Word::is_or) {
        let found = inspect_terms(alternative);
        if found.is_empty() {
            traps.extend(inspect_together(text, alternative));
        }
        traps.extend(found);
    }
    traps.sort_by_key(|trap| (trap.start, trap.end));
    traps
}

struct Word {
    start: usize,
    end: usize,
    is_kept: bool,
    text: String,
}

impl Word {
    fn is_or(&self) -> bool {
        self.text == "||"
    }
}

fn words(text: &str) -> Vec<Word> {
    let word = |token: Token| {
        let written = &text[token.start..token.end];
        Word {
            start: token.start,
            end: token.start + written.trim_end_matches(' ').len(),
            is_kept: token.is_kept(),
            text: written.replace(' ', ""),
        }
    };
    tokens(text.as_bytes()).into_iter().map(word).collect()
}

fn trap(kind: Kind, start: usize, end: usize, suggestion: Option<String>) -> RangeTrap {
    RangeTrap { kind, start, end, suggestion }
}

fn empty_alternatives(words: &[Word]) -> Vec<RangeTrap> {
    let mut traps = Vec::new();
    let mut follows_term = false;
    for (index, word) in words.iter().enumerate() {
        if word.is_or() && (!follows_term || index + 1 == words.len()) {
            traps.push(trap(Kind::EmptyAlternative, word.start, word.end, None));
        }
        follows_term = !word.is_or();
    }
    traps
}

fn inspect_terms(words: &[Word]) -> Vec<RangeTrap> {
    let mut traps = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if !word.is_kept {
            let before = index.checked_sub(1).and_then(|index| words.get(index));
            traps.extend(inspect_character(before, word, words.get(index + 1)));
        } else if let Some((kind, suggestion)) = inspect(&word.text) {
            // Alternatives instead of a term among others would change what the others mean.
            let may_split = words.len() == 1 || kind == Kind::OrWithoutBlanks;
            let suggestion = suggestion.filter(|text| may_split || !text.contains("||"));
            traps.push(trap(kind, word.start, word.end, suggestion));
        }
    }
    traps
}

/// Inspects a word of one character, which does not count.
fn inspect_character(
    before: Option<&Word>,
    word: &Word,
    after: Option<&Word>,
) -> Option<RangeTrap> {
    let (start, end) = (word.start, word.end);
    let ignored = |end, suggestion| trap(Kind::IgnoredCharacter, start, end, suggestion);
    match (word.text.as_str(), before, after) {
        ("-", Some(before), Some(after)) => {
            let are_plain = starts_with_digit(&before.text) && starts_with_digit(&after.text);
            let bounds = are_plain.then(|| format!(">={} <={}", before.text, after.text));
            let suggestion = bounds.and_then(|bounds| settle(&bounds));
            Some(trap(Kind::HyphenRange, before.start, after.end, suggestion))
        }
        ("!", _, Some(after)) => {
            let excluded = format!("!={}", after.text.trim_start_matches('='));
            Some(ignored(after.end, settle(&excluded)))
        }
        ("|", Some(_), Some(_)) => Some(ignored(end, Some("||".to_owned()))),
        ("*" | "x" | "X", None, None) => Some(ignored(end, Some(EVERY_VERSION.to_owned()))),
        (text, _, _) if text.trim().is_empty() => None,
        (text, _, _) => {
            let suggestion = starts_with_digit(text).then(|| format!("{text}.x"));
            Some(ignored(end, suggestion))
        }
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// Inspects what the terms of one alternative mean together.
fn inspect_together(text: &str, words: &[Word]) -> Vec<RangeTrap> {
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Vec::new();
    };
    let Ok(range) = VersionRange::parse(&text[first.start..last.end]) else {
        return Vec::new();
    };
    if range.is_empty() {
        return vec![trap(Kind::MatchesNothing, first.start, last.end, None)];
    }
    let versions = range.alternatives().iter().flatten().map(|term| &term.version);
    let prereleases = versions.filter(|version| version.has_prerelease());
    let named: BTreeSet<Version> = prereleases.map(Version::release).collect();
    let advice = words.iter().filter_map(|word| {
        let suggestion = without_prereleases(&word.text, &named)?;
        Some(trap(Kind::AdmitsPrerelease, word.start, word.end, Some(suggestion)))
    });
    advice.collect()
}

/// Returns a term that excludes the pre-releases of its upper bound, unless it has none or the
/// alternative names one of those pre-releases and so means them.
fn without_prereleases(term: &str, named: &BTreeSet<Version>) -> Option<String> {
    let is_loose = |Comparator { operator, version }: &Comparator| {
        *operator == Operator::Less && !version.has_prerelease() && !named.contains(version)
    };
    let range = VersionRange::parse(term).ok()?;
    let terms = range.alternatives().first()?;
    terms.iter().find(|term| is_loose(term))?;
    let tighten = |comparator: &Comparator| match comparator.version.lowest_prerelease() {
        lowest if is_loose(comparator) => format!("<{lowest}"),
        _ => comparator.to_string(),
    };
    let tight = terms.iter().map(tighten).collect::<Vec<_>>().join(" ");
    let admits_some = VersionRange::parse(&tight).is_ok_and(|range| !range.is_empty());
    admits_some.then_some(tight)
}
