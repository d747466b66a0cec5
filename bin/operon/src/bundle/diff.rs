//! `operon bundle diff`: what an administrator wants to read before approving an update.

mod text;

use clap::{Args, ValueEnum};
use operon_bundle::{Change, compare};

use super::open::summary;
use crate::{
    exit::Outcome,
    fetching::FetchOptions,
    output::{Json, Rendered},
};

/// Compares two bundles: APIs, CRDs, rights, images, webhooks and deployments that come, go and change
///
/// CRDs are checked as they are before an update, with the examples of the old bundle in the place
/// of users' objects. A right counts as gained only if no rule of the old bundle covered it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 no differences, 1 there are differences, or a bundle cannot be read

Examples:
  operon bundle diff ./etcd/0.9.2 ./etcd/0.9.4
  operon bundle diff ./etcd/0.9.2 ./etcd/0.9.4 -o json --exit-zero")]
pub(crate) struct Diff {
    /// The bundle before: a directory with `manifests/` and `metadata/`, an archive of one, or an image
    #[arg(value_name = "OLD")]
    old: String,
    /// The bundle after
    #[arg(value_name = "NEW")]
    new: String,
    #[command(flatten)]
    fetching: FetchOptions,
    /// How to print the differences
    #[arg(short, long, value_enum, default_value = "text")]
    output: DiffFormat,
    /// Ends with exit code 0 even when there are differences
    #[arg(long)]
    exit_zero: bool,
}

/// How differences are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// Lines for people
    Text,
    /// JSON for programs
    Json,
}

pub(crate) fn run(command: &Diff) -> anyhow::Result<Outcome> {
    let (old, before) = summary(&command.old, &command.fetching)?;
    let (new, after) = summary(&command.new, &command.fetching)?;
    let changes = compare((&old, &before), (&new, &after));
    let rendered = match command.output {
        DiffFormat::Text => Rendered::Text(text::render(&before.name, &after.name, &changes)),
        DiffFormat::Json => Json::Object(vec![
            ("before", Json::text(&before.name)),
            ("after", Json::text(&after.name)),
            ("changes", Json::list(changes.iter().map(value))),
        ])
        .to_json(),
    };
    rendered.print()?;
    let is_same = changes.is_empty() || command.exit_zero;
    Ok(if is_same { Outcome::Done } else { Outcome::Negative })
}

fn value(change: &Change) -> Json {
    let text = |text: &str| Json::optional(Some(text).filter(|text| !text.is_empty()));
    Json::Object(vec![
        ("topic", Json::text(change.topic.name())),
        ("change", Json::text(change.kind.name())),
        ("subject", Json::text(&change.subject)),
        ("before", text(&change.before)),
        ("after", text(&change.after)),
        ("attention", Json::texts(&change.attention)),
    ])
}
