//! `operon catalog list channels`.

use clap::Args;
use operon_catalog::{Channel, Entry, Package};

use super::{
    Rows,
    select::{BundleFilters, PackageFilter, has_part},
};
use crate::catalog::cells::mark;
use crate::{
    catalog::{
        find::{no_such_channel, version_of},
        open::CatalogPath,
    },
    exit::Outcome,
    output::{Json, OutputOptions},
};

const HEADER: [&str; 7] =
    ["PACKAGE", "CHANNEL", "HEAD", "VERSION", "ENTRIES", "DEFAULT", "DEPRECATED"];

/// Lists the channels
#[derive(Debug, Args)]
#[command(after_help = "\
HEAD is empty when the entries of a channel have no single head.
A filter about bundles chooses the channels that have such a bundle.

Examples:
  operon catalog list channels ./catalog --package strimzi-kafka-operator
  operon catalog list channels ./catalog --default-only -o yaml")]
pub(super) struct Channels {
    #[command(flatten)]
    catalog: CatalogPath,
    #[command(flatten)]
    packages: PackageFilter,
    #[command(flatten)]
    channels: ChannelFilter,
    /// Only channels whose name contains this
    #[arg(long, value_name = "SUBSTRING")]
    name: Option<String>,
    /// Only channels that are deprecated
    #[arg(long)]
    deprecated: bool,
    #[command(flatten)]
    bundles: BundleFilters,
    #[command(flatten)]
    output: OutputOptions,
}

/// Which channels a list is about.
#[derive(Debug, Args)]
pub(super) struct ChannelFilter {
    /// Only channels of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    channel: Vec<String>,
    /// Only the default channel of each package
    #[arg(long)]
    default_only: bool,
}

impl ChannelFilter {
    /// Returns the channels meant, ordered by package and name.
    pub(super) fn channels<'a>(
        &self,
        packages: &[Package<'a>],
    ) -> anyhow::Result<Vec<Channel<'a>>> {
        let all = || packages.iter().flat_map(|package| package.channels());
        for name in &self.channel {
            if !all().any(|channel| channel.name() == name) {
                return Err(no_such_channel(name, packages));
            }
        }
        let is_meant = |channel: &Channel<'_>| {
            (self.channel.is_empty() || self.channel.iter().any(|name| name == channel.name()))
                && (!self.default_only || channel.is_default())
        };
        Ok(all().filter(is_meant).collect())
    }

    /// Tells whether nothing was asked for.
    pub(super) fn is_everything(&self) -> bool {
        self.channel.is_empty() && !self.default_only
    }
}

pub(super) fn run(command: &Channels) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open_filled()?;
    let catalog = opened.catalog();
    let selection = command.bundles.select(catalog);
    let mut rows = command.channels.channels(&command.packages.packages(catalog)?)?;
    rows.retain(|channel| {
        has_part(channel.name(), command.name.as_deref())
            && (!command.deprecated || channel.deprecation().is_some())
            && selection.contains_any(channel.entries().filter_map(Entry::bundle))
    });
    let rows = Rows { rows: &rows, noun: "channels", hints: command.bundles.hints(catalog) };
    rows.print(command.output.output, &HEADER, cells, value)
}

fn cells(channel: &Channel<'_>) -> Vec<String> {
    let head = channel.head();
    let version = version_of(head);
    vec![
        channel.package().name().to_owned(),
        channel.name().to_owned(),
        head.map(Entry::name).unwrap_or_default().to_owned(),
        version.unwrap_or_default().to_owned(),
        channel.entries().len().to_string(),
        mark(channel.is_default(), "default"),
        mark(channel.deprecation().is_some(), "deprecated"),
    ]
}

fn value(channel: &Channel<'_>) -> Json {
    let head = channel.head();
    let version = version_of(head);
    Json::Object(vec![
        ("package", Json::text(channel.package().name())),
        ("name", Json::text(channel.name())),
        ("head", Json::optional(head.map(Entry::name))),
        ("version", Json::optional(version)),
        ("entries", Json::texts(channel.entries().map(Entry::name))),
        ("isDefault", Json::Bool(channel.is_default())),
        ("deprecation", Json::optional(channel.deprecation())),
    ])
}
