//! `operon bundle …`: everything that can be known from a bundle alone.

mod build;
mod diff;
mod open;
mod render;
mod show;
mod validate;

use clap::Subcommand;

use crate::exit::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    Validate(validate::Validate),
    Show(show::Show),
    Render(render::Render),
    Diff(diff::Diff),
    Build(build::Build),
}

pub(crate) fn run(command: &BundleCommand) -> anyhow::Result<Outcome> {
    match command {
        BundleCommand::Validate(command) => validate::run(command),
        BundleCommand::Show(command) => show::run(command),
        BundleCommand::Render(command) => render::run(command),
        BundleCommand::Diff(command) => diff::run(command),
        BundleCommand::Build(command) => build::run(command),
    }
}
