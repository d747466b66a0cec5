//! Running the binary on cases, and the commands that run one case again.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use serde_json::Value;

const DIALECT: [&str; 2] = ["--semantics", "upstream"];

/// The release build of `operon-conformance`, with a cache of its own.
pub(crate) struct Program {
    binary: PathBuf,
    cache: PathBuf,
}

impl Program {
    pub(crate) fn new(target: &Path) -> Self {
        Self {
            binary: target.join("release/operon-conformance"),
            cache: target.join("cases/cache"),
        }
    }

    /// Answers a file of JSON lines.
    pub(crate) fn answer_lines(&self, input: &Path) -> anyhow::Result<Vec<Value>> {
        let output = self.run(&["resolve", "--jsonl"], input, &[])?;
        values(&output).with_context(|| format!("the answers to `{}`", input.display()))
    }

    /// Answers a directory.
    pub(crate) fn answer_directory(&self, directory: &Path) -> anyhow::Result<Value> {
        let output = self.run(&["resolve"], directory, &["--output", "json"])?;
        serde_json::from_slice(&output)
            .with_context(|| format!("the answer to `{}` is not JSON", directory.display()))
    }

    /// Returns the command that answers one line again.
    pub(crate) fn replay_line(&self, input: &Path, number: usize) -> String {
        let (input, binary) = (input.display(), self.binary.display());
        format!("sed -n {number}p {input} | {binary} resolve --jsonl - {}", DIALECT.join(" "))
    }

    /// Returns the command that answers a directory again.
    pub(crate) fn replay_directory(&self, directory: &Path) -> String {
        let (directory, binary) = (directory.display(), self.binary.display());
        format!("{binary} resolve {directory} -o json {}", DIALECT.join(" "))
    }

    /// Runs the binary and returns what it printed; what it tells people goes where ours goes.
    fn run(&self, before: &[&str], subject: &Path, after: &[&str]) -> anyhow::Result<Vec<u8>> {
        let output = Command::new(&self.binary)
            .args(before)
            .arg(subject)
            .args(after)
            .args(DIALECT)
            .env("OPERON_CACHE_DIR", &self.cache)
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot run `{}`", self.binary.display()))?;
        // A negative answer is an answer; a crash is not.
        match output.status.code() {
            Some(0 | 1) => Ok(output.stdout),
            Some(code) => {
                bail!("`operon-conformance resolve {}` ended with {code}", subject.display())
            }
            None => bail!("`operon-conformance resolve {}` was killed", subject.display()),
        }
    }
}

/// Reads JSON lines.
pub(crate) fn values(text: &[u8]) -> anyhow::Result<Vec<Value>> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_slice(line).with_context(|| format!("line {} is not JSON", index + 1))
        })
        .collect()
}
