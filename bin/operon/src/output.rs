//! What people and programs see: tables, JSON and YAML; colour only on a terminal.

mod clean;
mod findings;
mod json;
mod table;
pub(crate) mod terminal;

use std::io::{self, Write};

use clap::{Args, ValueEnum};

pub(crate) use self::{
    clean::clean,
    findings::{FindingsFormat, Sources, print_findings, summary_line},
    json::Json,
    table::Table,
};

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people
    Table,
    /// JSON for programs
    Json,
    /// YAML for programs
    Yaml,
}

/// The choice of how an answer is printed.
#[derive(Debug, Args)]
pub(crate) struct OutputOptions {
    /// How to print the answer
    #[arg(short, long, value_enum, default_value = "table")]
    pub(crate) output: Format,
}

/// Prints an answer: the table for people, or the value for programs.
pub(crate) fn print(
    format: Format,
    table: impl FnOnce() -> String,
    value: impl FnOnce() -> Json,
) -> io::Result<()> {
    let text = match format {
        Format::Table => table(),
        Format::Json => value().to_json_text(),
        Format::Yaml => value().to_yaml_text(),
    };
    print_text(&text)
}

/// Prints text, stripping colour when it does not go to a terminal.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
