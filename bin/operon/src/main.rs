//! `operon`: one binary, one file per command; wiring, no rule of the domain.

mod apply;
mod approve;
mod bundle;
mod cache;
mod catalog;
mod cli;
mod cluster;
mod completion;
mod controller;
mod copy_self;
mod crds;
mod delete;
mod describe;
mod events;
mod exit;
mod explanation;
mod fetching;
mod get;
mod history;
mod manifests;
mod output;
mod pin;
mod plan;
mod registry;
mod rollback;
mod semantics;
mod serve;
mod shipping;
mod system;
mod tree;
mod uninstall;
mod up;
mod why;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(message) => {
            output::print_usage(&message);
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(u8::MAX));
        }
    };
    let result = match arguments.command {
        cli::Command::Up(command) => up::run(&command),
        cli::Command::Apply(command) => apply::run(&command),
        cli::Command::Get(command) => get::run(&command),
        cli::Command::Describe(command) => describe::run(&command),
        cli::Command::Events(command) => events::run(&command),
        cli::Command::Delete(command) => delete::run(&command),
        cli::Command::Approve(command) => approve::approve(&command),
        cli::Command::Reject(command) => approve::reject(&command),
        cli::Command::Pin(command) => pin::pin(&command),
        cli::Command::Pause(command) => pin::pause(&command),
        cli::Command::Uninstall(command) => uninstall::run(&command),
        cli::Command::Rollback(command) => rollback::run(&command),
        cli::Command::History(command) => history::run(&command),
        cli::Command::Tree(command) => tree::run(&command),
        cli::Command::Catalog(command) => catalog::run(command),
        cli::Command::Serve(command) => serve::run(&command),
        cli::Command::Registry(command) => registry::run(&command),
        cli::Command::Bundle(command) => bundle::run(&command),
        cli::Command::Cache(command) => cache::run(&command),
        cli::Command::Plan(command) => plan::run(&command),
        cli::Command::Why(command) => why::run(&command),
        cli::Command::WhyNot(command) => why::not::run(&command),
        cli::Command::Install(command) => system::install(&command),
        cli::Command::Status(command) => system::status(&command),
        cli::Command::Controller(command) => controller::run(&command),
        cli::Command::CopySelf(command) => copy_self::run(&command),
        cli::Command::Crds(command) => crds::run(&command),
        cli::Command::Manifests(command) => system::print(&command),
        cli::Command::Image(command) => system::make_image(&command),
        cli::Command::Completion(command) => completion::shell(&command),
        cli::Command::Man(command) => completion::manual(&command),
    };
    exit::report(result)
}
