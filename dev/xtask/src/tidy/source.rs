//! Rules for Rust sources: what may be written in which ring.
//!
//! Clippy refuses some of this too; here the rule holds even where a crate forgets to ask Clippy,
//! and the message says what to do in this house.

mod printing;

use super::{
    Findings, Violation,
    paths::named_paths,
    regions::{functions, test_regions},
    rings::Ring,
    scan::Scanned,
    text::{find_word, unfinished, unfinished_advice},
};

/// The longest file that is kept.
const MAX_FILE_LINES: usize = 500;

/// Functions longer than this are listed, so that they do not grow unseen.
const LONG_FUNCTION_LINES: usize = 80;

/// The longest function that is kept.
const MAX_FUNCTION_LINES: usize = 100;

/// The one file that may map memory.
const UNSAFE_FILE: &str = "shell/image/src/mapping.rs";

/// Where a ban holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// In every file, tests included.
    Everywhere,
    /// In what is shipped: not in tests, not in the tools of development.
    Product,
}

/// Text that may not be written, with what to do instead.
struct Ban {
    rule: &'static str,
    text: &'static str,
    scope: Scope,
    advice: &'static str,
}

const fn ban(rule: &'static str, text: &'static str, scope: Scope, advice: &'static str) -> Ban {
    Ban { rule, text, scope, advice }
}

const UNFINISHED_MACRO: &str = "finish it before it is handed over";

const BANS: &[Ban] = &[
    ban("unfinished", "todo!", Scope::Everywhere, UNFINISHED_MACRO),
    ban("unfinished", "unimplemented!", Scope::Everywhere, UNFINISHED_MACRO),
    ban("debugging", "dbg!", Scope::Everywhere, "remove it"),
    ban("unwrap", ".unwrap()", Scope::Product, "return an error, or `.expect(\"bug: …\")`"),
    ban("panic", "panic!", Scope::Product, "return an error; bad input never panics"),
    ban("allow", "#[allow", Scope::Everywhere, "use `#[expect(lint, reason = \"…\")]`"),
    ban("allow", "#![allow", Scope::Everywhere, "use `#![expect(lint, reason = \"…\")]`"),
    ban("ignored-test", "#[ignore", Scope::Everywhere, "assert what happens today, and say so"),
];

/// Paths that core may not name: it knows no outside world.
const CORE_PATHS: &[&str] = &[
    "rand",
    "serde",
    "serde_json",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
    "tracing",
];

/// Paths that wire may not name: it turns bytes into values and does not fetch them.
const WIRE_PATHS: &[&str] = &["std::env", "std::fs", "std::net", "std::process"];

/// Checks one source file.
pub(crate) fn check(path: &str, text: &str, findings: &mut Findings) {
    let scanned = Scanned::new(text);
    let file = SourceFile::new(path, &scanned);
    let mut violations = Vec::new();
    check_shape(&file, &mut violations);
    check_bans(&file, &mut violations);
    printing::check(&file, &mut violations);
    check_expectations(&file, &mut violations);
    check_unsafe(&file, &mut violations);
    check_unfinished(&file, &mut violations);
    check_paths(&file, &mut violations);
    check_functions(&file, &mut violations, &mut findings.notes);
    findings.violations.append(&mut violations);
}

struct SourceFile<'f> {
    path: &'f str,
    scanned: &'f Scanned<'f>,
    ring: Option<Ring>,
    is_test_file: bool,
    test_regions: Vec<std::ops::Range<usize>>,
}

impl<'f> SourceFile<'f> {
    fn new(path: &'f str, scanned: &'f Scanned<'f>) -> Self {
        let parts: Vec<&str> = path.split('/').collect();
        let is_test_part = |part: &&str| matches!(*part, "tests" | "benches" | "fuzz" | "tests.rs");
        Self {
            path,
            scanned,
            ring: parts.first().and_then(|folder| Ring::of_folder(folder)),
            is_test_file: parts.iter().any(is_test_part),
            test_regions: test_regions(scanned),
        }
    }

    fn violation(&self, offset: usize, rule: &'static str, advice: String) -> Violation {
        Violation { path: self.path.to_owned(), line: self.scanned.line_of(offset), rule, advice }
    }

    fn is_shipped(&self, offset: usize) -> bool {
        let is_inside = |region: &std::ops::Range<usize>| region.contains(&offset);
        let is_product = self.ring.is_some_and(|ring| ring != Ring::Dev);
        is_product && !self.is_test_file && !self.test_regions.iter().any(is_inside)
    }

    fn is_in_scope(&self, offset: usize, scope: Scope) -> bool {
        match scope {
            Scope::Everywhere => true,
            Scope::Product => self.is_shipped(offset),
        }
    }
}

