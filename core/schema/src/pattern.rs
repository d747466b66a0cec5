//! The patterns of schemas: Go's dialect of regular expressions, run by Rust's engine.
//!
//! Both engines work in linear time and share most of their syntax; where they differ, the pattern
//! is translated. What a pattern captures is of no interest here, only whether it matches.

mod class;
mod escape;
mod translate;

use std::{fmt, sync::OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use self::translate::translate;

/// Limits the bytes of one pattern. The longest pattern published in a catalog has about 500.
pub const MAX_PATTERN_LENGTH: usize = 32 * 1024;

/// Limits how deeply the groups of one pattern nest; the engine's own limit lies at four times this.
pub const MAX_PATTERN_NESTING: usize = 60;

/// Limits the memory of one prepared pattern. A thousand repetitions of any character fit.
pub const MAX_PATTERN_MEMORY: usize = 16 << 20;

/// Limits the memory that matching with one pattern may keep for speed.
const MAX_CACHE_MEMORY: usize = 512 << 10;

/// A pattern of a schema, prepared when it is first used.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    /// The pattern in Rust's dialect, or why Go would refuse it.
    translated: Result<String, PatternFault>,
    weight: u64,
    prepared: OnceLock<Result<Regex, PatternFault>>,
}

/// Says in Go's words why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternFault {
    pub(crate) problem: &'static str,
    pub(crate) excerpt: String,
}

impl PatternFault {
    pub(crate) fn new(problem: &'static str, excerpt: &str) -> Self {
        Self { problem, excerpt: excerpt.to_owned() }
    }
}

impl fmt::Display for PatternFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error parsing regexp: {}: `{}`", self.problem, self.excerpt)
    }
}

impl Pattern {
    /// Reads a pattern; a bad one is kept, because values are judged by it all the same.
    pub(crate) fn new(text: &str) -> Self {
        let (translated, weight) = match translate(text) {
            Ok(translation) => (Ok(translation.text), translation.weight),
            Err(fault) => (Err(fault), 1),
        };
        Self { text: text.to_owned(), translated, weight, prepared: OnceLock::new() }
    }

    /// Returns the pattern as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns about how many states the prepared pattern has.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Tells whether a text matches, or why the pattern is none.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, &PatternFault> {
        let prepared = self.prepared.get_or_init(|| self.prepare());
        prepared.as_ref().map(|regex| regex.is_match(text.as_bytes()))
    }

    /// Says why the pattern is none.
    pub(crate) fn fault(&self) -> Option<&PatternFault> {
        self.translated.as_ref().err()
    }

    fn prepare(&self) -> Result<Regex, PatternFault> {
        let translated = self.translated.clone()?;
        RegexBuilder::new(&translated)
            .size_limit(MAX_PATTERN_MEMORY)
            .dfa_size_limit(MAX_CACHE_MEMORY)
            .build()
            .map_err(|_| PatternFault::new("expression too large", &self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    /// Each claim was checked with Go 1.26.
    #[test]
    fn go_patterns_match_as_in_go() {
        let claims = [
            ("^[a-c]+$", "abc", true),
            (r"^\d+$", "١", false),
            (r"^\w+$", "é", false),
            (r"^[^\d]$", "١", true),
            (r"^\s$", "\u{b}", false),
            (r"a\b", "aé", true),
            (r"^\Q.*\E$", ".*", true),
            (r"^\Q.*\E$", "ab", false),
            ("^a{,2}$", "a{,2}", true),
            ("^a{2,3}$", "aaaa", false),
            ("a$", "a\n", false),
            ("(?m)a$", "a\nb", true),
            ("^.$", "\n", false),
            ("(?s)^.$", "\n", true),
            ("^(?i)STRASSE$", "Strasse", true),
            ("^(?i:k)$", "\u{212a}", true),
            ("^[[:alpha:]]$", "x", true),
            ("^[[]$", "[", true),
            ("^[a&&b]$", "&", true),
            ("^[]a]$", "]", true),
            ("^[^]a]$", "b", true),
            ("^[a-]$", "-", true),
            (r"^\<$", "<", true),
            (r"^\x41\x{1F600}\101$", "A😀A", true),
            (r"^\p{Greek}\pL\P{Lu}\p{^Lu}$", "αbcd", true),
            ("^(?P<a>x)(?<a>y)$", "xy", true),
            ("^a(?i)*$", "aaa", true),
            ("(|a)+$", "b", true),
            ("^[^\\x00-\\x{10FFFF}]$", "x", false),
            ("^*a", "a", true),
        ];
        for (pattern, text, expected) in claims {
            let pattern = Pattern::new(pattern);
            assert_eq!(pattern.is_match(text), Ok(expected), "{} on {text:?}", pattern.text());
        }
    }

    /// Each claim was checked with Go 1.26.
    #[test]
    fn faults_are_told_in_the_words_of_go() {
        let claims = [
            ("[", "missing closing ]: `[`"),
            ("a[b", "missing closing ]: `[b`"),
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|*", "missing argument to repetition operator: `*`"),
            ("(+)", "missing argument to repetition operator: `+`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a*{2}", "invalid nested repetition operator: `*{2}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{3,2}", "invalid repeat count: `{3,2}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            (r"a\", "trailing backslash at end of expression: ``"),
            (r"\8", r"invalid escape sequence: `\8`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\y", r"invalid escape sequence: `\y`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("x(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
            ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
            ("(?P<n", "invalid named capture: `(?P<n`"),
            ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
        ];
        for (text, expected) in claims {
            let pattern = Pattern::new(text);
            let fault = pattern.fault().map(ToString::to_string);
            assert_eq!(fault, Some(format!("error parsing regexp: {expected}")), "{text}");
            assert!(pattern.is_match("x").is_err());
        }
    }

    #[test]
    fn huge_patterns_are_refused_or_bounded() {
        let repeated = "x".repeat(super::MAX_PATTERN_LENGTH + 1);
        let nested = "(".repeat(100) + &")".repeat(100);
        for text in [repeated.as_str(), nested.as_str(), r"(\pL\pN){500}\pS{1000}"] {
            assert!(Pattern::new(text).is_match("x").is_err());
        }
        assert!(Pattern::new("^.{0,1000}$").is_match("x").is_ok());
    }
}
