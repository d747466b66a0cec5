//! `operon catalog slice`: a smaller, valid catalog cut out of a catalog.

mod documents;
mod report;
mod write;

use std::{io, path::PathBuf};

use anstream::eprint;
use clap::{Args, ValueEnum};
use operon_catalog::slice::{self, KeepRule, KeepRuleError, KeptVersions, SliceOptions};
use operon_fbc::OutputFormat;

use super::{
    find::{find_channel, find_package},
    open::CatalogPath,
};
use crate::{exit::Outcome, output::print_text};

/// Cuts a smaller, valid catalog out of a catalog
///
/// Kept are the versions asked for, what lies between them and the newest of them, and what they
/// require. Every kept channel has one head and every kept version can be updated to it; a default
/// channel that is not kept is replaced by the kept channel with the highest head. The result is
/// checked like `operon catalog validate` does before anything is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the slice was made (a requirement that nothing meets is a warning), 1 it cannot be made

Examples:
  operon catalog slice ./catalog --keep etcd --keep 'prometheus/beta@>=0.37.0' --output ./mirror
  operon catalog slice ./catalog --keep etcd --heads-only --format yaml > etcd.yaml
  operon catalog slice ./catalog --keep etcd --images images.txt --output ./mirror -o json")]
pub(crate) struct Slice {
    #[command(flatten)]
    catalog: CatalogPath,
    /// What to keep: a package, a channel of it, versions in a range; may be given several times
    #[arg(long, required = true, value_name = "PACKAGE[/CHANNEL][@RANGE]", value_parser = parse_rule)]
    keep: Vec<KeepRule>,
    /// Keeps only the head of each channel, except where a range is given
    #[arg(long)]
    heads_only: bool,
    /// Whether what kept bundles require is kept too
    #[arg(long, value_enum, default_value = "all")]
    dependencies: Dependencies,
    /// The directory to write to, a file for each package; the documents are printed otherwise
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Writes into a directory that is not empty
    #[arg(long, requires = "output")]
    force: bool,
    /// The notation to write
    #[arg(long, value_enum, default_value = "json")]
    format: Notation,
    /// Writes the images that the slice needs to a file, one a line
    #[arg(long, value_name = "FILE")]
    images: Option<PathBuf>,
    /// Prints a report for programs instead of the documents and the summary
    #[arg(short = 'o', long, value_enum, value_name = "FORMAT")]
    report: Option<Notation>,
}

/// Whether dependencies are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dependencies {
    /// Keeps the preferred provider of everything that is required
    All,
    /// Keeps only what is asked for
    None,
}

/// A notation of documents and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Notation {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

impl Notation {
    fn output_format(self) -> OutputFormat {
        match self {
            Notation::Json => OutputFormat::Json,
            Notation::Yaml => OutputFormat::Yaml,
        }
    }

    fn file_extension(self) -> &'static str {
        match self {
            Notation::Json => "json",
            Notation::Yaml => "yaml",
        }
    }
}

fn parse_rule(text: &str) -> Result<KeepRule, KeepRuleError> {
    KeepRule::parse(text)
}

pub(crate) fn run(command: &Slice) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let catalog = opened.catalog();
    for rule in &command.keep {
        let package = find_package(catalog, &rule.package)?;
        rule.channel.as_ref().map(|channel| find_channel(package, channel)).transpose()?;
    }
    let plan = slice::slice(catalog, &options(command))?;
    let files = documents::files(&opened, &plan, command.format)?;
    write::check(&files, &plan, catalog)?;
    let images = report::images(&plan);
    if let Some(directory) = &command.output {
        write::files(directory, &files, command.force)?;
    }
    if let Some(file) = &command.images {
        write::lines(file, &images)?;
    }
    match (command.report, &command.output) {
        (Some(notation), _) => {
            let value = report::json(&plan, catalog, &images);
            print_text(&match notation {
                Notation::Json => value.to_json_text(),
                Notation::Yaml => value.to_yaml_text(),
            })?;
        }
        (None, output) => {
            if output.is_none() {
                print_documents(&files)?;
            }
            eprint!("{}", report::summary(&plan, catalog, &images, output.as_deref()));
        }
    }
    Ok(Outcome::Done)
}

fn options(command: &Slice) -> SliceOptions {
    let rules = command.keep.iter().cloned().map(|rule| match rule.versions {
        KeptVersions::All if command.heads_only => {
            KeepRule { versions: KeptVersions::Head, ..rule }
        }
        KeptVersions::All | KeptVersions::Range(_) | KeptVersions::Head => rule,
    });
    SliceOptions {
        rules: rules.collect(),
        with_dependencies: match command.dependencies {
            Dependencies::All => true,
            Dependencies::None => false,
        },
    }
}

fn print_documents(files: &[operon_fbc::MemoryFile]) -> io::Result<()> {
    for file in files {
        print_text(&String::from_utf8_lossy(&file.content))?;
    }
    Ok(())
}
