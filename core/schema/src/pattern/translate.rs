//! From Go's dialect of regular expressions to Rust's.
//!
//! Flags such as `(?i)` are carried along and written at each part they hold for, so that the
//! result needs no order of flags. Groups never capture, and greed is left out: neither changes
//! whether a text matches.

use std::fmt::Write as _;

use super::{
    MAX_PATTERN_LENGTH, MAX_PATTERN_NESTING, PatternFault,
    class::{PERL_CLASS_WEIGHT, class, perl_class, unicode_class},
    escape::{escaped_code, excerpt},
};

/// A pattern in Rust's dialect.
pub(super) struct Translation {
    pub(super) text: String,
    /// About how many states it needs.
    pub(super) weight: u64,
}

/// Upstream: the most often that one part may be repeated, nested repetitions multiplied.
const MAX_REPETITIONS: u64 = 1000;

/// Translates a whole pattern.
pub(super) fn translate(pattern: &str) -> Result<Translation, PatternFault> {
    if pattern.len() > MAX_PATTERN_LENGTH {
        return Err(PatternFault::new("expression too large", "..."));
    }
    let mut translator = Translator {
        pattern,
        written: String::new(),
        flags: Flags::default(),
        group: Group::default(),
        outer: Vec::new(),
        repetition: None,
    };
    let mut rest = pattern;
    while !rest.is_empty() {
        rest = translator.part(rest)?;
    }
    if !translator.outer.is_empty() {
        return Err(PatternFault::new("missing closing )", pattern));
    }
    Ok(Translation { text: translator.written, weight: translator.group.weight })
}

/// Says how letters, points and line ends are meant.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignores_case: bool,
    multi_line: bool,
    dot_matches_line_end: bool,
}

struct Translator<'p> {
    pattern: &'p str,
    written: String,
    flags: Flags,
    group: Group,
    /// The groups around the present one, with the flags that hold again when it ends.
    outer: Vec<(Group, Flags)>,
    /// The rest of the pattern from the repetition on that ended just now.
    repetition: Option<&'p str>,
}

/// What is known about the group that is being read.
#[derive(Clone, Copy, Default)]
struct Group {
    last: Option<Atom>,
    /// About how many states it has, and how often its most repeated part is repeated.
    weight: u64,
    copies: u64,
}

/// The part that a repetition would repeat.
#[derive(Clone, Copy)]
struct Atom {
    begins_at: usize,
    is_repeated: bool,
    weight: u64,
    copies: u64,
}

