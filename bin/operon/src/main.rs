//! `operon`: one binary, one file per command; wiring, no rule of the domain.

mod catalog;
mod cli;
mod completion;
mod exit;
mod explanation;
mod output;
mod plan;
mod resolve;
mod semantics;
mod why;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    let result = match arguments.command {
        cli::Command::Catalog(command) => catalog::run(command),
        cli::Command::Plan(command) => plan::run(&command),
        cli::Command::Why(command) => why::run(&command),
        cli::Command::WhyNot(command) => why::not::run(&command),
        cli::Command::Resolve(command) => resolve::run(&command),
        cli::Command::Completion(command) => completion::shell(&command),
        cli::Command::Man(command) => completion::manual(&command),
    };
    exit::report(result)
}
