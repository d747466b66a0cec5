//! Snippets, where they stand, and the rules they break.

use super::*;

/// A path, a snippet behind a header, and the lines and rules that are broken.
type Case = (&'static str, &'static str, &'static [(usize, &'static str)]);

fn found(path: &str, text: &str) -> Vec<(usize, &'static str)> {
    let mut findings = Findings::default();
    check(path, text, &mut findings);
    findings.violations.sort();
    findings.violations.iter().map(|violation| (violation.line, violation.rule)).collect()
}

const CORE: &str = "core/version/src/a.rs";
const WIRE: &str = "wire/fbc/src/a.rs";
const SHELL: &str = "shell/image/src/a.rs";
const DEV: &str = "dev/xtask/src/a.rs";
const TEST: &str = "core/version/tests/a.rs";

#[test]
fn snippets_break_the_rules_of_their_ring() {
    let cases: &[Case] = &[
        (SHELL, "let a = b.unwrap();", &[(2, "unwrap")]),
        (SHELL, "let a = b.unwrap_or(1); // .unwrap()", &[]),
        (DEV, "let a = b.unwrap();", &[]),
        (TEST, "let a = b.unwrap();", &[]),
        (SHELL, "#[cfg(test)]\nmod tests { fn a() { b.unwrap(); } }", &[]),
        (SHELL, "panic!(\"no\");", &[(2, "panic")]),
        (SHELL, "my_panic!(\"no\"); let a = \"panic!(\";", &[]),
        (CORE, "todo!()", &[(2, "unfinished")]),
        (TEST, "unimplemented!()", &[(2, "unfinished")]),
        (TEST, "dbg!(a);", &[(2, "debugging")]),
        (CORE, "println!(\"a\");", &[(2, "printing")]),
        (WIRE, "eprintln!(\"a\");", &[(2, "printing")]),
        (DEV, "println!(\"a\");", &[]),
        (SHELL, "a.expect(\"must work\");", &[(2, "expect")]),
        (SHELL, "a.expect(\"bug: the list is never empty\");", &[]),
        (SHELL, "a.expect(\n    \"bug: the list is never empty\",\n);", &[]),
        (SHELL, "a.expect(\n    \"must work\",\n);", &[(2, "expect")]),
        (SHELL, "parser.expect(Token::Comma)?;", &[]),
        (CORE, "#[allow(dead_code)]\nfn a() {}", &[(2, "allow")]),
        (TEST, "#[test]\n#[ignore = \"slow\"]\nfn a() {}", &[(3, "ignored-test")]),
        (CORE, "unsafe { a() }", &[(2, "unsafe")]),
        (CORE, "#![deny(unsafe_code)] // unsafe", &[]),
        (UNSAFE_FILE, "unsafe { a() }", &[]),
        (CORE, "// TODO later", &[(2, "unfinished")]),
        (TEST, "/* a\n FIXME */", &[(3, "unfinished")]),
        (CORE, "let a = \"TODO\";", &[]),
    ];
    for (path, text, expected) in cases {
        let text = format!("//! A snippet.\n{text}\n");
        assert_eq!(found(path, &text), *expected, "{path}: {text}");
    }
}

#[test]
fn only_one_module_prints() {
    const BIN: &str = "bin/operon/src/get.rs";
    let broken: &[(usize, &str)] = &[(2, "printing")];
    let cases: &[Case] = &[
        (SHELL, "println!(\"a\");", broken),
        (BIN, "eprint!(\"a\");", broken),
        (BIN, "anstream::eprint!(\"a\");", &[(2, "printing"), (2, "printing")]),
        (BIN, "use anstream::AutoStream;", broken),
        (BIN, "use std::io::{self, stdout};", broken),
        (BIN, "use std::io as streams; streams::stderr().lock();", broken),
        (SHELL, "writeln!(std::io::stderr().lock(), \"a\")?;", broken),
        (BIN, "fn a(out: io::StdoutLock<'_>) {}", broken),
        (BIN, "use std::io::*;", broken),
        (BIN, "use indicatif::{HumanBytes, ProgressBar};", broken),
        (BIN, "use indicatif::HumanBytes; stderr_line!(\"a\");", &[]),
        (BIN, "Command::new(\"a\").stdout(Stdio::piped()); child.stdout.take();", &[]),
        (BIN, "#[cfg(test)]\nmod tests { fn a() { println!(); } }", &[]),
        ("bin/operon/src/output/stdio.rs", "io::stdout().lock();", &[]),
        ("bin/operon/src/output/progress.rs", "use indicatif::ProgressBar;", &[]),
        ("bin/operon/src/output/progress.rs", "println!();", broken),
        ("bin/operon/tests/cli/a.rs", "println!();", &[]),
        ("shell/registry/examples/a.rs", "println!();", &[]),
        ("shell/registry/build.rs", "println!(\"cargo::rerun-if-changed=a\");", &[]),
    ];
    for (path, text, expected) in cases {
        let text = format!("//! A snippet.\n{text}\n");
        assert_eq!(found(path, &text), *expected, "{path}: {text}");
    }
}

#[test]
fn inner_rings_know_no_outside_world() {
    let cases: &[Case] = &[
        (CORE, "use std::{\n    collections::BTreeMap,\n    fs,\n};", &[(4, "outside-world")]),
        (CORE, "use serde::Serialize;", &[(2, "outside-world")]),
        (CORE, "let a = std::env::var(\"A\");", &[(2, "outside-world")]),
        (CORE, "use std::time::Duration;", &[]),
        (CORE, "use std::time::{Duration, Instant};", &[(2, "outside-world")]),
        (CORE, "use std::time;", &[(2, "outside-world")]),
        (CORE, "use std::time::*;", &[(2, "outside-world")]),
        (CORE, "use std::collections::*;", &[]),
        (CORE, "use operon_version::Version; let rand = 1;", &[]),
        (CORE, "#[cfg(test)]\nmod tests { use std::fs; }", &[]),
        (TEST, "use std::fs;", &[]),
        (WIRE, "use std::net::IpAddr;", &[(2, "outside-world")]),
        (WIRE, "use serde::Serialize;", &[]),
        (SHELL, "use std::fs;", &[]),
    ];
    for (path, text, expected) in cases {
        let text = format!("//! A snippet.\n{text}\n");
        assert_eq!(found(path, &text), *expected, "{path}: {text}");
    }
}

#[test]
fn shapes_have_limits() {
    assert_eq!(found(CORE, "fn a() {}\n"), [(1, "header")]);
    assert_eq!(found(TEST, "fn a() {}\n"), []);
    let longest = format!("//! Long.\n{}", "\n".repeat(MAX_FILE_LINES - 1));
    assert_eq!(found(CORE, &longest), []);
    assert_eq!(found(CORE, &format!("{longest}\n")), [(MAX_FILE_LINES + 1, "file-length")]);
    for (lines, notes, violations) in [(80, 0, 0), (81, 1, 0), (100, 1, 0), (101, 0, 1)] {
        let text = format!("//! Long.\nfn a() {{\n{}}}\n", "b();\n".repeat(lines - 2));
        let mut findings = Findings::default();
        check(CORE, &text, &mut findings);
        assert_eq!(findings.notes.len(), notes, "notes at {lines}");
        assert_eq!(findings.violations.len(), violations, "violations at {lines}");
    }
}
