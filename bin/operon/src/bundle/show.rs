//! `operon bundle show`: what a bundle is, brings and asks for.

mod json;
mod text;

use clap::{Args, ValueEnum};

use super::open::summary;
use crate::{
    exit::Outcome,
    fetching::FetchOptions,
    output::{Rendered, terminal},
};

/// Shows what a bundle is, which APIs it brings and needs, which rights it asks for, and what it runs
///
/// Rights that deserve a look before anybody installs the bundle are marked with `!`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 the bundle cannot be read

Examples:
  operon bundle show ./etcd/0.9.4
  operon bundle show ./etcd/0.9.4 -o json")]
pub(crate) struct Show {
    /// The bundle: a directory with `manifests/` and `metadata/`, an archive of one, or an image
    #[arg(value_name = "BUNDLE")]
    bundle: String,
    #[command(flatten)]
    fetching: FetchOptions,
    /// How to print it
    #[arg(short, long, value_enum, default_value = "text")]
    output: ShowFormat,
}

/// How a bundle is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// A page for people
    Text,
    /// JSON for programs
    Json,
    /// YAML for programs
    Yaml,
}

pub(crate) fn run(command: &Show) -> anyhow::Result<Outcome> {
    let (_, summary) = summary(&command.bundle, &command.fetching)?;
    let rendered = match command.output {
        ShowFormat::Text => Rendered::Text(text::render(&summary, terminal::width())),
        ShowFormat::Json => json::value(&summary).to_json(),
        ShowFormat::Yaml => json::value(&summary).to_yaml(),
    };
    rendered.print()?;
    Ok(Outcome::Done)
}
