//! `operon catalog list`: the packages, channels, bundles or APIs of a catalog, one row each.
//!
//! Tables are for eyes and shorten what is long; JSON and YAML hold everything. Nothing is decided
//! here about updates: heads and orders come from the catalog.

mod api_pattern;
mod apis;
mod bundles;
mod channels;
mod packages;
mod select;

use clap::{Args, Subcommand};

use crate::{
    exit::Outcome,
    output::{Format, Json, Rendered, Table, stderr_line},
};

/// Lists packages, channels, bundles or APIs
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done (also when nothing matches), 1 a name is unknown or the catalog cannot be read

Examples:
  operon catalog list packages ./catalog
  operon catalog list bundles ./catalog --package etcd --default-only
  operon catalog list bundles ./catalog --provides Kafka.kafka.strimzi.io -o json
  operon catalog list apis ./catalog --missing")]
pub(crate) struct List {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Packages(packages::Packages),
    Channels(channels::Channels),
    Bundles(bundles::Bundles),
    Apis(apis::Apis),
}

pub(crate) fn run(command: &List) -> anyhow::Result<Outcome> {
    match &command.what {
        What::Packages(command) => packages::run(command),
        What::Channels(command) => channels::run(command),
        What::Bundles(command) => bundles::run(command),
        What::Apis(command) => apis::run(command),
    }
}

/// Rows to print, and what to say when there are none.
struct Rows<'r, R> {
    rows: &'r [R],
    /// What the rows are, such as `packages`.
    noun: &'r str,
    /// Why there may be none, one line each.
    hints: Vec<String>,
}

impl<R> Rows<'_, R> {
    /// Prints the rows; an empty answer is said on standard error, where no program reads it.
    fn print(
        &self,
        format: Format,
        header: &[&str],
        cells: impl Fn(&R) -> Vec<String>,
        value: impl Fn(&R) -> Json,
    ) -> anyhow::Result<Outcome> {
        if self.rows.is_empty() {
            stderr_line!("no {} match", self.noun);
            for hint in &self.hints {
                stderr_line!("hint: {hint}");
            }
        }
        let values = || Json::list(self.rows.iter().map(value));
        let rendered = match format {
            Format::Table if self.rows.is_empty() => Rendered::Text(String::new()),
            Format::Table => {
                let mut table = Table::new(header);
                for row in self.rows {
                    table.row(cells(row));
                }
                Rendered::Text(table.render())
            }
            Format::Json => values().to_json(),
            Format::Yaml => values().to_yaml(),
        };
        rendered.print()?;
        Ok(Outcome::Done)
    }
}
