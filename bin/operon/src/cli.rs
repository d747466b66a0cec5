//! The command line: what can be typed.

use clap::{Parser, Subcommand};

use crate::{
    apply, approve, bundle::BundleCommand, cache::CacheCommand, catalog::CatalogCommand,
    completion, controller, copy_self, crds, delete, describe, events, get, history, pin, plan,
    registry, rollback, serve, system, tree, uninstall, up, why,
};

/// Keeps a cluster's operators installed, working together and up to date.
#[derive(Debug, Parser)]
#[command(
    name = "operon",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 the catalog or the question has an error, 2 the command line is wrong, a plan has changes or something is wrong with Operon itself"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(up::Up),
    Apply(apply::Apply),
    Get(get::Get),
    Describe(describe::Describe),
    Events(events::Events),
    Delete(delete::Delete),
    Approve(approve::Approve),
    Reject(approve::Reject),
    Pin(pin::Pin),
    Pause(pin::Pause),
    Uninstall(uninstall::Uninstall),
    Rollback(rollback::Rollback),
    History(history::History),
    Tree(tree::Tree),
    /// Reads, checks, queries, draws, compares, builds and mirrors catalogs; needs no cluster
    #[command(subcommand)]
    Catalog(CatalogCommand),
    Serve(serve::Serve),
    /// Asks a server of catalogs over the registry API
    #[command(subcommand)]
    Registry(registry::RegistryCommand),
    /// Checks, shows, renders, compares and builds bundles; needs no cluster
    #[command(subcommand)]
    Bundle(BundleCommand),
    /// Shows what was fetched and read before, and makes room
    #[command(subcommand)]
    Cache(CacheCommand),
    Plan(plan::Plan),
    Why(why::Why),
    WhyNot(why::not::WhyNot),
    Install(system::Install),
    Status(system::Status),
    Controller(controller::Controller),
    Crds(crds::Crds),
    Manifests(system::Manifests),
    Image(system::Image),
    #[command(hide = true)]
    CopySelf(copy_self::CopySelf),
    /// Prints a completion script for a shell
    Completion(completion::Shell),
    /// Writes the manual pages
    Man(completion::Manual),
}
