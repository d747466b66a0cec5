//! The scenarios: what a user asks of a catalog, and the state of the cache it is asked in.

use std::{
    fs,
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};

use super::{
    catalogs::BenchCatalog,
    measure::{self, Measured},
};
use crate::workspace::Workspace;

/// A snapshot is trusted by time stamps only when the files are older than the coarsest clock of a
/// file system, two seconds.
const SETTLING: Duration = Duration::from_millis(2500);

/// What is searched for; common enough to be found in any large catalog.
const SEARCHED_TEXT: &str = "database";

/// How a scenario ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Measured(Measured),
    /// This build does not have the command yet.
    Skipped(String),
    /// The command did not answer.
    Failed(String),
}

/// What the program finds in its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    /// The cache is not used: `--no-cache`.
    Unused,
    /// A snapshot, and files that look unchanged.
    Warm,
    /// A snapshot, and a file that looks changed and is not, so that all are read and compared.
    Touched,
}

/// A question to ask.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) title: &'static str,
    arguments: Vec<String>,
    cache: Cache,
}

/// Returns the scenarios for a catalog; the first one is what the others are compared with.
pub(crate) fn scenarios(catalog: &BenchCatalog) -> Vec<Scenario> {
    use Cache::{Touched, Unused, Warm};
    let directory = catalog.directory.to_string_lossy();
    let (directory, package) = (directory.as_ref(), catalog.largest_package.as_str());
    let scenario = |title, cache, words: &[&str]| {
        let mut arguments = vec!["catalog".to_owned()];
        arguments.extend(words.iter().map(|word| (*word).to_owned()));
        Scenario { title, arguments, cache }
    };
    let mut scenarios = vec![
        scenario(
            "cold: read, check and index everything",
            Unused,
            &["validate", "--no-cache", directory],
        ),
        scenario("warm: every finding again", Warm, &["validate", directory]),
        scenario("warm: list the packages", Warm, &["list", "packages", directory]),
        scenario("warm: show the largest package", Warm, &["show", directory, package]),
        scenario("warm: search", Warm, &["search", directory, SEARCHED_TEXT]),
        scenario(
            "warm: draw the largest graph",
            Warm,
            &["graph", directory, package, "--format", "svg"],
        ),
        scenario("warm: matrix of the largest package", Warm, &["matrix", directory, package]),
        scenario("warm: diff with itself", Warm, &["diff", directory, directory]),
        scenario(
            "warm: check that every version can be installed and updated",
            Warm,
            &["check", directory],
        ),
    ];
    // Only files of our own are touched.
    if catalog.is_ours {
        scenarios.push(scenario(
            "touched: list after comparing all content",
            Touched,
            &["list", "packages", directory],
        ));
    }
    scenarios
}

impl Scenario {
    /// Returns the command as a reader would type it.
    pub(crate) fn shown(&self, catalog: &BenchCatalog) -> String {
        let directory = catalog.directory.to_string_lossy();
        format!("operon {}", self.arguments.join(" ").replace(directory.as_ref(), "DIR"))
    }

    /// Brings the catalog into the state that the scenario is about.
    pub(crate) fn prepare(&self, catalog: &BenchCatalog) -> anyhow::Result<()> {
        match self.cache {
            Cache::Unused | Cache::Warm => Ok(()),
            Cache::Touched => {
                let file = catalog.first_file()?;
                let opened = File::options().append(true).open(&file);
                opened
                    .and_then(|opened| opened.set_modified(SystemTime::now()))
                    .with_context(|| format!("cannot touch `{}`", file.display()))
            }
        }
    }
}

/// A binary of the workspace in the release profile, with a cache of its own.
pub(crate) struct Program {
    binary: PathBuf,
    scratch: PathBuf,
}

