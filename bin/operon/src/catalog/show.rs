//! `operon catalog show`: everything a catalog knows about one package, channel or bundle.
//!
//! Each answer is gathered once as a value and then written as a page for people or as JSON and
//! YAML for programs. Nothing is chosen or resolved: all that fits is named.

mod answer;
mod bundle;
mod channel;
mod manifest;
mod package;
pub(crate) mod page;
mod prose;
pub(super) mod relation;
mod target;

use clap::Args;
use operon_catalog::Place;
use operon_image::OpenedCatalog;

use self::{
    bundle::BundleView,
    channel::ChannelView,
    package::PackageView,
    target::{Target, find_target},
};
use super::open::CatalogPath;
use crate::{
    exit::Outcome,
    output::{Format, Json, OutputOptions, print, terminal},
};

/// Shows a package, a channel or a bundle: what it provides, requires and replaces, and who requires it
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 shown, 1 the package, channel or bundle is unknown, or the catalog cannot be read

Examples:
  operon catalog show ./catalog etcd
  operon catalog show ./catalog etcd/clusterwide-alpha
  operon catalog show ./catalog etcd@0.9.4 -o json
  operon catalog show ./catalog etcdoperator.v0.9.4 --document")]
pub(crate) struct Show {
    #[command(flatten)]
    catalog: CatalogPath,
    /// What to show; a bundle is named by its name or its version
    #[arg(value_name = "PACKAGE[/CHANNEL|@BUNDLE]")]
    target: String,
    /// Cuts nothing short
    #[arg(long)]
    full: bool,
    /// Prints the whole document of the catalog instead
    #[arg(long)]
    document: bool,
    #[command(flatten)]
    output: OutputOptions,
}

/// How a page for people is written.
#[derive(Debug, Clone, Copy)]
struct PageOptions {
    columns: usize,
    full: bool,
}

pub(crate) fn run(command: &Show) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let target = find_target(opened.catalog(), &command.target)?;
    if command.document {
        let place = match &target {
            Target::Package(package) => package.place(),
            Target::Channel(channel) => channel.place(),
            Target::Bundle(bundle) => bundle.place(),
        };
        print_document(&opened, place, command.output.output)?;
        return Ok(Outcome::Done);
    }
    let format = command.output.output;
    let options = || PageOptions { columns: terminal::width(), full: command.full };
    match target {
        Target::Package(package) => {
            let view = PackageView::gather(&opened, package);
            print(format, || view.page(options()), || view.value())?;
        }
        Target::Channel(channel) => {
            let view = ChannelView::gather(&opened, channel);
            print(format, || view.page(options()), || view.value())?;
        }
        Target::Bundle(bundle) => {
            let view = BundleView::gather(&opened, bundle);
            print(format, || view.page(options()), || view.value())?;
        }
    }
    Ok(Outcome::Done)
}

/// A document has no form for people but JSON.
fn print_document(opened: &OpenedCatalog, place: Place, format: Format) -> anyhow::Result<()> {
    let document = Json::Raw(opened.document(place)?);
    let rendered = match format {
        Format::Table | Format::Json => document.to_json(),
        Format::Yaml => document.to_yaml(),
    };
    rendered.print()?;
    Ok(())
}

/// Returns a name with its version behind it, when it has one.
fn with_version(name: &str, version: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name} ({version})") }
}
