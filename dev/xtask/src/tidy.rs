//! `cargo xtask tidy`: proves that the house still follows its plan.
//!
//! Three looks: at the manifests (who may use whom), at the sources (what may be written where),
//! and at the text of every file. What a compiler or Clippy can say is left to them.

mod files;
mod paths;
mod regions;
mod rings;
mod rooms;
mod scan;
mod source;
mod text;

use std::{fmt, fs};

use anyhow::{Context, bail};

use crate::workspace::Workspace;

/// A place that breaks a rule, with the way out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// The file, from the root of the repository.
    pub(crate) path: String,
    /// The line, counted from one.
    pub(crate) line: usize,
    /// The short name of the rule.
    pub(crate) rule: &'static str,
    /// What to do about it.
    pub(crate) advice: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, advice } = self;
        write!(formatter, "{path}:{line}: {rule}: {advice}")
    }
}

/// What was found: violations fail the check, notes are only shown.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<Violation>,
    pub(crate) notes: Vec<Violation>,
}

/// Runs the verb; returns whether no rule is broken.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    if !arguments.is_empty() {
        bail!("usage: cargo xtask tidy");
    }
    let mut findings = Findings::default();
    let rooms = rooms::read(workspace)?;
    rings::check(&rooms, &mut findings);
    let paths = files::find(&workspace.root)?;
    for path in &paths {
        let location = workspace.root.join(path);
        let bytes =
            fs::read(&location).with_context(|| format!("cannot read `{}`", location.display()))?;
        check_file(path, &bytes, &mut findings);
    }
    findings.violations.sort();
    findings.notes.sort();
    for note in &findings.notes {
        println!("note: {note}");
    }
    for violation in &findings.violations {
        println!("{violation}");
    }
    println!(
        "tidy: {} crates, {} files, {} violations, {} notes",
        rooms.len(),
        paths.len(),
        findings.violations.len(),
        findings.notes.len()
    );
    Ok(findings.violations.is_empty())
}

fn check_file(path: &str, bytes: &[u8], findings: &mut Findings) {
    text::check_size(path, bytes.len(), findings);
    // Bytes that are not text have no lines to speak about.
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    text::check(path, text, findings);
    if path.ends_with(".rs") {
        source::check(path, text, findings);
    }
}
