//! A smoke run: the program as a newcomer first runs it.
//!
//! The commands come from the README, so that text and check cannot drift apart; the transcripts
//! in it are compared by a test of the program. A generated catalog must be valid as well.

use std::fs;

use anyhow::{Context, bail};

use super::{Ending, Tally};
use crate::{
    generate::{CatalogOptions, write_catalog},
    workspace::Workspace,
};

/// A catalog of about twenty packages.
const SCALE: f64 = 0.05;

/// What a line of the README that is tried out begins with.
const PROMISE: &str = "cargo run ";

/// Runs the commands of the README, and the program on a generated catalog.
pub(super) fn run(workspace: &Workspace, _tally: &mut Tally) -> anyhow::Result<Ending> {
    let readme = fs::read_to_string(workspace.root.join("README.md"))
        .context("cannot read README.md, which says how to run the program")?;
    let mut commands = promises(&readme)?;

    let directory = workspace.target_directory()?.join("smoke/catalog");
    if directory.exists() {
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove `{}`", directory.display()))?;
    }
    let options = CatalogOptions { seed: 1, scale: SCALE };
    println!("generated {}", write_catalog(&directory, &options)?);
    let catalog = directory.to_string_lossy();
    commands.push(
        ["run", "--release", "--", "catalog", "validate", "--no-cache", &catalog]
            .map(str::to_owned)
            .into(),
    );

    for command in &commands {
        println!("$ cargo {}", command.join(" "));
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let status = workspace.cargo(&arguments).status().context("cannot run Cargo")?;
        if !status.success() {
            return Ok(Ending::Failed);
        }
    }
    Ok(Ending::Passed)
}

/// Returns the arguments of the commands that a README promises to work.
fn promises(readme: &str) -> anyhow::Result<Vec<Vec<String>>> {
    let mut promises = Vec::new();
    for line in readme.lines().map(|line| line.trim().trim_start_matches("$ ")) {
        if !line.starts_with(PROMISE) {
            continue;
        }
        if let Some(special) = line.chars().find(|character| "|><;&'\"$*#".contains(*character)) {
            bail!("`{line}` in README.md needs a shell for `{special}`: keep it plain");
        }
        promises.push(line.split_whitespace().skip(1).map(str::to_owned).collect());
    }
    if promises.is_empty() {
        bail!("README.md shows no command that begins with `{PROMISE}`");
    }
    Ok(promises)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_try_are_found_and_others_are_not() {
        let readme = "\
Say `cargo run` to run it.

```
cargo run --release -- catalog validate examples/catalog
cargo xtask test
```

    $ cargo run -- help

```
$ operon catalog validate examples/broken
```
";
        let found: Vec<String> = promises(readme)
            .expect("plain commands")
            .into_iter()
            .map(|arguments| arguments.join(" "))
            .collect();
        let expected = ["run --release -- catalog validate examples/catalog", "run -- help"];
        assert_eq!(found, expected);
    }

    #[test]
    fn commands_that_cannot_be_tried_are_refused() {
        for readme in [
            "nothing to run\n",
            "cargo run -- catalog list a | head\n",
            "cargo run -- catalog search a 'b c'\n",
        ] {
            promises(readme).expect_err(readme);
        }
    }
}
