//! `operon catalog list apis`: who provides and who requires each API.

use std::collections::BTreeMap;

use clap::Args;
use operon_catalog::{Api, Bundle, Package, PackageId};

use super::{
    Rows,
    select::{PackageFilter, has_part},
};
use crate::catalog::cells::listed;
use crate::{
    catalog::open::CatalogPath,
    exit::Outcome,
    output::{Json, OutputOptions},
};

/// How many packages a cell lists before it only counts.
const LISTED_PACKAGES: usize = 3;

const HEADER: [&str; 5] = ["GROUP", "VERSION", "KIND", "PROVIDERS", "REQUIRED BY"];

/// Lists the APIs with the packages that provide and require them
#[derive(Debug, Args)]
#[command(after_help = "\
APIs that are only named inside of olm.constraint properties are not listed.

Examples:
  operon catalog list apis ./catalog --name kafka
  operon catalog list apis ./catalog --package jaeger
  operon catalog list apis ./catalog --missing")]
pub(super) struct Apis {
    #[command(flatten)]
    catalog: CatalogPath,
    #[command(flatten)]
    packages: PackageFilter,
    /// Only APIs whose kind or group contains this
    #[arg(long, value_name = "SUBSTRING")]
    name: Option<String>,
    /// Counts only bundles of default channels
    #[arg(long)]
    default_only: bool,
    /// Only APIs that some bundle requires
    #[arg(long)]
    required: bool,
    /// Only APIs that some bundle requires and none provides
    #[arg(long)]
    missing: bool,
    #[command(flatten)]
    output: OutputOptions,
}

/// A package, and its bundles that have to do with an API.
struct Involved<'a> {
    package: &'a str,
    bundles: Vec<&'a str>,
}

/// An API, and who has to do with it.
struct Row<'a> {
    api: Api<'a>,
    providers: Vec<Involved<'a>>,
    requirers: Vec<Involved<'a>>,
}

pub(super) fn run(command: &Apis) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open_filled()?;
    let catalog = opened.catalog();
    let packages: Option<Vec<&str>> = if command.packages.package.is_empty() {
        None
    } else {
        Some(command.packages.packages(catalog)?.into_iter().map(Package::name).collect())
    };
    let part = command.name.as_deref();
    let named = |api: &Api<'_>| has_part(api.kind(), part) || has_part(api.group(), part);
    let counts = |bundle: &Bundle<'_>| {
        !command.default_only || bundle.entries().any(|entry| entry.channel().is_default())
    };
    let mut rows: Vec<Row<'_>> = catalog
        .apis()
        .filter(named)
        .map(|api| Row {
            api,
            providers: by_package(api.providers().filter(counts)),
            requirers: by_package(api.requirers().filter(counts)),
        })
        .collect();
    rows.retain(|row| {
        let mut involved =
            row.providers.iter().chain(&row.requirers).map(|involved| involved.package).peekable();
        involved.peek().is_some()
            && packages.as_ref().is_none_or(|names| involved.any(|name| names.contains(&name)))
            && (!command.required || !row.requirers.is_empty())
            && (!command.missing || row.providers.is_empty())
    });
    let rows = Rows { rows: &rows, noun: "APIs", hints: Vec::new() };
    rows.print(command.output.output, &HEADER, cells, value)
}

fn by_package<'a>(bundles: impl Iterator<Item = Bundle<'a>>) -> Vec<Involved<'a>> {
    let mut packages: BTreeMap<PackageId, Involved<'a>> = BTreeMap::new();
    for bundle in bundles {
        let package = bundle.package();
        let new = Involved { package: package.name(), bundles: Vec::new() };
        packages.entry(package.id()).or_insert(new).bundles.push(bundle.name());
    }
    packages.into_values().collect()
}

fn cells(row: &Row<'_>) -> Vec<String> {
    let names = |packages: &[Involved<'_>]| match packages {
        [] => "-".to_owned(),
        packages => listed(packages.iter().map(|involved| involved.package), LISTED_PACKAGES),
    };
    vec![
        row.api.group().to_owned(),
        row.api.version().to_owned(),
        row.api.kind().to_owned(),
        names(&row.providers),
        names(&row.requirers),
    ]
}

fn value(row: &Row<'_>) -> Json {
    let packages = |packages: &[Involved<'_>]| {
        Json::list(packages.iter().map(|involved| {
            Json::Object(vec![
                ("package", Json::text(involved.package)),
                ("bundles", Json::texts(involved.bundles.iter().copied())),
            ])
        }))
    };
    Json::Object(vec![
        ("group", Json::text(row.api.group())),
        ("version", Json::text(row.api.version())),
        ("kind", Json::text(row.api.kind())),
        ("providers", packages(&row.providers)),
        ("requiredBy", packages(&row.requirers)),
    ])
}
