//! `operon copy-self`: puts this program into a directory, for a container that has none.
//!
//! An image of a catalog that only holds files is served by a copy that an init container leaves behind.

use std::{env, fs, path::PathBuf};

use anyhow::Context;
use clap::Args;

use crate::exit::Outcome;

/// Copies this program into a directory
#[derive(Debug, Args)]
pub(crate) struct CopySelf {
    /// The directory, which has to exist
    directory: PathBuf,
}

pub(crate) fn run(command: &CopySelf) -> anyhow::Result<Outcome> {
    let program = env::current_exe().context("cannot find out where this program lies")?;
    let copy = command.directory.join("operon");
    // The rights to run it are copied too.
    fs::copy(&program, &copy)
        .with_context(|| format!("cannot copy `{}` to `{}`", program.display(), copy.display()))?;
    Ok(Outcome::Done)
}
