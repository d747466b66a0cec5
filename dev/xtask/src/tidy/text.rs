//! Rules for the text of every file, whatever it holds.
//!
//! Recorded output and test data are exempt from rules about white space: there the bytes are the
//! point.

use super::{Findings, Violation};

/// The largest file that is kept: data that is larger is generated, or lies beside the repository.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// Marks of unfinished work, in whole words.
const UNFINISHED: &[&str] = &["TODO", "FIXME", "XXX"];

/// Words that may not be written in the repository, each with what to write instead.
const FORBIDDEN_WORDS: &[(&str, &str)] = &[];

/// Files whose text is data: somebody else's words may be in it.
const DATA_SUFFIXES: &[&str] =
    &[".json", ".jsonl", ".lock", ".snap", ".svg", ".txt", ".yaml", ".yml"];

/// Refuses files that are too large to keep.
pub(crate) fn check_size(path: &str, bytes: usize, findings: &mut Findings) {
    if bytes > MAX_FILE_BYTES {
        let kibibytes = bytes / 1024;
        let limit = MAX_FILE_BYTES / 1024;
        findings.violations.push(Violation {
            path: path.to_owned(),
            line: 1,
            rule: "file-size",
            advice: format!("{kibibytes} KiB, limit {limit} KiB: generate it, or keep it outside"),
        });
    }
}

/// Checks white space and words.
pub(crate) fn check(path: &str, text: &str, findings: &mut Findings) {
    let mut report = |line: usize, rule: &'static str, advice: String| {
        findings.violations.push(Violation { path: path.to_owned(), line, rule, advice });
    };
    if !is_exact(path) {
        for (index, line) in text.lines().enumerate() {
            if line.ends_with([' ', '\t']) {
                report(index + 1, "trailing-space", "remove the blanks at the end".to_owned());
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            let line = text.lines().count();
            report(line, "final-newline", "end the file with a line break".to_owned());
        }
    }
    if DATA_SUFFIXES.iter().any(|suffix| path.ends_with(suffix)) {
        return;
    }
    for (index, line) in text.lines().enumerate() {
        for (word, instead) in FORBIDDEN_WORDS {
            if has_word(line, word) {
                report(index + 1, "word", format!("do not write `{word}`: {instead}"));
            }
        }
        // Rust is looked at by `source`, which tells comments from strings.
        if path.ends_with(".rs") {
            continue;
        }
        if let Some(word) = unfinished(&without_code_spans(path, line)) {
            report(index + 1, "unfinished", unfinished_advice(word));
        }
    }
}

/// Returns the first mark of unfinished work in a text.
pub(crate) fn unfinished(text: &str) -> Option<&'static str> {
    UNFINISHED.iter().find(|word| has_word(text, word)).copied()
}

/// Says what to do about a mark of unfinished work.
pub(crate) fn unfinished_advice(word: &str) -> String {
    format!("finish what `{word}` marks, or write it down in the tracker and remove the mark")
}

/// Tells whether a text holds a word that is not part of a longer one.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    find_word(text, word, 0).is_some()
}

/// Returns the offset of the first whole word at or behind `from`.
pub(crate) fn find_word(text: &str, word: &str, from: usize) -> Option<usize> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut start = from;
    while let Some(found) = text.get(start..)?.find(word) {
        let (begin, end) = (start + found, start + found + word.len());
        let is_whole = !text[..begin].ends_with(is_part) && !text[end..].starts_with(is_part);
        if is_whole {
            return Some(begin);
        }
        start = end;
    }
    None
}

/// Recorded output and fixtures are compared byte for byte.
fn is_exact(path: &str) -> bool {
    path.ends_with(".snap") || path.contains("/fixtures/") || path.contains("/snapshots/")
}

/// A page may speak about a mark between backticks without bearing it.
fn without_code_spans(path: &str, line: &str) -> String {
    if !path.ends_with(".md") {
        return line.to_owned();
    }
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path, its text, and the lines and rules that are broken.
    type Case = (&'static str, &'static str, &'static [(usize, &'static str)]);

    fn found(path: &str, text: &str) -> Vec<(usize, &'static str)> {
        let mut findings = Findings::default();
        check(path, text, &mut findings);
        findings.violations.iter().map(|violation| (violation.line, violation.rule)).collect()
    }

    #[test]
    fn white_space_and_marks_are_found_at_their_line() {
        let cases: &[Case] = &[
            ("docs/a.md", "clean\n", &[]),
            ("docs/a.md", "", &[]),
            ("docs/a.md", "one\ntwo \nthree\t\n", &[(2, "trailing-space"), (3, "trailing-space")]),
            ("docs/a.md", "one\ntwo", &[(2, "final-newline")]),
            ("core/a/tests/fixtures/odd.yaml", "a: 1 ", &[]),
            ("docs/a.md", "tidy refuses `TODO`\n", &[]),
            ("docs/a.md", "TODO: write\n", &[(1, "unfinished")]),
            ("Cargo.toml", "# `FIXME` later\n", &[(1, "unfinished")]),
            ("Cargo.toml", "a = \"TODOS\"\n", &[]),
            ("examples/a.yaml", "description: TODO\n", &[]),
        ];
        for (path, text, expected) in cases {
            assert_eq!(found(path, text), *expected, "{path}: {text:?}");
        }
    }

    #[test]
    fn the_limit_of_size_is_exact() {
        for (bytes, violations) in [(MAX_FILE_BYTES, 0), (MAX_FILE_BYTES + 1, 1)] {
            let mut findings = Findings::default();
            check_size("a.bin", bytes, &mut findings);
            assert_eq!(findings.violations.len(), violations, "{bytes}");
        }
    }

    #[test]
    fn words_are_whole() {
        let cases = [
            ("unsafe { }", Some(0)),
            ("unsafe_code", None),
            ("not unsafe", Some(4)),
            ("unsafe_code unsafe", Some(12)),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(find_word(text, "unsafe", 0), expected, "{text}");
        }
    }
}
