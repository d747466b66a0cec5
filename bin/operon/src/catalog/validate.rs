//! `operon catalog validate`: every mistake at once, with its place, its rule and a way out.

use std::time::Instant;

use clap::Args;
use operon_catalog::{Diagnostic, Rule, Severity};

use super::open::CatalogPath;
use crate::{
    exit::Outcome,
    output::{FindingsFormat, Sources, render_findings, summary_line},
};

/// Checks a catalog against every rule of upstream, and against what upstream does not check
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the catalog is valid (warnings do not count), 1 it has errors or cannot be read

Examples:
  operon catalog validate ./catalog
  operon catalog validate ./catalog --format github
  operon catalog validate ./catalog --format json --deny-warnings")]
pub(crate) struct Validate {
    #[command(flatten)]
    catalog: CatalogPath,
    /// How to print what was found
    #[arg(long, value_enum, default_value = "text")]
    format: FindingsFormat,
    /// Lets warnings count as errors
    #[arg(long)]
    deny_warnings: bool,
}

pub(crate) fn run(command: &Validate) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let opened = command.catalog.open_quietly()?;
    let catalog = opened.catalog();
    let mut findings: Vec<Diagnostic> = catalog.diagnostics().collect();
    if let Some(problem) = opened.emptiness(&command.catalog.path.to_string_lossy()) {
        findings.push(
            Diagnostic::new(Rule::NoCatalog, problem)
                .help("give the directory that holds the catalog's JSON or YAML files, in images often `/configs`"),
        );
    }
    let argument = command.catalog.path.to_string_lossy();
    let mut sources = Sources::new(&opened, &argument);
    let summary = || {
        let milliseconds = start.elapsed().as_millis();
        format!("{} ({milliseconds} ms)", summary_line(&findings, catalog))
    };
    render_findings(&findings, command.format, &mut sources, summary).print()?;
    let fails = |finding: &Diagnostic| match finding.severity() {
        Severity::Error => true,
        Severity::Warning => command.deny_warnings,
        Severity::Advice => false,
    };
    Ok(if findings.iter().any(fails) { Outcome::Negative } else { Outcome::Done })
}
