//! The patterns of `matches`: read in Go's dialect, run by the `regex` crate.
//!
//! Every atom is spelled out anew (`\d` becomes `[0-9]`, flags move into the atom), so nothing
//! depends on how the two dialects read a character. Only whether a pattern matches is asked, so
//! groups do not capture and greediness is dropped.

mod class;
mod group;

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use regex::{Regex, RegexBuilder};

use super::limit::MAX_PATTERN_BYTES;

/// The largest count in `x{2,5}`, also when nested counts are multiplied. Upstream: the same.
const MAX_REPEAT: u32 = 1_000;

/// How deeply repetitions of repetitions may nest; the engine would refuse more.
const MAX_WRAPPINGS: usize = 100;

/// Says why a pattern does not compile.
#[derive(Debug)]
pub(super) enum PatternError {
    /// The compiled pattern would have more bytes than allowed.
    TooLarge,
    /// The text is no pattern, for the reason given.
    Malformed(String),
}

/// Compiles a pattern to at most so many bytes.
fn compile(pattern: &str, most_bytes: usize) -> Result<Regex, PatternError> {
    let translated = translate(pattern).map_err(|fault| {
        let PatternFault { text, excerpt } = fault;
        PatternError::Malformed(format!("error parsing regexp: {text}: `{excerpt}`"))
    })?;
    let built =
        RegexBuilder::new(&translated).size_limit(most_bytes).dfa_size_limit(most_bytes).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
        _ => PatternError::Malformed("error parsing regexp: it nests too deeply".to_owned()),
    })
}

/// What a compiled pattern holds, if it is an ordinary one.
const ORDINARY_PATTERN_BYTES: usize = 65_536;

/// Compiles a pattern at the cost of its size: first as an ordinary one, then as a large one. Returns the bytes
/// that it holds at most.
pub(super) fn compile_at_cost<E>(
    pattern: &str,
    mut charge: impl FnMut(usize) -> Result<(), E>,
) -> Result<(Result<Regex, PatternError>, usize), E> {
    charge(ORDINARY_PATTERN_BYTES + pattern.len().saturating_mul(64))?;
    match compile(pattern, ORDINARY_PATTERN_BYTES) {
        Err(PatternError::TooLarge) => {
            charge(MAX_PATTERN_BYTES)?;
            Ok((compile(pattern, MAX_PATTERN_BYTES), MAX_PATTERN_BYTES))
        }
        outcome => Ok((outcome, ORDINARY_PATTERN_BYTES)),
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                formatter,
                "the pattern compiles to too many bytes: Operon's limit is {MAX_PATTERN_BYTES}"
            ),
            Self::Malformed(message) => formatter.write_str(message),
        }
    }
}

/// Says what is wrong in a pattern.
struct PatternFault<'a> {
    text: &'static str,
    excerpt: &'a str,
}

type Translated<'a, T> = Result<T, PatternFault<'a>>;

fn translate(pattern: &str) -> Translated<'_, String> {
    let mut translator = Translator {
        pattern,
        last_named_class_end: pattern.rfind(":]").unwrap_or(0),
        position: 0,
        output: String::with_capacity(2 * pattern.len()),
        flags: Flags::default(),
        groups: Vec::new(),
        current: Level::default(),
        last_repeat: None,
        wrappings: 0,
        unicode_sets: BTreeMap::new(),
    };
    while translator.position < pattern.len() {
        translator.item()?;
    }
    if !translator.groups.is_empty() {
        return Err(PatternFault { text: "missing closing )", excerpt: pattern });
    }
    Ok(translator.output)
}

struct Translator<'a> {
    pattern: &'a str,
    /// Holds where `:]` stands last, so that it is not looked for again and again in vain.
    last_named_class_end: usize,
    position: usize,
    output: String,
    flags: Flags,
    groups: Vec<Group>,
    current: Level,
    /// Holds where the repetition that was just read begins.
    last_repeat: Option<usize>,
    wrappings: usize,
    /// Holds what the names in `\p{…}` turned out to mean.
    unicode_sets: BTreeMap<&'a str, Option<String>>,
}

/// Holds what comes back when a group ends.
struct Group {
    flags: Flags,
    level: Level,
    /// Holds where the group begins in the output.
    start: usize,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_matches_newline: bool,
}

/// Holds what is known about the group being read.
#[derive(Clone, Copy, Default)]
struct Level {
    last: Option<Atom>,
    greatest_weight: u32,
}

/// Holds what is known about the atom that a repetition would repeat.
#[derive(Clone, Copy)]
struct Atom {
    /// Holds where the atom begins in the output.
    start: usize,
    /// Holds the product of the counts in the atom.
    weight: u32,
    repeated: bool,
}