impl<'p> Translator<'p> {
    /// Translates the next part and returns what follows it.
    fn part(&mut self, rest: &'p str) -> Result<&'p str, PatternFault> {
        let repetition = self.repetition.take();
        let Some(first) = rest.chars().next() else { return Ok("") };
        let after = &rest[first.len_utf8()..];
        match first {
            '(' if after.starts_with('?') => return self.special_group(rest),
            '(' => self.open()?,
            ')' => self.close()?,
            '|' => {
                self.written.push('|');
                self.group.last = None;
            }
            '^' => self.atom(if self.flags.multi_line { "(?m:^)" } else { r"\A" }, 1),
            '$' => self.atom(if self.flags.multi_line { "(?m:$)" } else { r"\z" }, 1),
            '.' if self.flags.dot_matches_line_end => self.atom("(?s:.)", 8),
            '.' => self.atom(r"[^\n]", 8),
            '[' => {
                let class = class(rest, self.flags)?;
                self.atom(&class.text, class.weight);
                return Ok(class.rest);
            }
            '*' | '+' | '?' => {
                let written = &rest[..1];
                return self.repeat(written, Count::any(), rest, after, repetition);
            }
            '{' => match count(after) {
                Some((count, after)) => {
                    if !count.is_sensible() {
                        let excerpt = excerpt(rest, after);
                        return Err(PatternFault::new("invalid repeat count", excerpt));
                    }
                    return self.repeat(&count.written(), count, rest, after, repetition);
                }
                // Upstream: braces without counts are themselves.
                None => self.literal('{'),
            },
            '\\' => return self.escape(rest),
            other => self.literal(other),
        }
        Ok(after)
    }

    fn atom(&mut self, written: &str, weight: u64) {
        self.begin_atom(weight, 1);
        self.written.push_str(written);
    }

    fn begin_atom(&mut self, weight: u64, copies: u64) {
        let begins_at = self.written.len();
        self.group.last = Some(Atom { begins_at, is_repeated: false, weight, copies });
        self.group.weight = self.group.weight.saturating_add(weight);
        self.group.copies = self.group.copies.max(copies);
    }

    fn literal(&mut self, character: char) {
        self.begin_atom(1, 1);
        let code = u32::from(character);
        let _ = if self.flags.ignores_case {
            write!(self.written, r"(?i:\x{{{code:X}}})")
        } else {
            write!(self.written, r"\x{{{code:X}}}")
        };
    }

    /// Upstream: a code that is no character, half of a surrogate pair, matches nothing.
    fn code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(character) => self.literal(character),
            None => self.atom(r"[^\x{0}-\x{10FFFF}]", 1),
        }
    }

    fn open(&mut self) -> Result<(), PatternFault> {
        if self.outer.len() == MAX_PATTERN_NESTING {
            return Err(PatternFault::new("expression nests too deeply", self.pattern));
        }
        self.begin_atom(1, 1);
        self.outer.push((std::mem::take(&mut self.group), self.flags));
        self.written.push_str("(?:");
        Ok(())
    }

    fn close(&mut self) -> Result<(), PatternFault> {
        let Some((outer, flags)) = self.outer.pop() else {
            return Err(PatternFault::new("unexpected )", self.pattern));
        };
        self.written.push(')');
        let inner = std::mem::replace(&mut self.group, outer);
        self.flags = flags;
        self.group.weight = self.group.weight.saturating_add(inner.weight);
        self.group.copies = self.group.copies.max(inner.copies);
        if let Some(atom) = &mut self.group.last {
            atom.weight = inner.weight.saturating_add(1);
            atom.copies = inner.copies.max(1);
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        written: &str,
        count: Count,
        rest: &'p str,
        after: &'p str,
        repetition: Option<&'p str>,
    ) -> Result<&'p str, PatternFault> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(from) = repetition {
            let excerpt = excerpt(from, after);
            return Err(PatternFault::new("invalid nested repetition operator", excerpt));
        }
        let Some(atom) = self.group.last else {
            let excerpt = excerpt(rest, after);
            return Err(PatternFault::new("missing argument to repetition operator", excerpt));
        };
        let copies = match count.maximum {
            Some(0) => 1,
            _ => atom.copies.saturating_mul(count.factor()),
        };
        if copies > MAX_REPETITIONS {
            return Err(PatternFault::new("invalid repeat count", excerpt(rest, after)));
        }
        if atom.is_repeated {
            self.written.insert_str(atom.begins_at, "(?:");
            self.written.push(')');
        }
        self.written.push_str(written);
        let weight = atom.weight.saturating_mul(count.factor());
        self.group.weight = self.group.weight.saturating_add(weight);
        self.group.copies = self.group.copies.max(copies);
        self.group.last = Some(Atom { is_repeated: true, weight, copies, ..atom });
        self.repetition = Some(rest);
        Ok(after)
    }

    fn escape(&mut self, rest: &'p str) -> Result<&'p str, PatternFault> {
        let after = rest.get(2..);
        match rest.as_bytes().get(1) {
            Some(b'A') => self.atom(r"\A", 1),
            Some(b'z') => self.atom(r"\z", 1),
            Some(b'b') => self.atom(r"(?-u:\b)", 1),
            Some(b'B') => self.atom(r"(?-u:\B)", 1),
            Some(b'Q') => {
                let quoted = &rest[2..];
                let (quoted, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                quoted.chars().for_each(|character| self.literal(character));
                return Ok(after);
            }
            Some(b'p' | b'P') => {
                let class = unicode_class(rest, self.flags)?;
                self.atom(&class.text, class.weight);
                return Ok(class.rest);
            }
            Some(letter @ (b'd' | b'D' | b's' | b'S' | b'w' | b'W')) => {
                let class = perl_class(char::from(*letter), self.flags);
                self.atom(&class, PERL_CLASS_WEIGHT);
            }
            _ => {
                let (code, after) = escaped_code(rest)?;
                self.code(code);
                return Ok(after);
            }
        }
        Ok(after.unwrap_or_default())
    }

    /// Reads what begins with `(?`: a named group, a group with flags, or flags alone.
    fn special_group(&mut self, rest: &'p str) -> Result<&'p str, PatternFault> {
        // Upstream: what is too short to hold a name is read as flags.
        let named = (rest.strip_prefix("(?P<").filter(|name| !name.is_empty()))
            .or_else(|| rest.strip_prefix("(?<").filter(|name| !name.is_empty()));
        if let Some(name) = named {
            let Some((name, after)) = name.split_once('>') else {
                return Err(PatternFault::new("invalid named capture", rest));
            };
            let is_good = |character: char| character == '_' || character.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(is_good) {
                let excerpt = excerpt(rest, after);
                return Err(PatternFault::new("invalid named capture", excerpt));
            }
            self.open()?;
            return Ok(after);
        }
        let mut flags = self.flags;
        let mut is_negated = false;
        let mut has_flag = false;
        let mut characters = rest[2..].chars();
        for character in characters.by_ref() {
            match character {
                'i' => flags.ignores_case = !is_negated,
                'm' => flags.multi_line = !is_negated,
                's' => flags.dot_matches_line_end = !is_negated,
                'U' => (),
                '-' if !is_negated => {
                    (is_negated, has_flag) = (true, false);
                    continue;
                }
                ':' | ')' if !is_negated || has_flag => {
                    if character == ':' {
                        self.open()?;
                    }
                    self.flags = flags;
                    return Ok(characters.as_str());
                }
                _ => break,
            }
            has_flag = true;
        }
        let excerpt = excerpt(rest, characters.as_str());
        Err(PatternFault::new("invalid or unsupported Perl syntax", excerpt))
    }
}

/// How often a part is repeated.
#[derive(Clone, Copy)]
struct Count {
    minimum: u64,
    maximum: Option<u64>,
}

impl Count {
    fn any() -> Self {
        Self { minimum: 0, maximum: None }
    }

    fn is_sensible(self) -> bool {
        self.minimum <= MAX_REPETITIONS
            && self.maximum.is_none_or(|most| most <= MAX_REPETITIONS && self.minimum <= most)
    }

    /// Returns how many copies of the part are made.
    fn factor(self) -> u64 {
        self.maximum.unwrap_or(self.minimum).max(1)
    }

    fn written(self) -> String {
        match self.maximum {
            Some(maximum) => format!("{{{},{maximum}}}", self.minimum),
            None => format!("{{{},}}", self.minimum),
        }
    }
}

/// Reads `2}`, `2,}` or `2,3}`.
fn count(rest: &str) -> Option<(Count, &str)> {
    let (minimum, rest) = decimal(rest)?;
    let (maximum, rest) = match rest.strip_prefix(',') {
        None => (Some(minimum), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (maximum, rest) = decimal(rest)?;
            (Some(maximum), rest)
        }
    };
    Some((Count { minimum, maximum }, rest.strip_prefix('}')?))
}

fn decimal(rest: &str) -> Option<(u64, &str)> {
    let length = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(length);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}
