//! `operon catalog lint`: best practices, for authors and catalog maintainers.

use clap::Args;
use operon_catalog::{Diagnostic, Severity, lint};

use super::open::CatalogPath;
use crate::{
    exit::Outcome,
    output::{FindingsFormat, Sources, render_findings, summary_line},
};

/// Checks a catalog against best practices: minimum versions, wide ranges, one mechanism per dependency …
///
/// Lint says what is valid, works, and still surprises users. Errors are the business of
/// `operon catalog validate`; the warnings found there are repeated here.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 nothing to say, or only advice; 1 the catalog has errors, or --deny found something

Examples:
  operon catalog lint ./catalog
  operon catalog lint ./catalog --rule narrow-maximum --format github
  operon catalog lint ./catalog --deny no-minimum-version --deny narrow-maximum")]
pub(crate) struct Lint {
    #[command(flatten)]
    catalog: CatalogPath,
    /// How to print what was found
    #[arg(long, value_enum, default_value = "text")]
    format: FindingsFormat,
    /// Says only what these rules find
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// Lets findings of these rules count as errors; `all` stands for every rule
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// Says also what is rarely a mistake, such as ranges that admit pre-releases
    #[arg(long)]
    pedantic: bool,
}

pub(crate) fn run(command: &Lint) -> anyhow::Result<Outcome> {
    for id in command.rules.iter().chain(&command.deny).filter(|id| *id != "all") {
        anyhow::ensure!(operon_catalog::Rule::from_id(id).is_some(), "there is no rule `{id}`");
    }
    let opened = command.catalog.open()?;
    let catalog = opened.catalog();
    let warnings = catalog.diagnostics().filter(|finding| finding.severity() == Severity::Warning);
    let pedantic = |finding: &Diagnostic| finding.rule == operon_catalog::Rule::RangeAdvice;
    let chosen = |finding: &Diagnostic| {
        let named = command.rules.iter().any(|id| id == finding.rule.id());
        named || (command.rules.is_empty() && (command.pedantic || !pedantic(finding)))
    };
    let findings: Vec<Diagnostic> = warnings.chain(lint(catalog)).filter(chosen).collect();
    let argument = command.catalog.path.to_string_lossy();
    let sources = &mut Sources::new(&opened, &argument);
    render_findings(&findings, command.format, sources, || summary_line(&findings, catalog))
        .print()?;
    let denied =
        |finding: &Diagnostic| command.deny.iter().any(|id| id == "all" || id == finding.rule.id());
    let fails = findings.iter().any(denied) || !catalog.is_valid();
    Ok(if fails { Outcome::Negative } else { Outcome::Done })
}
