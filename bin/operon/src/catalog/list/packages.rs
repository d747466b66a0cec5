//! `operon catalog list packages`.

use clap::Args;
use operon_catalog::{Bundle, Channel, Entry, Package};

use super::{
    Rows,
    select::{BundleFilters, PackageFilter, has_part},
};
use crate::catalog::cells::{mark, shorten, shorten_middle};
use crate::{
    catalog::{
        find::{face, version_of},
        open::CatalogPath,
    },
    exit::Outcome,
    output::{Json, OutputOptions},
};

const HEADER: [&str; 8] = [
    "NAME",
    "DISPLAY NAME",
    "DEFAULT CHANNEL",
    "HEAD",
    "CHANNELS",
    "BUNDLES",
    "PROVIDER",
    "DEPRECATED",
];

/// Lists the packages
#[derive(Debug, Args)]
#[command(after_help = "\
HEAD is the version that a fresh installation from the default channel gets.
A filter about bundles chooses the packages that have such a bundle.

Examples:
  operon catalog list packages ./catalog --name kafka
  operon catalog list packages ./catalog --provides Certificate.cert-manager.io")]
pub(super) struct Packages {
    #[command(flatten)]
    catalog: CatalogPath,
    #[command(flatten)]
    packages: PackageFilter,
    /// Only packages whose name contains this
    #[arg(long, value_name = "SUBSTRING")]
    name: Option<String>,
    /// Only packages that are deprecated
    #[arg(long)]
    deprecated: bool,
    #[command(flatten)]
    bundles: BundleFilters,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(command: &Packages) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open_filled()?;
    let catalog = opened.catalog();
    let selection = command.bundles.select(catalog);
    let mut rows = command.packages.packages(catalog)?;
    rows.retain(|package| {
        has_part(package.name(), command.name.as_deref())
            && (!command.deprecated || package.deprecation().is_some())
            && selection.contains_any(package.bundles())
    });
    let rows = Rows { rows: &rows, noun: "packages", hints: command.bundles.hints(catalog) };
    rows.print(command.output.output, &HEADER, cells, value)
}

fn cells(package: &Package<'_>) -> Vec<String> {
    let shown = face(*package);
    let head = package.default_head();
    vec![
        package.name().to_owned(),
        shorten_middle(shown.map(Bundle::display_name).unwrap_or_default(), 40),
        package.default_channel_name().to_owned(),
        version_of(head).unwrap_or_default().to_owned(),
        package.channels().len().to_string(),
        package.bundles().len().to_string(),
        shorten(shown.map(Bundle::provider).unwrap_or_default(), 30),
        mark(package.deprecation().is_some(), "deprecated"),
    ]
}

fn value(package: &Package<'_>) -> Json {
    let shown = face(*package);
    let head = package.default_head();
    Json::Object(vec![
        ("name", Json::text(package.name())),
        ("displayName", Json::text(shown.map(Bundle::display_name).unwrap_or_default())),
        ("provider", Json::text(shown.map(Bundle::provider).unwrap_or_default())),
        ("defaultChannel", Json::text(package.default_channel_name())),
        ("head", Json::optional(head.map(Entry::name))),
        ("version", Json::optional(version_of(head))),
        ("channels", Json::texts(package.channels().map(Channel::name))),
        ("bundleCount", Json::number(package.bundles().len())),
        ("deprecation", Json::optional(package.deprecation())),
    ])
}