impl Program {
    /// Builds a package in the release profile, and uses its binary of the same name.
    pub(crate) fn built(workspace: &Workspace, package: &str) -> anyhow::Result<Self> {
        eprintln!("building {package}");
        let status = workspace.cargo(&["build", "--release", "--package", package]).status()?;
        if !status.success() {
            bail!("cannot build {package}");
        }
        let target = workspace.target_directory()?;
        let name = format!("{package}{}", std::env::consts::EXE_SUFFIX);
        Ok(Self { binary: target.join("release").join(name), scratch: target.join("bench") })
    }

    /// Returns the path of the binary.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Removes every snapshot, and waits until a new one may be trusted.
    pub(crate) fn forget_snapshots(&self) -> anyhow::Result<()> {
        let cache = self.cache();
        if cache.exists() {
            fs::remove_dir_all(&cache)
                .with_context(|| format!("cannot remove `{}`", cache.display()))?;
        }
        thread::sleep(SETTLING);
        Ok(())
    }

    /// Runs a scenario once; returns why it cannot be measured, if so.
    pub(crate) fn try_out(&self, scenario: &Scenario) -> anyhow::Result<Option<Outcome>> {
        let finished = measure::run(&mut self.command(scenario))?;
        Ok(unanswered(finished.exit_code, &finished.complaints))
    }

    /// Runs a scenario and returns the wall time.
    pub(crate) fn time(&self, scenario: &Scenario) -> anyhow::Result<Duration> {
        Ok(measure::run(&mut self.command(scenario))?.wall)
    }

    /// Runs a scenario and returns the peak memory in KiB, if that can be known here.
    pub(crate) fn peak_memory(&self, scenario: &Scenario) -> anyhow::Result<Option<u64>> {
        measure::peak_memory(&self.command(scenario), &self.scratch)
    }

    /// Returns the command without arguments, with the cache that all scenarios share.
    pub(crate) fn bare_command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("OPERON_CACHE_DIR", self.cache());
        command
    }

    fn cache(&self) -> PathBuf {
        self.scratch.join("cache")
    }

    fn command(&self, scenario: &Scenario) -> Command {
        let mut command = self.bare_command();
        command.args(&scenario.arguments);
        command
    }
}

/// Tells an answer from a command that is not there and from one that failed.
///
/// Exit code 1 is an answer too (the catalog has errors, the catalogs differ), unless the program
/// says that it could not do its work.
fn unanswered(exit_code: Option<i32>, complaints: &str) -> Option<Outcome> {
    let first_line = || {
        let line = complaints.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or("it says nothing").trim().to_owned()
    };
    if complaints.contains("not built yet") {
        return Some(Outcome::Skipped("not built yet".to_owned()));
    }
    match exit_code {
        Some(0) => None,
        Some(1) if !complaints.starts_with("error") => None,
        Some(2) => Some(Outcome::Skipped(format!("not known to this build: {}", first_line()))),
        Some(_) => Some(Outcome::Failed(first_line())),
        None => Some(Outcome::Failed("ended by a signal".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_missing_commands_and_failures() {
        let cases = [
            (Some(0), "", "answer"),
            (Some(0), "warning: this catalog has 2 errors", "answer"),
            (Some(1), "", "answer"),
            (Some(1), "error: not built yet\n", "skipped: not built yet"),
            (Some(1), "error: no package `a`\n", "failed: error: no package `a`"),
            (
                Some(2),
                "\nerror: unexpected argument",
                "skipped: not known to this build: error: unexpected argument",
            ),
            (Some(101), "thread main panicked", "failed: thread main panicked"),
            (None, "", "failed: ended by a signal"),
        ];
        for (exit_code, complaints, expected) in cases {
            let shown = match unanswered(exit_code, complaints) {
                None => "answer".to_owned(),
                Some(Outcome::Skipped(reason)) => format!("skipped: {reason}"),
                Some(Outcome::Failed(reason)) => format!("failed: {reason}"),
                Some(Outcome::Measured(_)) => panic!("nothing was measured"),
            };
            assert_eq!(shown, expected, "{exit_code:?} {complaints}");
        }
    }
}
