//! What people and programs see: tables, JSON and YAML; colour only on a terminal.

mod clean;
mod findings;
mod json;
mod progress;
mod stdio;
mod table;
pub(crate) mod terminal;

use std::io;

use clap::{Args, ValueEnum};

pub(crate) use self::{
    clean::{clean, clean_lines},
    findings::{FindingsFormat, Sources, findings_text, render_findings, summary_line},
    json::Json,
    progress::Bar,
    stdio::{
        Rendered, print_generated, print_text, print_usage, repaint, stderr_error,
        stderr_is_terminal, stderr_line, stderr_log_line, stderr_text, stdout_is_terminal,
    },
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
    #[arg(short, long, value_enum, default_value = "table", global = true)]
    pub(crate) output: Format,
}

/// Prints an answer: the table for people, or the value for programs.
pub(crate) fn print(
    format: Format,
    table: impl FnOnce() -> String,
    value: impl FnOnce() -> Json,
) -> io::Result<()> {
    let rendered = match format {
        Format::Table => Rendered::Text(table()),
        Format::Json => value().to_json(),
        Format::Yaml => value().to_yaml(),
    };
    rendered.print()
}
