//! Commas behind tags: `[!!str, a]` has one element, the text `a` with the tag `!!str,`.
//!
//! Upstream takes such a comma for a part of the tag; the scanner panics at it. This room finds
//! the commas that matter before the scanner gets there; it changes no text.

use std::collections::BTreeSet;

use libyaml_safer::{Encoding, ScalarStyle, Scanner, TokenData};

use super::{MAX_YAML_DEPTH, brackets::Brackets, intake::Intake, repair::find_byte};

/// The depth at which the looking ends: where a document is refused, and as far beyond as the
/// scanner looks ahead for the colon of a key.
const MAX_SEEN_DEPTH: usize = MAX_YAML_DEPTH + 1024;

/// What a comma behind something like a tag, between brackets, turned out to be.
pub(super) enum Finding {
    /// The scanner would panic here.
    PartOfTag(u32),
    /// It separates elements: the tag is none, but the end of a scalar such as `oh !`.
    InPlainScalar(u32),
}

/// Finds commas behind an exclamation mark and characters of a tag.
pub(super) fn commas_behind_tags(text: &[u8]) -> BTreeSet<u32> {
    let is_tag_byte =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-;/?:@&=+$.%!~*'()".contains(byte);
    let mut suspects = BTreeSet::new();
    let mut position = 0;
    while let Some(step) = find_byte(&text[position..], b'!') {
        let start = position + step;
        let length = text[start..].iter().take_while(|byte| is_tag_byte(byte)).count();
        // No token starts behind a letter or a digit.
        let starts_token = start == 0 || !text[start - 1].is_ascii_alphanumeric();
        if starts_token && text.get(start + length) == Some(&b',') {
            suspects.insert((start + length) as u32);
        }
        position = start + length;
    }
    suspects
}

/// Looks at suspects in their context, from the first one on as far as can be seen.
///
/// The text is scanned with blanks in place of the suspects. That does not change what follows
/// a tag and a blank; behind any other comma it might, so there the looking ends. No finding
/// means that all suspects stand in quotes, comments or blocks.
pub(super) fn look_at_commas(
    intake: &Intake<'_>,
    text: &[u8],
    suspects: &BTreeSet<u32>,
) -> Vec<Finding> {
    let mut blanked = text.to_vec();
    for &suspect in suspects {
        blanked[suspect as usize] = b' ';
    }
    let mut scanner = Scanner::new();
    scanner.set_encoding(Encoding::Utf8);
    scanner.set_input(intake.portions(&blanked));
    let mut findings = Vec::new();
    let mut brackets = Brackets::default();
    let mut seen = 0;
    while let Some(token) = scanner.next()
        && suspects.range(seen..).next().is_some()
        && brackets.depth <= MAX_SEEN_DEPTH
        && brackets.look()
    {
        let token = match token {
            Ok(token) => token,
            Err(error) => {
                // The scanner looks ahead before it hands out tokens. The next suspect that it
                // may have seen is taken for a part of a tag; a mistake comes to light later.
                let stop = error.problem_mark().map_or(u32::MAX, |mark| mark.index as u32);
                let next = suspects.range(seen..stop.max(seen)).next();
                findings.extend(next.copied().map(Finding::PartOfTag));
                return findings;
            }
        };
        let (start, end) = (token.start_mark.index as u32, token.end_mark.index as u32);
        seen = seen.max(end);
        match token.data {
            TokenData::FlowSequenceStart | TokenData::FlowMappingStart => brackets.depth += 1,
            TokenData::FlowSequenceEnd | TokenData::FlowMappingEnd => {
                brackets.depth = brackets.depth.saturating_sub(1);
            }
            TokenData::Tag { .. } if brackets.depth > 0 && suspects.contains(&end) => {
                findings.push(Finding::PartOfTag(end));
                seen += 1;
                if !matches!(text.get(end as usize + 1), Some(b' ' | b'\n')) {
                    return findings;
                }
            }
            TokenData::Scalar { style: ScalarStyle::Plain, .. } if brackets.depth > 0 => {
                if let Some(&inside) = suspects.range(start..end).next() {
                    findings.push(Finding::InPlainScalar(inside));
                    return findings;
                }
            }
            _ => {}
        }
    }
    findings
}
