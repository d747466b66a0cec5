//! Checks the dependencies with `cargo deny`: licenses, bans, sources, and known vulnerabilities.
//!
//! Vulnerabilities come from one pinned revision of the RustSec advisory database, so that the same
//! commit of the repository always gives the same result. Nothing newer is fetched here.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context;

use super::{Ending, run_streamed};
use crate::workspace::{Workspace, find_program};

/// The advisory database.
const ADVISORY_DATABASE: &str = "https://github.com/RustSec/advisory-db";

/// The revision of the advisory database that is checked against: the one that added RUSTSEC-2026-0253.
/// Raise it when dependencies are updated.
const ADVISORY_REVISION: &str = "d0861df1eab469d3c58d6b836ce48b5766e5f217";

/// The directory in which `cargo deny` looks for a clone of [`ADVISORY_DATABASE`]: the end of the URL and a
/// hash of it.
const CLONE_DIRECTORY: &str = "advisory-db-3157b0e258782691";

/// Names another repository, such as a mirror or a clone on this machine, to fetch
/// [`ADVISORY_REVISION`] from.
const DATABASE_VARIABLE: &str = "OPERON_ADVISORY_DB";

/// A pinned revision is not stale, however long ago it was fetched.
const STALENESS: &str = "P10Y";

/// Building `cargo-deny` takes longer than all other steps together, so it is used where it is installed.
pub(super) fn check(workspace: &Workspace, _tally: &mut super::Tally) -> anyhow::Result<Ending> {
    let Some(program) = find_program("cargo-deny") else {
        let reason = "cargo-deny is not installed; hint: cargo install --locked cargo-deny";
        return Ok(Ending::LeftOut(reason.to_owned()));
    };
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(&workspace.root).args(arguments);
        if let Some(cargo) = env::var_os("CARGO") {
            command.env("CARGO", cargo);
        }
        run_streamed(&mut command)
    };
    let ending = deny(&["check", "licenses", "bans", "sources"])?;
    if !matches!(ending, Ending::Passed) {
        return Ok(ending);
    }
    let named = env::var(DATABASE_VARIABLE).ok().filter(|repository| !repository.is_empty());
    let repository = named.unwrap_or_else(|| ADVISORY_DATABASE.to_owned());
    let target = workspace.target_directory()?;
    let databases = match fetch_database(&repository, ADVISORY_REVISION, &target) {
        Ok(databases) => databases,
        Err(error) => return Ok(Ending::LeftOut(left_out(&repository, &error))),
    };
    let configuration = write_configuration(workspace, &databases, &target)?;
    let configuration = configuration.display().to_string();
    deny(&["check", "--disable-fetch", "--config", &configuration, "advisories"])
}

fn left_out(repository: &str, error: &anyhow::Error) -> String {
    format!(
        "advisories (licenses, bans and sources passed): cannot fetch revision {ADVISORY_REVISION} of \
         `{repository}`: {error:#}; hint: {DATABASE_VARIABLE}=REPOSITORY names a mirror or a clone that has it"
    )
}

/// Fetches one revision, unless an earlier run did; returns the directory that holds the clone.
fn fetch_database(repository: &str, revision: &str, target: &Path) -> anyhow::Result<PathBuf> {
    let databases = target.join("advisory-databases").join(revision);
    let clone = databases.join(CLONE_DIRECTORY);
    if clone.is_dir() {
        return Ok(databases);
    }
    let unfinished = databases.join("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(&unfinished)?;
    git(&unfinished, &["init", "--quiet"])?;
    git(&unfinished, &["fetch", "--quiet", "--depth", "1", repository, revision])?;
    git(&unfinished, &["checkout", "--quiet", "--detach", revision])?;
    fs::rename(&unfinished, &clone)?;
    Ok(databases)
}

/// Runs git, which must not ask for a password.
fn git(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments).env("GIT_TERMINAL_PROMPT", "0");
    let output = command.stdin(Stdio::null()).output().context("cannot run `git`")?;
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        let last = complaints.lines().rfind(|line| !line.trim().is_empty());
        anyhow::bail!("{}", last.unwrap_or("git failed without a message").trim());
    }
    Ok(())
}

/// Writes the configuration of `cargo deny` with the directory of the database: there is no flag for it.
fn write_configuration(
    workspace: &Workspace,
    databases: &Path,
    target: &Path,
) -> anyhow::Result<PathBuf> {
    let text =
        fs::read_to_string(workspace.root.join("deny.toml")).context("cannot read deny.toml")?;
    let section = format!(
        "\n[advisories]\ndb-path = {:?}\ndb-urls = [{ADVISORY_DATABASE:?}]\n\
         maximum-db-staleness = {STALENESS:?}\n",
        databases.display().to_string()
    );
    let file = target.join("deny-advisories.toml");
    fs::write(&file, text + &section)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_revision_is_fetched_once() {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        let (repository, target) = (directory.path().join("db"), directory.path().join("target"));
        fs::create_dir_all(&repository).expect("made");
        let commit = |message: &str| {
            let name = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            let arguments = ["commit", "--quiet", "--allow-empty", "--message", message];
            git(&repository, &[&name[..], &arguments[..]].concat()).expect("committed");
        };
        git(&repository, &["init", "--quiet"]).expect("a repository");
        fs::write(repository.join("advisory"), "pinned").expect("written");
        git(&repository, &["add", "advisory"]).expect("added");
        commit("pinned");
        let head = fs::read_to_string(repository.join(".git/HEAD")).expect("a head");
        let head = head.trim().strip_prefix("ref: ").expect("a branch");
        let revision = fs::read_to_string(repository.join(".git").join(head)).expect("a commit");
        let revision = revision.trim();
        fs::write(repository.join("advisory"), "newer").expect("written");
        git(&repository, &["add", "advisory"]).expect("added");
        commit("newer");

        let fetch = |repository: &Path| {
            fetch_database(&repository.display().to_string(), revision, &target)
        };
        let gone = fetch(&directory.path().join("gone")).expect_err("no repository");
        assert!(left_out("gone", &gone).contains("cannot fetch revision"), "{gone:#}");
        for _ in 0..2 {
            let databases = fetch(&repository).expect("a database");
            let advisory = databases.join(CLONE_DIRECTORY).join("advisory");
            assert_eq!(fs::read_to_string(advisory).expect("a file"), "pinned");
            // What was fetched once is not fetched again.
            fs::remove_dir_all(repository.join(".git")).ok();
        }
    }
}
