//! `operon resolve`: which operators should run next in a namespace, or why none can.
//!
//! A case holds all that a resolution looks at, as files or as a line of JSON; no cluster is asked.
//! The answers are computed in the rooms below.

mod answer;
mod case;
mod catalogs;
mod compact;
mod conduct;
mod directory;
mod json;
mod line;
mod queue;
mod text;

use std::{
    fs::File,
    io::{self, BufReader},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;

use self::{answer::Answered, conduct::Conduct};
use crate::{
    exit::Outcome,
    fetching::FetchOptions,
    output::{JsonLines, OutputOptions, print},
    semantics::SemanticsChoice,
};

/// Resolves a namespace: which operators to install or update, or why there is no answer
///
/// A case is a directory with `cluster.yaml` (or `cluster.json`: CatalogSources, OperatorGroups,
/// Subscriptions, ClusterServiceVersions), the file-based catalogs of its CatalogSources in
/// `catalogs/NAME`, and perhaps `case.json` with `namespace`, `globalCatalogNamespace` (default
/// `olm`) and `catalogDirs`, whose catalogs are paths, images or servers as everywhere. A catalog
/// that lies nowhere is fetched as its CatalogSource says with --fetch, and cannot be read otherwise.
/// The namespace is by default that of the only OperatorGroup.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 there is an answer, 1 there is none or the case has an error, 2 the command line is
wrong; with --jsonl: 0 every line has been answered in one way or another, 1 a line is not a case

Examples:
  operon resolve ./case
  operon resolve ./case -o json --semantics upstream
  operon resolve --jsonl cases.jsonl > answers.jsonl")]
pub(crate) struct Resolve {
    /// The case: a directory
    #[arg(value_name = "CASE_DIR", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    case: Option<PathBuf>,
    /// Answers each line of a file, which is a whole case in JSON, with a line of JSON; `-` reads
    /// standard input
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
    /// Whose rules count
    #[arg(long, value_enum, default_value = "documented")]
    semantics: SemanticsChoice,
    #[command(flatten)]
    output: OutputOptions,
    /// Fetches the catalogs that the case does not have, as their CatalogSources say
    #[arg(long, conflicts_with = "jsonl")]
    fetch: bool,
    #[command(flatten)]
    fetching: FetchOptions,
}

pub(crate) fn run(command: &Resolve) -> anyhow::Result<Outcome> {
    let conduct = Conduct {
        semantics: command.semantics,
        fetching: command.fetching.clone(),
        fetches: command.fetch,
        explains: command.jsonl.is_none(),
    };
    match (&command.jsonl, &command.case) {
        (Some(file), _) => answer_lines(file, &conduct),
        (None, Some(directory)) => answer_directory(directory, &conduct, command),
        (None, None) => anyhow::bail!("name the directory of a case, or a file with `--jsonl`"),
    }
}

fn answer_directory(path: &Path, conduct: &Conduct, command: &Resolve) -> anyhow::Result<Outcome> {
    let case = directory::read(path)?;
    let answered = conduct.answer(case);
    print(command.output.output, || text::answer(&answered), || json::answer(&answered))?;
    Ok(if answered.is_resolved() { Outcome::Done } else { Outcome::Negative })
}

fn answer_lines(file: &Path, conduct: &Conduct) -> anyhow::Result<Outcome> {
    let name = file.to_string_lossy();
    let mut lines = JsonLines::new();
    let mut all_are_cases = true;
    let work = |number: usize, line: &[u8]| {
        let answered = match line::read(&name, number, line) {
            Ok(case) => conduct.answer(case),
            Err(reason) => Answered::not_a_case(number, &reason),
        };
        (answered.is_case(), compact::line(&json::answer(&answered)))
    };
    let print = |(is_case, text): (bool, String)| {
        all_are_cases &= is_case;
        lines.print(&text)
    };
    let failed = |number: usize| {
        let answered = Answered::defect(number);
        (true, compact::line(&json::answer(&answered)))
    };
    if file == Path::new("-") {
        queue::run(BufReader::new(io::stdin()), work, failed, print)?;
    } else {
        let opened = File::open(file).with_context(|| format!("cannot read `{name}`"))?;
        queue::run(BufReader::with_capacity(1 << 16, opened), work, failed, print)?;
    }
    lines.finish()?;
    Ok(if all_are_cases { Outcome::Done } else { Outcome::Negative })
}
