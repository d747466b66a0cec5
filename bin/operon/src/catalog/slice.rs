//! `operon catalog slice`: a smaller, valid catalog cut out of a catalog.

mod choice;
mod documents;
mod report;
mod write;

use std::{io, path::PathBuf};

use clap::{Args, ValueEnum};
use operon_catalog::slice::SlicePlan;
use operon_fbc::{MemoryFile, OutputFormat};
use operon_image::OpenedCatalog;

pub(super) use self::{
    choice::SliceChoice,
    report::{images, summary},
};
use super::open::CatalogPath;
use crate::{
    exit::Outcome,
    output::{Rendered, stderr_text},
};

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
    #[command(flatten)]
    choice: SliceChoice,
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

/// A notation of documents and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Notation {
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

pub(crate) fn run(command: &Slice) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let catalog = opened.catalog();
    let (plan, files) = cut(&opened, &command.choice, command.format)?;
    let images = images(&plan);
    if let Some(directory) = &command.output {
        write::files(directory, &files, command.force)?;
    }
    if let Some(file) = &command.images {
        write::lines(file, &images)?;
    }
    match (command.report, &command.output) {
        (Some(notation), _) => {
            let value = report::json(&plan, catalog, &images);
            let rendered = match notation {
                Notation::Json => value.to_json(),
                Notation::Yaml => value.to_yaml(),
            };
            rendered.print()?;
        }
        (None, output) => {
            if output.is_none() {
                print_documents(&files, command.format)?;
            }
            stderr_text(&summary(&plan, catalog, &images, output.as_deref()));
        }
    }
    Ok(Outcome::Done)
}

/// Cuts the slice, and reads it again as any tool will: the files are sound.
pub(super) fn cut<'o>(
    opened: &'o OpenedCatalog,
    choice: &SliceChoice,
    notation: Notation,
) -> anyhow::Result<(SlicePlan<'o>, Vec<MemoryFile>)> {
    let catalog = opened.catalog();
    let plan = choice.decide(catalog)?;
    let files = documents::files(opened, &plan, notation)?;
    write::check(&files, &plan, catalog)?;
    Ok((plan, files))
}

fn print_documents(files: &[MemoryFile], notation: Notation) -> io::Result<()> {
    for file in files {
        let text = String::from_utf8_lossy(&file.content).into_owned();
        let rendered = match notation {
            Notation::Json => Rendered::Json(text),
            Notation::Yaml => Rendered::Yaml(text),
        };
        rendered.print()?;
    }
    Ok(())
}
