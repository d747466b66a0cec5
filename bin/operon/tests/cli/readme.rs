//! The README: every transcript in it is what the program prints today.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{fs, path::Path, process::Command};

use crate::harbour;

/// Blocks of the README that are transcripts start with this.
const PROMPT: &str = "$ operon ";

#[test]
fn transcripts_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```").skip(1).step_by(2).collect();
    let transcripts: Vec<&str> = blocks
        .iter()
        .map(|block| block.trim_start_matches('\n'))
        .filter(|block| block.starts_with(PROMPT))
        .collect();
    assert!(transcripts.len() >= 3, "the README shows the program at work");
    for transcript in transcripts {
        check(&root, transcript);
    }
}

#[test]
fn the_picture_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let drawn = operon(&root, "catalog graph examples/catalog beacon --format svg");
    assert_eq!(drawn, fs::read_to_string(root.join("docs/beacon.svg")).unwrap());
}

/// Runs the program in the repository and returns all it printed.
fn operon(root: &Path, arguments: &str) -> String {
    let cache = tempfile::TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(arguments.split_whitespace())
        .current_dir(root)
        .env("OPERON_CACHE_DIR", cache.path())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn check(root: &Path, transcript: &str) {
    // What is brought to life in a directory leaves its state there.
    let copy = tempfile::TempDir::new().unwrap();
    harbour::copy(&root.join("examples/quickstart"), &copy.path().join("examples/quickstart"));
    let is_alive = transcript.contains("examples/quickstart");
    let root = if is_alive { copy.path() } else { root };
    for step in transcript.split("$ operon ").filter(|step| !step.trim().is_empty()) {
        let (arguments, expected) = step.split_once('\n').unwrap_or((step, ""));
        let printed = operon(root, arguments);
        let (printed, expected) = (harbour::steady(&printed), harbour::steady(expected));
        assert_eq!(steady(&printed), steady(&expected), "operon {arguments}");
    }
}

/// Durations differ from run to run, and trailing blanks are not seen.
fn steady(text: &str) -> String {
    let lines = text.trim().lines().map(|line| match line.rsplit_once(" (") {
        Some((before, after)) if after.ends_with(" ms)") => before.to_owned(),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
