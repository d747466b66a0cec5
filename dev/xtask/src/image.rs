//! `cargo xtask image`: the program as an image that needs nothing else to run.
//!
//! The program is linked with everything that it needs, and then packs itself: what is in the image is
//! decided by `operon image`, not here.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, bail, ensure};

use crate::{sbom, workspace::Workspace};

/// The directory for the program that stands alone, below the target directory.
const DIRECTORY: &str = "static";

/// Lets the C library be part of the program. What the program is made of is built as ever, so that
/// nothing is built twice.
const STATIC: [&str; 3] = ["--", "-C", "target-feature=+crt-static"];

/// The profile of Cargo that images are built in.
const PROFILE: &str = "image";

/// Builds the program and lets it make an image of itself; returns whether that went well.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let (ours, rest): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| *argument == "--debug");
    let program = build(workspace, !ours.is_empty())?;
    println!("program {}", program.display());
    let directory = program.parent().context("bug: the program lies in a directory")?;
    println!("bill of materials {}", sbom::write_into(workspace, directory)?.display());
    let status = Command::new(&program).arg("image").args(rest).status();
    let status = status.with_context(|| format!("cannot run `{}`", program.display()))?;
    Ok(status.success())
}

/// Builds the program such that it stands alone, and returns where it lies.
pub(crate) fn build(workspace: &Workspace, is_debug: bool) -> anyhow::Result<PathBuf> {
    ensure!(cfg!(target_os = "linux"), "an image is built on Linux");
    let (profile, folder) = if is_debug { ("dev", "debug") } else { (PROFILE, PROFILE) };
    let words = ["rustc", "--package", "operon", "--bin", "operon", "--profile", profile];
    let status = workspace.cargo(&words).args(STATIC).status();
    if !status.context("cannot run `cargo rustc`")?.success() {
        bail!("`cargo rustc` failed; a static C library is needed (Debian: `libc6-dev`)");
    }
    // The next `cargo build` puts its own program into the place of this one.
    let target = workspace.target_directory()?;
    let (from, directory) = (target.join(folder).join("operon"), target.join(DIRECTORY));
    let to = directory.join("operon");
    let new = directory.join("operon.new");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::copy(&from, &new))
        .and_then(|_| fs::rename(&new, &to))
        .with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display()))?;
    Ok(to)
}
