//! Checks of what the scanner lets pass and upstream's does not, and the matter of the last line.
//!
//! What upstream lets pass and the scanner does not is the business of the repairs.

use std::ops::Range;

use libyaml_safer::VersionDirective;

use super::{
    error::Problem,
    intake::{ends_with_break, last_line_start},
};

/// How many `%TAG` directives a document may start with.
///
/// Scanners compare every tag with every directive; upstream sets no limit, and no one needs more.
pub const MAX_TAG_DIRECTIVES: usize = 64;

/// Refuses a text that starts with too many directives.
pub(super) fn check_directives(text: &[u8]) -> Result<(), Problem> {
    let mut position = 0;
    let mut tags = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
        match line.trim_ascii_start() {
            [] | [b'#', ..] => {}
            [b'%', ..] => tags += usize::from(line.starts_with(b"%TAG")),
            _ => break,
        }
        if tags > MAX_TAG_DIRECTIVES {
            let message = format!("more than {MAX_TAG_DIRECTIVES} `%TAG` directives");
            return Err(Problem { message, offset: position });
        }
        position += line.len();
    }
    Ok(())
}

/// Refuses every version but 1.1.
///
/// Upstream: go-yaml v2 knows only YAML 1.1, written with at most two digits a number.
pub(super) fn check_version(
    version: Option<VersionDirective>,
    text: &[u8],
    directives_start: u32,
) -> Result<(), Problem> {
    let Some(version) = version else {
        return Ok(());
    };
    let written = text[directives_start as usize..]
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .find_map(|line| line.strip_prefix(b"%YAML"))
        .unwrap_or_default();
    let has_long_number = written
        .split(|byte| !byte.is_ascii_digit())
        .take_while(|number| number.is_empty() || number.len() > 2)
        .any(|number| number.len() > 2);
    if version.minor != 1 || has_long_number {
        let message = "incompatible YAML version: only `%YAML 1.1` can be read";
        return Err(Problem::at(directives_start, message));
    }
    Ok(())
}

/// Refuses a question mark in a plain scalar between brackets.
///
/// Upstream: there it starts a key wherever it stands, and a key cannot follow a scalar.
pub(super) fn check_flow_plain(value: &str, place: Range<u32>) -> Result<(), Problem> {
    if value.contains('?') {
        let message = "found `?` in a plain scalar between brackets; put the scalar in quotes";
        return Err(Problem::at(place.start, message));
    }
    Ok(())
}

/// Refuses the escape `\/`, which came with YAML 1.2, in double quotes that open at `start`.
pub(super) fn check_escapes(text: &[u8], start: usize) -> Result<(), Problem> {
    let Some(b'"') = text.get(start) else {
        return Ok(());
    };
    let mut bytes = text.iter().enumerate().skip(start + 1);
    while let Some((position, byte)) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' if matches!(bytes.next(), Some((_, b'/'))) => {
                let message = "unknown escape `\\/` in a quoted scalar; write `/`";
                return Err(Problem::at(position as u32, message));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the line break added behind the last line means for a block scalar that reaches it.
pub(super) enum FinalLine {
    /// Nothing: it is not part of the value.
    Unaffected,
    /// It is the last character of the value, where upstream has none.
    TakeBreakOff,
    /// One of the two; it depends on whether the blanks of the last line are content.
    Doubtful,
}

/// Judges a block scalar that was read up to the added line break.
pub(super) fn final_line(text: &[u8], scalar_start: u32) -> FinalLine {
    if ends_with_break(text) {
        return FinalLine::Unaffected;
    }
    let header = skip_properties(text, scalar_start as usize);
    let last_line = last_line_start(text);
    if header >= last_line {
        return FinalLine::Unaffected;
    }
    let ([b'0'..=b'9', chomping, ..] | [chomping, ..]) = text[header + 1..] else {
        return FinalLine::Unaffected;
    };
    match chomping {
        b'-' => FinalLine::Unaffected,
        b'+' => FinalLine::TakeBreakOff,
        _ if text[last_line..].iter().any(|&byte| byte != b' ') => FinalLine::TakeBreakOff,
        _ => FinalLine::Doubtful,
    }
}

/// Returns where the quotes or the block of a scalar start, behind its anchor and its tag.
pub(super) fn skip_properties(text: &[u8], start: usize) -> usize {
    let mut position = start;
    while let Some(&byte) = text.get(position) {
        let rest = &text[position..];
        position += match byte {
            b'&' | b'!' => rest.iter().take_while(|byte| byte.is_ascii_graphic()).count(),
            b'#' => rest.iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count(),
            // White space; beyond ASCII these are the bytes of rarer line breaks.
            b' ' | b'\t' | b'\n' | b'\r' | 0x80.. => 1,
            _ => break,
        };
    }
    position
}
