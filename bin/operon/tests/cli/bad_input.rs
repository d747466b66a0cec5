//! Bad input: a clear finding and exit code 1, in bounded time and memory, never a panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// More address space than this is never needed, however bad the input: four gibibytes.
const MEMORY_LIMIT_KIB: u64 = 4 << 20;

/// No input of this suite takes longer than this, even unoptimised on a busy machine.
const SECONDS: u64 = 120;

/// Validates a catalog in a process whose memory and processor time are limited.
fn validate(catalog: &Path) -> Output {
    let cache = TempDir::new().unwrap();
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -v {MEMORY_LIMIT_KIB}; ulimit -t {SECONDS}; exec \"$0\" catalog validate \"$1\""
        ))
        .arg(env!("CARGO_BIN_EXE_operon"))
        .arg(catalog)
        .env("OPERON_CACHE_DIR", cache.path())
        .output()
        .unwrap()
}

/// Checks that a catalog of one file is refused with a message, pointing at a place.
#[track_caller]
fn refused(what: &str, content: &[u8], message: &str) {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("catalog.yaml"), content).unwrap();
    expect_refusal(what, &validate(directory.path()), message);
}

#[track_caller]
fn expect_refusal(what: &str, output: &Output, message: &str) {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let shown: String = printed.chars().take(2000).collect();
    assert_eq!(output.status.code(), Some(1), "{what}: exit code 1\n{shown}");
    assert!(printed.contains(message), "{what}: {message:?} is said\n{shown}");
    assert!(!printed.contains("panicked"), "{what}: no panic\n{shown}");
}

const PACKAGE: &str = "schema: olm.package\nname: foo\ndefaultChannel: stable\n";

#[test]
fn texts_that_are_not_documents() {
    refused(
        "a truncated file",
        b"{\"schema\": \"olm.package\", \"name\": \"fo",
        "string is not closed",
    );
    refused("invalid UTF-8", b"schema: olm.package\nname: \xff\xfe\n", "this is not YAML");
    let number = b"{\"schema\":\"x\"}{\"schema\":\"x\"}{\"schema\":\"x\",\"n\":1e999999}";
    refused("a gigantic number", number, "too large");
    refused("a binary file", &[0, 159, 146, 150, 0, 0, 1, 2, 3], "this is not YAML");
    refused("duplicate keys", b"{\"schema\": \"x\", \"Schema\": \"y\"}", "differ only in case");
    refused(
        "100,000 brackets",
        ("a: ".to_owned() + &"[".repeat(100_000)).as_bytes(),
        "this is not YAML",
    );
    refused("100,000 braces", "{\"a\":".repeat(100_000).as_bytes(), "deeper than 10000");
    let bomb: String = (0..9)
        .map(|level: u8| {
            let (name, below) = ((b'a' + level) as char, (b'a' + level.saturating_sub(1)) as char);
            let items = if level == 0 { "x,".repeat(9) } else { format!("*{below},").repeat(9) };
            format!("{name}: &{name} [{}]\n", items.trim_end_matches(','))
        })
        .collect();
    refused("an alias bomb", bomb.as_bytes(), "alias");
}

#[test]
fn graphs_that_lead_nowhere() {
    let channel = |entries: &str| {
        format!(
            "{PACKAGE}---\nschema: olm.channel\npackage: foo\nname: stable\nentries: {entries}\n"
        )
    };
    refused(
        "cyclic replaces",
        channel("[{name: h, replaces: a}, {name: a, replaces: b}, {name: b, replaces: a}]")
            .as_bytes(),
        "run in a circle",
    );
    refused("a self-skip", channel("[{name: a, skips: [a]}]").as_bytes(), "has no head");
}

#[test]
fn a_channel_of_a_million_entries() {
    let mut text = String::from(
        "{\"schema\":\"olm.package\",\"name\":\"foo\",\"defaultChannel\":\"stable\"}\n{\"schema\":\"olm.channel\",\"package\":\"foo\",\"name\":\"stable\",\"entries\":[{\"name\":\"v0\"}",
    );
    for number in 1..1_000_000 {
        text += &format!(",{{\"name\":\"v{number}\",\"replaces\":\"v{}\"}}", number - 1);
    }
    text += "]}";
    refused(
        "a million entries without bundles",
        text.as_bytes(),
        "999000 more findings of this rule are not listed",
    );
}

#[test]
fn files_that_are_not_there() {
    let directory = TempDir::new().unwrap();
    expect_refusal("an empty directory", &validate(directory.path()), "holds no catalog");
    for what in ["packages", "channels", "bundles", "apis"] {
        let listed = Command::new(env!("CARGO_BIN_EXE_operon"))
            .args(["catalog", "list", what])
            .arg(directory.path())
            .env("OPERON_CACHE_DIR", directory.path().join(".cache"))
            .output()
            .unwrap();
        let message =
            "` holds no catalog: no olm.package document was found\nhint: give the directory";
        expect_refusal(what, &listed, message);
        assert!(listed.stdout.is_empty(), "{what}");
    }
    symlink("/nowhere", directory.path().join("dangling.yaml")).unwrap();
    expect_refusal(
        "a dangling link",
        &validate(directory.path()),
        "dangling.yaml: it cannot be read",
    );
    expect_refusal(
        "no directory",
        &validate(&directory.path().join("nowhere")),
        "there is no catalog at",
    );
}
