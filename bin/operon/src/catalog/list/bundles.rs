//! `operon catalog list bundles`: one row for each entry of each channel.

use std::cmp::Reverse;

use clap::Args;
use operon_catalog::{Bundle, Channel, Entry, Package};

use super::{
    Rows,
    channels::ChannelFilter,
    select::{BundleFilters, PackageFilter, Selection, has_part},
};
use crate::catalog::cells::{listed, mark, short_image, shorten};
use crate::{
    catalog::open::CatalogPath,
    exit::Outcome,
    output::{Json, OutputOptions},
};

const HEADER: [&str; 9] = [
    "PACKAGE",
    "CHANNEL",
    "BUNDLE",
    "VERSION",
    "REPLACES",
    "SKIPS",
    "SKIP RANGE",
    "IMAGE",
    "DEPRECATED",
];

/// Lists the bundles, one row for each channel that has them
#[derive(Debug, Args)]
#[command(after_help = "\
Rows are ordered by package and channel, the newest version first.
The table shortens lists of skips and digests of images; JSON and YAML hold them whole.

Examples:
  operon catalog list bundles ./catalog --package etcd
  operon catalog list bundles ./catalog --requires etcd
  operon catalog list bundles ./catalog --property olm.maxOpenShiftVersion -o json")]
pub(super) struct Bundles {
    #[command(flatten)]
    catalog: CatalogPath,
    #[command(flatten)]
    packages: PackageFilter,
    #[command(flatten)]
    channels: ChannelFilter,
    /// Only bundles whose name contains this
    #[arg(long, value_name = "SUBSTRING")]
    name: Option<String>,
    /// Only bundles that are deprecated themselves
    #[arg(long)]
    deprecated: bool,
    #[command(flatten)]
    bundles: BundleFilters,
    #[command(flatten)]
    output: OutputOptions,
}

/// An entry, its bundle, or both: defective catalogs have the one without the other.
struct Row<'a> {
    package: Package<'a>,
    entry: Option<Entry<'a>>,
    bundle: Option<Bundle<'a>>,
}

pub(super) fn run(command: &Bundles) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open_filled()?;
    let catalog = opened.catalog();
    let selection = command.bundles.select(catalog);
    let packages = command.packages.packages(catalog)?;
    let channels = command.channels.channels(&packages)?;
    let mut rows: Vec<Row<'_>> = Vec::new();
    if command.channels.is_everything() {
        for package in packages {
            rows.extend(package.channels().flat_map(of_channel));
            rows.extend(in_no_channel(package));
        }
    } else {
        rows.extend(channels.into_iter().flat_map(of_channel));
    }
    rows.retain(|row| is_chosen(row, command, &selection));
    let rows = Rows { rows: &rows, noun: "bundles", hints: command.bundles.hints(catalog) };
    rows.print(command.output.output, &HEADER, cells, value)
}

fn of_channel(channel: Channel<'_>) -> Vec<Row<'_>> {
    let package = channel.package();
    let mut rows: Vec<Row<'_>> = channel
        .entries()
        .map(|entry| Row { package, entry: Some(entry), bundle: entry.bundle() })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.bundle.map(Bundle::version_rank)), row.name()));
    rows
}

fn in_no_channel(package: Package<'_>) -> impl Iterator<Item = Row<'_>> {
    let lost = |bundle: &Bundle<'_>| bundle.entries().len() == 0;
    package.bundles().filter(lost).map(move |bundle| Row {
        package,
        entry: None,
        bundle: Some(bundle),
    })
}

fn is_chosen(row: &Row<'_>, command: &Bundles, selection: &Selection) -> bool {
    let meets_filters = match row.bundle {
        Some(bundle) => selection.contains(bundle),
        None => selection.is_everything(),
    };
    meets_filters
        && has_part(row.name(), command.name.as_deref())
        && (!command.deprecated || row.deprecation().is_some())
}

impl<'a> Row<'a> {
    fn name(&self) -> &'a str {
        let of_entry = self.entry.map(Entry::name);
        of_entry.or(self.bundle.map(Bundle::name)).unwrap_or_default()
    }

    fn channel_name(&self) -> Option<&'a str> {
        self.entry.map(|entry| entry.channel().name())
    }

    fn deprecation(&self) -> Option<&'a str> {
        self.bundle.and_then(Bundle::deprecation)
    }

    fn skips(&self) -> Vec<&'a str> {
        self.entry.map(|entry| entry.skips().collect()).unwrap_or_default()
    }
}

fn cells(row: &Row<'_>) -> Vec<String> {
    vec![
        row.package.name().to_owned(),
        row.channel_name().unwrap_or("(in no channel)").to_owned(),
        row.name().to_owned(),
        row.bundle.map_or("(no bundle)", Bundle::version_text).to_owned(),
        row.entry.and_then(Entry::replaces).unwrap_or_default().to_owned(),
        listed(row.skips().into_iter(), 1),
        shorten(row.entry.and_then(Entry::skip_range).unwrap_or_default(), 40),
        short_image(row.bundle.and_then(Bundle::image).unwrap_or_default()),
        mark(row.deprecation().is_some(), "deprecated"),
    ]
}

fn value(row: &Row<'_>) -> Json {
    Json::Object(vec![
        ("package", Json::text(row.package.name())),
        ("channel", Json::optional(row.channel_name())),
        ("name", Json::text(row.name())),
        ("version", Json::optional(row.bundle.map(Bundle::version_text))),
        ("release", Json::optional(row.bundle.and_then(Bundle::release))),
        ("replaces", Json::optional(row.entry.and_then(Entry::replaces))),
        ("skips", Json::texts(row.skips())),
        ("skipRange", Json::optional(row.entry.and_then(Entry::skip_range))),
        ("image", Json::optional(row.bundle.and_then(Bundle::image))),
        ("deprecation", Json::optional(row.deprecation())),
    ])
}
