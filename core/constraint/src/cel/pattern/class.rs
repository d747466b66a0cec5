//! Character classes and escapes of patterns.
//!
//! Classes are not computed here, only spelled out for the engine.

use std::fmt::Write;

use regex::RegexBuilder;

use super::{PatternFault, Translated, Translator};

/// The names that may stand in `[[:name:]]`.
const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

impl<'a> Translator<'a> {
    /// Translates `[…]`.
    pub(super) fn class(&mut self) -> Translated<'a, ()> {
        let start = self.position;
        self.position += 1;
        let negated = self.rest().starts_with('^');
        self.position += usize::from(negated);
        let mut items = String::new();
        let mut first = true;
        while first || !self.rest().starts_with(']') {
            first = false;
            if !self.class_item(&mut items)? {
                self.position = self.pattern.len();
                return Err(self.fault("missing closing ]", start));
            }
        }
        self.position += 1;
        let class = match (negated, items.is_empty()) {
            (false, true) => "[a&&b]".to_owned(),
            (true, true) => "(?s:.)".to_owned(),
            (false, false) => format!("[{items}]"),
            (true, false) => format!("[^{items}]"),
        };
        self.push_folded(&class);
        Ok(())
    }

    /// Translates one item of a class; returns false if the class is not closed.
    fn class_item(&mut self, items: &mut String) -> Translated<'a, bool> {
        let text = self.rest();
        if text.starts_with("[:")
            && self.position < self.last_named_class_end
            && let Some(end) = text[2..].find(":]")
        {
            return self.named_class(&text[2..end + 2], items).map(|()| true);
        }
        let escape = text.strip_prefix('\\').and_then(|rest| rest.bytes().next());
        if let Some(b'p' | b'P' | b'd' | b'D' | b's' | b'S' | b'w' | b'W') = escape {
            items.push_str(&self.escaped_class()?);
            return Ok(true);
        }
        let range_start = self.position;
        let Some(low) = self.class_character()? else {
            return Ok(false);
        };
        let mut high = low;
        let rest = self.rest().as_bytes();
        if rest.len() >= 2 && rest[0] == b'-' && rest[1] != b']' {
            self.position += 1;
            match self.class_character()? {
                Some(end) => high = end,
                None => return Ok(false),
            }
            if high < low {
                return Err(self.fault("invalid character class range", range_start));
            }
        }
        push_range(items, low, high);
        Ok(true)
    }

    fn class_character(&mut self) -> Translated<'a, Option<u32>> {
        match self.rest().chars().next() {
            None => Ok(None),
            Some('\\') => self.escaped_character().map(Some),
            Some(character) => {
                self.position += character.len_utf8();
                Ok(Some(u32::from(character)))
            }
        }
    }

    fn named_class(&mut self, name: &str, items: &mut String) -> Translated<'a, ()> {
        let start = self.position;
        self.position += name.len() + 4;
        let plain = name.strip_prefix('^').unwrap_or(name);
        if !NAMED.contains(&plain) {
            return Err(self.fault("invalid character class range", start));
        }
        let _ = write!(items, "[:{name}:]");
        Ok(())
    }

    /// Translates `\d`, `\PL` or `\p{Greek}` to something that may stand inside brackets.
    pub(super) fn escaped_class(&mut self) -> Translated<'a, String> {
        let start = self.position;
        let letter = self.rest().as_bytes()[1];
        self.position += 2;
        let class = match letter {
            b'd' => "0-9",
            b'D' => "[^0-9]",
            b's' => r"\t\n\x{C}\r\x20",
            b'S' => r"[^\t\n\x{C}\r\x20]",
            b'w' => "0-9A-Za-z_",
            b'W' => "[^0-9A-Za-z_]",
            _ => return self.unicode_class(start, letter == b'P'),
        };
        Ok(class.to_owned())
    }

    fn unicode_class(&mut self, start: usize, negated: bool) -> Translated<'a, String> {
        let text = self.rest();
        let name = match text.chars().next() {
            Some('{') => {
                let Some(end) = text.find('}') else {
                    self.position = self.pattern.len();
                    return Err(self.fault("invalid character class range", start));
                };
                self.position += end + 1;
                &text[1..end]
            }
            Some(letter) => {
                self.position += letter.len_utf8();
                &text[..letter.len_utf8()]
            }
            None => return Err(self.fault("invalid character class range", start)),
        };
        let plain = name.strip_prefix('^').unwrap_or(name);
        let negated = negated != (plain.len() < name.len());
        let known = self.unicode_sets.entry(plain);
        let Some(class) = known.or_insert_with(|| unicode_set(plain)) else {
            return Err(self.fault("invalid character class range", start));
        };
        Ok(if negated { format!("[^{class}]") } else { format!("[{class}]") })
    }

    /// Reads `\n`, `\x41`, `\101` or a backslash before punctuation.
    pub(super) fn escaped_character(&mut self) -> Translated<'a, u32> {
        let start = self.position;
        self.position += 1;
        let Some(character) = self.rest().chars().next() else {
            return Err(PatternFault {
                text: "trailing backslash at end of expression",
                excerpt: "",
            });
        };
        self.position += character.len_utf8();
        let code = match character {
            'a' => Some(7),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            'x' => self.hexadecimal(),
            '0'..='7' => self.octal(character),
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Some(u32::from(other)),
            _ => None,
        };
        code.ok_or_else(|| self.fault("invalid escape sequence", start))
    }

    /// A single digit other than zero would be a back reference, which does not exist.
    fn octal(&mut self, first: char) -> Option<u32> {
        let digits =
            self.rest().bytes().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        if digits == 0 && first != '0' {
            return None;
        }
        let text = &self.pattern[self.position - 1..self.position + digits];
        self.position += digits;
        u32::from_str_radix(text, 8).ok()
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let text = self.rest();
        let (digits, length) = match text.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}')?;
                (&inner[..end], end + 2)
            }
            None => (text.get(..2)?, 2),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !plain {
            return None;
        }
        self.position += length;
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return Some(0);
        }
        u32::from_str_radix(significant, 16).ok().filter(|code| *code <= u32::from(char::MAX))
    }
}

/// Writes a range without surrogates, which no text contains.
fn push_range(items: &mut String, low: u32, high: u32) {
    let low = if (0xd800..=0xdfff).contains(&low) { 0xe000 } else { low };
    let high = if (0xd800..=0xdfff).contains(&high) { 0xd7ff } else { high };
    if low <= high {
        let _ = write!(items, r"\x{{{low:X}}}-\x{{{high:X}}}");
    }
}

/// Returns the set of a general category or script.
fn unicode_set(name: &str) -> Option<String> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"_- ".contains(&byte);
    if name.is_empty() || !name.bytes().all(good) {
        return None;
    }
    let compact: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match compact.as_str() {
        "any" => return Some(r"\x{0}-\x{10FFFF}".to_owned()),
        "ascii" => return Some(r"\x{0}-\x{7F}".to_owned()),
        "assigned" => return Some(r"\P{gc=Cn}".to_owned()),
        _ => {}
    }
    let candidates = [format!(r"\p{{gc={compact}}}"), format!(r"\p{{sc={compact}}}")];
    // With no room for the result only the name is looked at.
    let exists = |candidate: &String| {
        let built = RegexBuilder::new(candidate).size_limit(0).build();
        !matches!(built, Err(regex::Error::Syntax(_)))
    };
    candidates.into_iter().find(exists)
}
