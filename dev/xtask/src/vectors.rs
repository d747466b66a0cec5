//! `cargo xtask vectors [DIR]`: what upstream's own libraries answer, line by line against ours.
//!
//! Each file that the rooms built so far can answer has a module here that turns a line into
//! "agrees" or a disagreement. Files that nobody can answer yet are named.

mod cel;
mod channel;
mod constraints;
mod crd;
mod fbc;
mod hashes;
mod semver;
mod yaml;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::Value;

/// How many disagreements of a file are printed.
const SHOWN_DISAGREEMENTS: usize = 10;

/// The longest text of an expectation or answer that is printed.
const SHOWN_CHARACTERS: usize = 600;

/// One line that we answer differently.
pub(crate) struct Disagreement {
    /// Which field of the line it is about.
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

/// The verdict on one line: nothing to say when it agrees.
pub(crate) type LineVerdict = Result<(), Disagreement>;

type CheckLine = Box<dyn Fn(&Value) -> LineVerdict>;

/// Returns what answers the lines of a file, if its room is built.
fn checker(name: &str, lines: &[(usize, Value)]) -> Option<CheckLine> {
    match name {
        "semver.jsonl" => Some(Box::new(semver::check)),
        "yaml.jsonl" => Some(Box::new(yaml::check)),
        "channel.jsonl" => Some(Box::new(channel::check)),
        "fbc.jsonl" => Some(Box::new(fbc::check)),
        "crd.jsonl" => Some(Box::new(crd::check)),
        "hashes.jsonl" => Some(Box::new(hashes::check)),
        "cel.jsonl" => Some(Box::new(cel::check)),
        "constraints.jsonl" => {
            let entries = constraints::Entries::read(lines.first().map(|(_, line)| line));
            Some(Box::new(move |line| entries.check(line)))
        }
        _ => None,
    }
}

/// Runs every vector file of a directory; returns whether all lines agree.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let directory = match arguments {
        [] => default_directory(),
        [directory] => PathBuf::from(directory),
        _ => bail!("usage: cargo xtask vectors [DIR]"),
    };
    let mut names: Vec<String> = fs::read_dir(&directory)
        .with_context(|| format!("cannot read `{}`", directory.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    names.sort();
    if names.is_empty() {
        bail!("`{}` holds no vector files (*.jsonl)", directory.display());
    }
    let mut all_agree = true;
    let mut unanswered = Vec::new();
    for name in &names {
        let lines = read_lines(&directory.join(name))?;
        match checker(name, &lines) {
            Some(check) => all_agree &= run_file(name, &lines, &check),
            None => unanswered.push(name.as_str()),
        }
    }
    if !unanswered.is_empty() {
        println!("not answered yet: {}", unanswered.join(", "));
    }
    Ok(all_agree)
}

/// Returns the directory of the reference vectors beside the repository.
pub(crate) fn default_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors")
}

fn read_lines(path: &Path) -> anyhow::Result<Vec<(usize, Value)>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let value = serde_json::from_str(line).with_context(|| {
                format!("line {} of `{}` is not JSON", index + 1, path.display())
            })?;
            Ok((index + 1, value))
        })
        .collect()
}

fn run_file(name: &str, lines: &[(usize, Value)], check: &CheckLine) -> bool {
    let total = lines.len();
    let disagreements: Vec<(usize, Disagreement)> = lines
        .iter()
        .filter_map(|(number, line)| check(line).err().map(|disagreement| (*number, disagreement)))
        .collect();
    println!("{name}: {} of {total} lines agree", total - disagreements.len());
    for (line, disagreement) in disagreements.iter().take(SHOWN_DISAGREEMENTS) {
        println!("  line {line}, {}", disagreement.what);
        println!("    expected {}", shorten(&disagreement.expected));
        println!("    got      {}", shorten(&disagreement.got));
    }
    if disagreements.len() > SHOWN_DISAGREEMENTS {
        println!("  … and {} more", disagreements.len() - SHOWN_DISAGREEMENTS);
    }
    disagreements.is_empty()
}

fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Compares two texts.
pub(crate) fn same(what: &str, expected: &str, got: &str) -> LineVerdict {
    if expected == got {
        return Ok(());
    }
    Err(Disagreement { what: what.to_owned(), expected: expected.to_owned(), got: got.to_owned() })
}

/// Returns a text field of a line; empty when it is absent.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the input of a line: text, or bytes that are not UTF-8 in base64.
pub(crate) fn input(line: &Value, name: &str) -> Vec<u8> {
    if let Some(text) = line[name].as_str() {
        return text.as_bytes().to_vec();
    }
    let encoded = line[format!("{name}B64")].as_str().unwrap_or_default();
    operon_document::decode_base64(encoded.as_bytes()).unwrap_or_default()
}
