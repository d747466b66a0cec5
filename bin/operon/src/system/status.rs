//! `operon status`: how Operon itself stands on a cluster, and what is wrong there.
//!
//! Everything is read from objects; nothing is changed, and no catalog is fetched.

mod facts;
mod report;
mod signatures;

use clap::Args;

use self::facts::Facts;
use crate::{
    cluster::{ClusterArguments, now},
    exit::Outcome,
    output::Rendered,
    shipping::ReportFormat,
};

/// Says how Operon stands: controllers, catalogs, operators, and what is wrong
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all is well, 2 something is wrong, 1 the cluster cannot be asked

Examples:
  operon status
  operon status -o json
  operon status --local ./harbour")]
pub(crate) struct Status {
    /// How to print the answer
    #[arg(short, long, value_enum, default_value = "text")]
    output: ReportFormat,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn run(command: &Status) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let mut facts = Facts::of(&cluster, now())?;
    // What helps is to be run on the same cluster.
    let option = command.cluster.option();
    for problem in facts.problems.iter_mut().filter(|problem| problem.help.starts_with("operon ")) {
        problem.help.push_str(&option);
    }
    let rendered = match command.output {
        ReportFormat::Text => Rendered::Text(report::text(&facts)),
        ReportFormat::Json => report::json(&facts).to_json(),
    };
    rendered.print()?;
    Ok(if facts.problems.is_empty() { Outcome::Done } else { Outcome::Changes })
}
