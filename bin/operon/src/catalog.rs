//! `operon catalog …`: everything that can be known from a catalog alone.

mod build;
pub(crate) mod cells;
mod check;
mod diff;
pub(crate) mod find;
mod graph;
mod init;
mod lint;
mod list;
mod matrix;
mod migrate;
mod mirror;
pub(crate) mod open;
mod path;
pub(crate) mod render;
mod search;
pub(crate) mod show;
mod slice;
mod template;
mod validate;

use clap::Subcommand;

use crate::exit::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    Validate(validate::Validate),
    List(list::List),
    Show(show::Show),
    Search(search::Search),
    Graph(graph::Graph),
    Path(path::Path),
    Matrix(matrix::Matrix),
    Diff(diff::Diff),
    Slice(slice::Slice),
    Build(build::Build),
    Mirror(mirror::Mirror),
    Render(render::Render),
    Template(template::Template),
    Init(init::Init),
    Migrate(migrate::Migrate),
    Lint(lint::Lint),
    Check(check::Check),
}

pub(crate) fn run(command: CatalogCommand) -> anyhow::Result<Outcome> {
    match command {
        CatalogCommand::Validate(command) => validate::run(&command),
        CatalogCommand::List(command) => list::run(&command),
        CatalogCommand::Show(command) => show::run(&command),
        CatalogCommand::Search(command) => search::run(&command),
        CatalogCommand::Graph(command) => graph::run(&command),
        CatalogCommand::Path(command) => path::run(&command),
        CatalogCommand::Matrix(command) => matrix::run(&command),
        CatalogCommand::Diff(command) => diff::run(&command),
        CatalogCommand::Slice(command) => slice::run(&command),
        CatalogCommand::Build(command) => build::run(&command),
        CatalogCommand::Mirror(command) => mirror::run(&command),
        CatalogCommand::Render(command) => render::run(&command),
        CatalogCommand::Template(command) => template::run(&command),
        CatalogCommand::Init(command) => init::run(&command),
        CatalogCommand::Migrate(command) => migrate::run(&command),
        CatalogCommand::Lint(command) => lint::run(&command),
        CatalogCommand::Check(command) => check::run(&command),
    }
}