impl<'a> Translator<'a> {
    fn item(&mut self) -> Translated<'a, ()> {
        let start = self.position;
        let last_repeat = self.last_repeat.take();
        let character = self.rest().chars().next().unwrap_or(' ');
        match character {
            '(' => return self.open(),
            ')' => return self.close(),
            '|' => {
                self.position += 1;
                self.output.push('|');
                self.end_atom();
            }
            '*' | '+' | '?' => {
                self.position += 1;
                return self.repeat(start, last_repeat, None);
            }
            '{' => match self.counts()? {
                Some(counts) => return self.repeat(start, last_repeat, Some(counts)),
                None => self.literal(),
            },
            '^' if self.flags.multi_line => self.atom(1, "(?m:^)"),
            '^' => self.atom(1, r"(?:\A)"),
            '$' if self.flags.multi_line => self.atom(1, "(?m:$)"),
            '$' => self.atom(1, r"(?:\z)"),
            '.' if self.flags.dot_matches_newline => self.atom(1, "(?s:.)"),
            '.' => self.atom(1, r"[^\n]"),
            '[' => return self.class(),
            '\\' => return self.backslash(),
            _ => self.literal(),
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        start: usize,
        last_repeat: Option<usize>,
        counts: Option<(u32, Option<u32>)>,
    ) -> Translated<'a, ()> {
        let operator = &self.pattern[start..self.position];
        if self.rest().starts_with('?') {
            self.position += 1;
        }
        if let Some(first) = last_repeat {
            return Err(self.fault("invalid nested repetition operator", first));
        }
        let Some(mut atom) = self.current.last else {
            return Err(self.fault("missing argument to repetition operator", start));
        };
        if atom.repeated {
            self.wrappings += 1;
            if self.wrappings > MAX_WRAPPINGS {
                return Err(self.fault("expression nests too deeply", start));
            }
            self.output.insert_str(atom.start, "(?:");
            self.output.push(')');
        }
        self.output.push_str(operator);
        atom.repeated = true;
        if let Some((least, most)) = counts {
            let count = most.unwrap_or(least);
            let product = atom.weight.saturating_mul(count.max(1));
            if product > MAX_REPEAT && (least >= 2 || count >= 2) {
                return Err(self.fault("invalid repeat count", start));
            }
            atom.weight = if most == Some(0) { 1 } else { product };
        }
        self.current.last = Some(atom);
        self.last_repeat = Some(start);
        Ok(())
    }

    /// Reads `{2}`, `{2,}` or `{2,5}`; anything else after a brace is ordinary text.
    fn counts(&mut self) -> Translated<'a, Option<(u32, Option<u32>)>> {
        let start = self.position;
        let text = &self.rest()[1..];
        let counting = |byte: &u8| *byte == b',' || byte.is_ascii_digit();
        let length = text.bytes().take_while(counting).count();
        if text.as_bytes().get(length) != Some(&b'}') {
            return Ok(None);
        }
        let inner = &text[..length];
        let (least, most) = match inner.split_once(',') {
            Some((least, "")) => (count(least), Some(None)),
            Some((least, most)) => (count(least), count(most).map(Some)),
            None => (count(inner), count(inner).map(Some)),
        };
        let (Some(least), Some(most)) = (least, most) else {
            return Ok(None);
        };
        self.position += length + 2;
        let too_large = least > MAX_REPEAT || most.is_some_and(|most| most > MAX_REPEAT);
        if too_large || most.is_some_and(|most| least > most) {
            return Err(self.fault("invalid repeat count", start));
        }
        Ok(Some((least, most)))
    }

    fn backslash(&mut self) -> Translated<'a, ()> {
        let text = self.rest();
        match text.as_bytes().get(1) {
            Some(b'A') => self.atom(2, r"(?:\A)"),
            Some(b'z') => self.atom(2, r"(?:\z)"),
            Some(b'b') => self.atom(2, r"(?-u:\b)"),
            Some(b'B') => self.atom(2, r"(?-u:\B)"),
            Some(b'Q') => self.quoted(),
            Some(b'p' | b'P' | b'd' | b'D' | b's' | b'S' | b'w' | b'W') => {
                let class = self.escaped_class()?;
                self.push_folded(&format!("[{class}]"));
            }
            _ => {
                let code = self.escaped_character()?;
                self.push_code(code);
            }
        }
        Ok(())
    }

    fn quoted(&mut self) {
        let text = &self.rest()[2..];
        let (literal, length) = match text.find(r"\E") {
            Some(end) => (&text[..end], end + 4),
            None => (text, text.len() + 2),
        };
        for character in literal.chars() {
            self.push_code(u32::from(character));
        }
        self.position += length;
    }

    fn literal(&mut self) {
        if let Some(character) = self.rest().chars().next() {
            self.position += character.len_utf8();
            self.push_code(u32::from(character));
        }
    }

    /// Writes one character. A code that no text contains, such as a surrogate, never matches.
    fn push_code(&mut self, code: u32) {
        let atom = match char::from_u32(code) {
            Some(_) => format!(r"\x{{{code:X}}}"),
            None => "[a&&b]".to_owned(),
        };
        self.push_folded(&atom);
    }

    fn push_folded(&mut self, atom: &str) {
        let start = self.output.len();
        if self.flags.ignore_case {
            // Writing to a string cannot fail.
            let _ = write!(self.output, "(?i:{atom})");
        } else {
            self.output.push_str(atom);
        }
        self.begin_atom(start, 1);
    }

    fn atom(&mut self, length: usize, atom: &str) {
        self.position += length;
        let start = self.output.len();
        self.output.push_str(atom);
        self.begin_atom(start, 1);
    }

    fn begin_atom(&mut self, start: usize, weight: u32) {
        self.end_atom();
        self.current.last = Some(Atom { start, weight, repeated: false });
    }

    fn end_atom(&mut self) {
        let weight = self.current.last.take().map_or(0, |atom| atom.weight);
        self.current.greatest_weight = self.current.greatest_weight.max(weight);
    }

    fn rest(&self) -> &'a str {
        &self.pattern[self.position..]
    }

    fn fault(&self, text: &'static str, start: usize) -> PatternFault<'a> {
        PatternFault { text, excerpt: &self.pattern[start..self.position] }
    }
}

/// Reads a count; leading zeros make the braces ordinary text.
fn count(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}
