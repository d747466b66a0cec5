//! `cargo xtask bench --cluster`: the controller that ships, on a real cluster that is brought up for it.
//!
//! What is done there is written in `dev/proof/examples/bench`; here it is built, run and put on the page.

use std::process::Stdio;

use anyhow::bail;

use super::{
    catalogs::{Choice, prepare},
    machine,
};
use crate::workspace::Workspace;

/// Measures; returns the text.
pub(crate) fn measure(
    workspace: &Workspace,
    choice: &Choice<'_>,
    runs: usize,
) -> anyhow::Result<String> {
    let target = workspace.target_directory()?;
    let catalogs = prepare(workspace, &target.join("bench"), choice)?;
    eprintln!("building the release binaries");
    let build = ["build", "--release", "-p", "operon", "-p", "operon-proof"];
    let status = workspace.cargo(&build).args(["--bins", "--example", "bench"]).status()?;
    if !status.success() {
        bail!("the release binaries could not be built");
    }
    let release = target.join("release");
    let mut command = std::process::Command::new(release.join("examples/bench"));
    command.arg(release.join("operon")).arg(runs.to_string());
    command.args(catalogs.first().map(|catalog| &catalog.directory));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the measurement did not come to its end");
    }
    Ok(format!("{}\n\n{}", machine::describe_machine(), String::from_utf8_lossy(&output.stdout)))
}