fn check_shape(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    let lines = file.scanned.text.lines().count();
    if lines > MAX_FILE_LINES {
        let advice = format!("{lines} lines, limit {MAX_FILE_LINES}: one idea per file");
        violations.push(Violation {
            path: file.path.to_owned(),
            line: MAX_FILE_LINES + 1,
            rule: "file-length",
            advice,
        });
    }
    if file.path.contains("/src/") && !file.scanned.text.starts_with("//!") {
        let advice = "begin with a `//!` paragraph: what it is for, what it does not do";
        violations.push(file.violation(0, "header", advice.to_owned()));
    }
}

fn check_bans(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    let code = &file.scanned.code;
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    for ban in BANS {
        for (offset, _) in code.match_indices(ban.text) {
            let is_part_of_longer =
                ban.text.starts_with(is_part) && code[..offset].ends_with(is_part);
            if !is_part_of_longer && file.is_in_scope(offset, ban.scope) {
                let advice = format!("`{}`: {}", ban.text, ban.advice);
                violations.push(file.violation(offset, ban.rule, advice));
            }
        }
    }
}

/// An expectation states the invariant that would have to be broken, as a bug of ours.
fn check_expectations(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    const CALL: &str = ".expect(";
    for (offset, _) in file.scanned.code.match_indices(CALL) {
        let argument = file.scanned.text[offset + CALL.len()..].trim_start();
        // Anything but a literal is a function of ours that happens to have this name.
        let Some(message) = argument.strip_prefix('"') else {
            continue;
        };
        if !message.starts_with("bug:") && file.is_shipped(offset) {
            let advice = "state the invariant: `.expect(\"bug: …\")`, or return an error";
            violations.push(file.violation(offset, "expect", advice.to_owned()));
        }
    }
}

fn check_unsafe(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    if file.path == UNSAFE_FILE {
        return;
    }
    let mut from = 0;
    while let Some(offset) = find_word(&file.scanned.code, "unsafe", from) {
        let advice = format!("find a safe way; only `{UNSAFE_FILE}` may do without");
        violations.push(file.violation(offset, "unsafe", advice));
        from = offset + "unsafe".len();
    }
}

fn check_unfinished(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    let lines = file.scanned.comments.lines().zip(file.scanned.code.lines());
    for (index, (comment, code)) in lines.enumerate() {
        if let Some(word) = unfinished(comment).or_else(|| unfinished(code)) {
            violations.push(Violation {
                path: file.path.to_owned(),
                line: index + 1,
                rule: "unfinished",
                advice: unfinished_advice(word),
            });
        }
    }
}

fn check_paths(file: &SourceFile<'_>, violations: &mut Vec<Violation>) {
    let (banned, reason) = match file.ring {
        Some(Ring::Core) => (CORE_PATHS, "core has no outside world: take it as an argument"),
        Some(Ring::Wire) => (WIRE_PATHS, "wire turns bytes into values: let the shell fetch them"),
        Some(Ring::Shell | Ring::Bin | Ring::Dev) | None => return,
    };
    for named in named_paths(file.scanned) {
        let is_banned = banned.iter().any(|banned| names(&named.path, banned));
        if is_banned && file.is_shipped(named.offset) {
            let advice = format!("`{}`: {reason}", named.path);
            violations.push(file.violation(named.offset, "outside-world", advice));
        }
    }
}

/// Tells whether a path names a banned one, something inside it, or a module that contains it.
fn names(path: &str, banned: &str) -> bool {
    let is_inside = |inner: &str, outer: &str| {
        inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with("::"))
    };
    let module = path.strip_suffix("::*").unwrap_or(path);
    let opens_it = path.ends_with("::*") || path == "std::time";
    is_inside(path, banned) || (opens_it && is_inside(banned, module))
}

fn check_functions(
    file: &SourceFile<'_>,
    violations: &mut Vec<Violation>,
    notes: &mut Vec<Violation>,
) {
    let is_dev_code = |offset: usize| {
        file.ring == Some(Ring::Dev)
            && !file.is_test_file
            && !file.test_regions.iter().any(|region| region.contains(&offset))
    };
    for function in functions(file.scanned) {
        // Tables of claims may be as long as they need to be.
        let is_measured = file.is_shipped(function.start) || is_dev_code(function.start);
        if !is_measured || function.lines <= LONG_FUNCTION_LINES {
            continue;
        }
        let target =
            if function.lines > MAX_FUNCTION_LINES { &mut *violations } else { &mut *notes };
        target.push(Violation {
            path: file.path.to_owned(),
            line: function.line,
            rule: "function-length",
            advice: format!(
                "`{}` has {} lines: branch in the parent, work in the leaves; limit {MAX_FUNCTION_LINES}",
                function.name, function.lines
            ),
        });
    }
}

#[cfg(test)]
mod tests;
