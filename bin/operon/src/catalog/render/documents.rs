//! Catalog documents as they are printed: JSON or YAML, always in the same order.
//!
//! Answers about catalogs are printed elsewhere; what is printed here can be read back as a catalog.

use std::{fmt, io};

use clap::{Args, ValueEnum};
use operon_bundle::Migration;
use operon_fbc::{OutputFormat, write_documents};

use crate::output::Rendered;

/// The choice of the notation that documents are written in.
#[derive(Debug, Args)]
pub(crate) struct DocumentOptions {
    /// The notation to write documents in
    #[arg(short, long, value_enum, default_value = "json")]
    pub(crate) output: Notation,
}

/// The notation of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Notation {
    /// JSON objects one after another
    Json,
    /// YAML documents, each behind a line `---`
    Yaml,
}

impl Notation {
    /// Returns the format of the writer.
    pub(crate) fn format(self) -> OutputFormat {
        match self {
            Notation::Json => OutputFormat::Json,
            Notation::Yaml => OutputFormat::Yaml,
        }
    }

    /// Returns the end of a file's name, without the dot.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Notation::Json => "json",
            Notation::Yaml => "yaml",
        }
    }

    /// Writes documents, sorted, as one text.
    pub(crate) fn write<T: AsRef<str>>(self, documents: &[T]) -> anyhow::Result<String> {
        Ok(write_documents(documents, self.format())?)
    }

    /// Prints written documents to standard output.
    pub(crate) fn print(self, text: &str) -> io::Result<()> {
        let rendered = match self {
            Notation::Json => Rendered::Json(text.to_owned()),
            Notation::Yaml => Rendered::Yaml(text.to_owned()),
        };
        rendered.print()
    }
}

/// Returns what `--migrate` asks for.
pub(crate) fn migration(asked: bool) -> Migration {
    if asked { Migration::BundleObjectToCsvMetadata } else { Migration::None }
}

/// Prints a number with its noun: "1 bundle", "2 bundles".
pub(crate) struct Count<'n>(pub(crate) usize, pub(crate) &'n str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count(number, noun) = self;
        let plural = if *number == 1 { "" } else { "s" };
        write!(formatter, "{number} {noun}{plural}")
    }
}
