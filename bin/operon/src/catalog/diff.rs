//! `operon catalog diff`: what changed between two catalogs, and for whom.

mod json;
mod text;
mod users;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use operon_catalog::{
    diff::{self, DiffOptions},
    graph::Rules,
};

use super::{open::CatalogPath, path::names::not_found};
use crate::{
    exit::Outcome,
    fetching::FetchOptions,
    output::{self, OutputOptions},
};

/// Compares two catalogs by content: what was added, removed and changed, and what that means for
/// someone on each version
///
/// The order of files, documents and entries, and the notation they are written in, play no part.
/// Of metadata and manifests inlined in bundles only the number and the texts of the catalog card
/// are compared.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 no differences, 1 there are differences, or a catalog cannot be read

Examples:
  operon catalog diff ./catalog-4.17 ./catalog-4.18
  operon catalog diff ./old ./new --package etcd
  operon catalog diff ./old ./new -o json --exit-zero")]
pub(crate) struct Diff {
    /// The catalog before: a directory of JSON and YAML files, or one file
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The catalog after
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    #[command(flatten)]
    fetching: FetchOptions,
    /// Only this package
    #[arg(long)]
    package: Option<String>,
    /// Whose updates users are told about
    #[arg(long, value_enum, default_value = "v0")]
    rules: RulesChoice,
    /// Ends with exit code 0 even when there are differences
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    output: OutputOptions,
}

/// Whose rules decide what users experience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RulesChoice {
    /// OLM v0: nothing that is skipped, the nearest to the head wins
    V0,
    /// OLM v1: every edge counts, the highest version wins
    V1,
}

pub(crate) fn run(command: &Diff) -> anyhow::Result<Outcome> {
    let open = |path: &PathBuf| {
        let fetching = command.fetching.clone();
        CatalogPath { path: path.clone(), fetching }.open()
    };
    let (before, after) = (open(&command.before)?, open(&command.after)?);
    let (before, after) = (before.catalog(), after.catalog());
    if let Some(name) = &command.package
        && before.package(name).is_none()
        && after.package(name).is_none()
    {
        let known = before.packages().chain(after.packages()).map(|package| package.name());
        let message = format!("there is no package `{name}` in either catalog");
        return Err(not_found(&message, name, known));
    }
    let rules = match command.rules {
        RulesChoice::V0 => Rules::V0,
        RulesChoice::V1 => Rules::V1,
    };
    let options = DiffOptions { package: command.package.as_deref(), rules };
    let diff = diff::diff(before, after, &options);
    output::print(command.output.output, || text::render(&diff), || json::value(&diff, rules))?;
    let is_same = diff.is_empty() || command.exit_zero;
    Ok(if is_same { Outcome::Done } else { Outcome::Negative })
}
