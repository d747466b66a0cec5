//! `operon-conformance`: runs whole resolution cases, to compare the answers with upstream's.
//!
//! A case holds everything that a resolution reads, as files or as a line of JSON. No cluster is
//! contacted. The answers come from `operon_resolve`; this binary only reads cases and prints.

mod answer;
mod case;
mod catalogs;
mod directory;
mod explanation;
mod fetching;
mod json;
mod line;
mod output;
mod queue;
mod runner;
mod text;

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};
use operon_document::escape_json;
use operon_resolve::Semantics;

use self::{answer::CaseAnswer, fetching::FetchOptions, runner::Runner};

/// Run resolution cases and compare the answers with upstream's
#[derive(Debug, Parser)]
#[command(name = "operon-conformance", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Resolve(Resolve),
}

/// Resolve a namespace: which operators to install or upgrade, or why there is no solution
///
/// A case is a directory with `cluster.yaml` (or `cluster.json`: CatalogSources, OperatorGroups,
/// Subscriptions, ClusterServiceVersions), the file-based catalogs of its CatalogSources in
/// `catalogs/NAME`, and optionally `case.json` with `namespace`, `globalCatalogNamespace` (default
/// `olm`) and `catalogDirs`, whose values are paths, images or servers. With --fetch, a catalog that
/// the case does not contain is fetched as its CatalogSource says. Without it, the catalog is
/// unavailable. The namespace defaults to that of the only OperatorGroup.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 there is a solution, 1 there is none or the case has an error, 2 the command line is
wrong; with --jsonl: 0 every line is a case, 1 a line is not a case

Examples:
  operon-conformance resolve ./case
  operon-conformance resolve ./case -o json --semantics upstream
  operon-conformance resolve --jsonl cases.jsonl > answers.jsonl")]
struct Resolve {
    /// Directory of the case
    #[arg(value_name = "CASE_DIR", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    case: Option<PathBuf>,
    /// File with one case in JSON per line, each answered by a line of JSON; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
    /// Rules to resolve by
    #[arg(long, value_enum, default_value = "documented")]
    semantics: SemanticsChoice,
    /// Output format
    #[arg(short, long, value_enum, default_value = "table")]
    output: Format,
    /// Fetch the catalogs that the case does not contain, as their CatalogSources say
    #[arg(long, conflicts_with = "jsonl")]
    fetch: bool,
    #[command(flatten)]
    fetching: FetchOptions,
}

/// Rules to resolve by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SemanticsChoice {
    /// As documented; a failure stops only what depends on it
    Documented,
    /// As upstream's program behaves, including its messages
    Upstream,
}

impl SemanticsChoice {
    fn semantics(self) -> Semantics {
        match self {
            Self::Documented => Semantics::documented(),
            Self::Upstream => Semantics::upstream(),
        }
    }
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Table and explanations
    Table,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

fn main() -> ExitCode {
    let Arguments { command: Command::Resolve(command) } = Arguments::parse();
    match run(&command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", output::error_text(&error));
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; returns `false` if the answer is negative.
fn run(command: &Resolve) -> anyhow::Result<bool> {
    let runner = Runner {
        semantics: command.semantics,
        fetching: command.fetching.clone(),
        fetches: command.fetch,
        explains: command.jsonl.is_none(),
    };
    match (&command.jsonl, &command.case) {
        (Some(file), _) => answer_lines(file, &runner),
        (None, Some(directory)) => answer_directory(directory, &runner, command.output),
        (None, None) => anyhow::bail!("name the directory of a case, or a file with `--jsonl`"),
    }
}

fn answer_directory(path: &Path, runner: &Runner, format: Format) -> anyhow::Result<bool> {
    let answer = runner.answer(directory::read(path)?);
    let rendered = match format {
        Format::Table => output::screen(&text::render(&answer)),
        Format::Json => escape_json(&json::pretty(&answer)).into_owned(),
        Format::Yaml => json::yaml(&answer),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(rendered.as_bytes())?;
    stdout.flush()?;
    Ok(answer.is_resolved())
}

fn answer_lines(file: &Path, runner: &Runner) -> anyhow::Result<bool> {
    let name = file.to_string_lossy();
    let mut stdout = io::stdout().lock();
    let mut all_are_cases = true;
    let work = |number: usize, line: &[u8]| {
        let answer = match line::read(&name, number, line) {
            Ok(case) => runner.answer(case),
            Err(reason) => CaseAnswer::not_a_case(number, &reason),
        };
        (answer.is_case(), json::line(&answer))
    };
    let print = |(is_case, text): (bool, String)| {
        all_are_cases &= is_case;
        stdout.write_all(escape_json(&text).as_bytes())?;
        stdout.write_all(b"\n")
    };
    let failed = |number: usize| (true, json::line(&CaseAnswer::defect(number)));
    if file == Path::new("-") {
        queue::run(BufReader::new(io::stdin()), work, failed, print)?;
    } else {
        let opened = File::open(file).with_context(|| format!("cannot read `{name}`"))?;
        queue::run(BufReader::with_capacity(1 << 16, opened), work, failed, print)?;
    }
    stdout.flush()?;
    Ok(all_are_cases)
}
