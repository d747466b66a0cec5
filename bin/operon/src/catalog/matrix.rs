//! `operon catalog matrix`: from every version to every version, and who is left behind.

mod text;

use clap::Args;
use operon_catalog::{
    graph::Rules,
    journey::{self, Matrix as UpdateMatrix, MatrixRow, MatrixTable},
};

use super::{
    find::find_package,
    open::CatalogPath,
    path::{
        RulesChoice, installed_json,
        names::{chosen_channels, rules_key},
    },
};
use crate::{
    exit::Outcome,
    output::{self, Json, OutputOptions, terminal},
};

/// Shows which versions of a package can be updated to which, in how many hops
///
/// Rows are versions that may be installed, columns are versions that can be reached; a cell is the
/// number of hops, `.` means that there is no way. OLM v0 follows one channel, and OLM v1 is asked
/// both for each channel and for all of them together.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the matrix was printed, whoever is stranded; 1 the package or a channel does not exist

Examples:
  operon catalog matrix ./catalog etcd
  operon catalog matrix ./catalog etcd --channel alpha --rules v0
  operon catalog matrix ./catalog etcd -o json")]
pub(crate) struct Matrix {
    #[command(flatten)]
    catalog: CatalogPath,
    /// The package
    package: String,
    /// Only this channel; may be given several times
    #[arg(long)]
    channel: Vec<String>,
    /// Whose rules decide what is an update
    #[arg(long, value_enum, default_value = "both")]
    rules: RulesChoice,
    /// How wide the text may be; wider matrices are printed as lists [default: the terminal's width,
    /// or 100]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(command: &Matrix) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let package = find_package(opened.catalog(), &command.package)?;
    let channels = chosen_channels(package, &command.channel)?;
    let matrix = journey::matrix(package, &channels, command.rules.rules())?;
    let width = command.width.unwrap_or_else(terminal::width);
    output::print(command.output.output, || text::render(&matrix, width), || json(&matrix))?;
    Ok(Outcome::Done)
}

/// A version whose updates end elsewhere under OLM v1 than under OLM v0 in the same channel.
struct Differing<'m> {
    channel: &'m str,
    installed: usize,
    v0_end: Option<&'m str>,
    v1_end: Option<&'m str>,
}

/// Finds the table of the other rules for the same single channel.
fn counterpart<'m, 'c>(
    matrix: &'m UpdateMatrix<'c>,
    table: &MatrixTable<'c>,
) -> Option<&'m MatrixTable<'c>> {
    let [channel] = table.channels.as_slice() else {
        return None;
    };
    matrix.tables.iter().find(|other| {
        other.rules != table.rules
            && matches!(other.channels.as_slice(), [only] if only.id() == channel.id())
    })
}

fn end_name<'c>(table: &MatrixTable<'c>, row: &MatrixRow) -> Option<&'c str> {
    row.end.map(|end| table.targets[end].name)
}

fn differing<'m>(matrix: &'m UpdateMatrix<'_>) -> Vec<Differing<'m>> {
    let mut found = Vec::new();
    for table in matrix.tables.iter().filter(|table| table.rules == Rules::V0) {
        let Some(other) = counterpart(matrix, table) else {
            continue;
        };
        let channel = table.channels.first().map_or("", |channel| channel.name());
        for row in &other.rows {
            let v1_end = end_name(other, row);
            let same = table.rows.iter().find(|candidate| candidate.installed == row.installed);
            let v0_end = same.and_then(|row| end_name(table, row));
            if v0_end != v1_end {
                found.push(Differing { channel, installed: row.installed, v0_end, v1_end });
            }
        }
    }
    found
}

fn json(matrix: &UpdateMatrix<'_>) -> Json {
    let name = |position: usize| matrix.installed[position].name.as_str();
    let differing = differing(matrix).into_iter().map(|differing| {
        Json::Object(vec![
            ("channel", Json::text(differing.channel)),
            ("installed", Json::text(name(differing.installed))),
            ("v0End", Json::optional(differing.v0_end)),
            ("v1End", Json::optional(differing.v1_end)),
        ])
    });
    Json::Object(vec![
        ("package", Json::text(matrix.package.name())),
        ("installed", Json::list(matrix.installed.iter().map(installed_json))),
        ("tables", Json::list(matrix.tables.iter().map(|table| table_json(matrix, table)))),
        ("endsDiffer", Json::list(differing)),
    ])
}

fn table_json(matrix: &UpdateMatrix<'_>, table: &MatrixTable<'_>) -> Json {
    let targets = table.targets.iter().map(|target| {
        let bundle = target.bundle;
        Json::Object(vec![
            ("name", Json::text(target.name)),
            ("version", Json::optional(bundle.map(|bundle| bundle.version_text()))),
            ("head", Json::Bool(target.is_head)),
            ("deprecation", Json::optional(bundle.and_then(|bundle| bundle.deprecation()))),
        ])
    });
    let rows = table.rows.iter().map(|row| {
        let reach = row
            .reach
            .iter()
            .map(|&(target, hops)| (table.targets[target].name.to_owned(), Json::number(hops)));
        Json::Object(vec![
            ("installed", Json::text(&matrix.installed[row.installed].name)),
            ("reach", Json::Map(reach.collect())),
            ("end", Json::optional(end_name(table, row))),
            ("automaticHops", Json::number(row.automatic_hops)),
            ("stranded", Json::optional(row.stranded.as_ref().map(ToString::to_string))),
        ])
    });
    Json::Object(vec![
        ("rules", Json::text(rules_key(table.rules))),
        ("channels", Json::texts(table.channels.iter().map(|channel| channel.name()))),
        ("targets", Json::list(targets)),
        ("rows", Json::list(rows)),
    ])
}
