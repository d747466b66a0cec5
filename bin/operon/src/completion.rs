//! Completion scripts and manual pages, made from the command line's own description.

use std::{fs, path::PathBuf};

use anyhow::Context;
use clap::{Args, CommandFactory};

use crate::{cli::Arguments, exit::Outcome, output::print_generated};

/// Prints a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  operon completion bash > /etc/bash_completion.d/operon")]
pub(crate) struct Shell {
    /// The shell
    shell: clap_complete::Shell,
}

/// Writes the manual pages
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  operon man /usr/local/share/man/man1")]
pub(crate) struct Manual {
    /// The directory to write them to
    directory: PathBuf,
}

pub(crate) fn shell(command: &Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Arguments::command(), "operon", &mut script);
    print_generated(&script)?;
    Ok(Outcome::Done)
}

pub(crate) fn manual(command: &Manual) -> anyhow::Result<Outcome> {
    let directory = &command.directory;
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), directory))
        .with_context(|| format!("cannot write manual pages to `{}`", directory.display()))?;
    Ok(Outcome::Done)
}
