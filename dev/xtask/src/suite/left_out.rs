//! The tests that were left out, as they note themselves in a file.
//!
//! The standard harness hides what passing tests print, so their output does not name them.

use std::{fs, io, path::PathBuf};

use anyhow::Context;
use operon_parts::Part;

use crate::workspace::Workspace;

/// The log of one run.
pub(super) struct LeftOut {
    /// The file that tests append to.
    pub(super) path: PathBuf,
}

impl LeftOut {
    /// Begins an empty log in the target directory.
    pub(super) fn begin(workspace: &Workspace) -> anyhow::Result<Self> {
        let directory = workspace.target_directory()?;
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot create `{}`", directory.display()))?;
        let log = Self { path: directory.join("left-out.txt") };
        log.write("")?;
        Ok(log)
    }

    /// Forgets the tests that wait for the step which runs the proofs.
    pub(super) fn forget_proofs(&self) -> anyhow::Result<()> {
        let text = self.read()?;
        let proof = format!("{}: ", Part::Proof);
        let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with(&proof)).collect();
        self.write(&kept.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    /// Returns the table of the tests that were left out, in the order of their parts.
    pub(super) fn table(&self) -> anyhow::Result<String> {
        Ok(table(&self.read()?))
    }

    fn read(&self) -> anyhow::Result<String> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error).context(format!("cannot read `{}`", self.path.display())),
        }
    }

    fn write(&self, text: &str) -> anyhow::Result<()> {
        fs::write(&self.path, text)
            .with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

fn table(log: &str) -> String {
    let mut rows: Vec<[&str; 3]> = log
        .lines()
        .filter_map(|line| {
            let (part, rest) = line.split_once(": ")?;
            let (test, reason) = rest.split_once(": ")?;
            Some([part, test, reason])
        })
        .collect();
    rows.sort_unstable();
    rows.dedup();
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(0, ["PART", "TEST", "REASON"]);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (part, test) = (width(0), width(1));
    let lines = rows.iter().map(|row| format!("{:part$}  {:test$}  {}\n", row[0], row[1], row[2]));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_lists_each_test_once() {
        let log = "shared: real::all: no ../shared\nrig: a: no Go: install it\nrig: a: no Go: install it\nnoise\n";
        let expected = "\
PART    TEST       REASON
rig     a          no Go: install it
shared  real::all  no ../shared
";
        assert_eq!(table(log), expected);
        assert_eq!(table(""), "");
    }
}
