//! `operon catalog graph`: the upgrade graph of a package, for a terminal, a page or a diagram tool.

mod lift;
pub(super) mod standing;

use std::{fs, path::PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use operon_catalog::{Channel, Package};
use operon_draw::{TextOptions, dot, mermaid, svg, text};

use super::{
    find::{find_channel, find_package},
    open::CatalogPath,
};
use crate::{
    exit::Outcome,
    output::{print_text, stderr_line, terminal},
};

/// Draws the upgrade graph of a package
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 drawn, 1 the package or channel is unknown, or something cannot be read or written

Examples:
  operon catalog graph ./catalog etcd
  operon catalog graph ./catalog strimzi-kafka-operator --channel stable
  operon catalog graph ./catalog etcd --file etcd.svg
  operon catalog graph ./catalog etcd --format dot | dot -Tpng -o etcd.png")]
pub(crate) struct Graph {
    #[command(flatten)]
    catalog: CatalogPath,
    /// The package
    package: String,
    /// Only this channel; may be repeated
    #[arg(long, value_name = "NAME")]
    channel: Vec<String>,
    /// How to draw it [default: by the ending of --file, else text]
    #[arg(long, value_enum)]
    format: Option<Drawing>,
    /// Writes the drawing to this file
    #[arg(short, long, value_name = "OUT")]
    file: Option<PathBuf>,
    /// Draws text with ASCII characters only
    #[arg(long)]
    ascii: bool,
}

/// The forms a graph can be drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// Lines and signs for a terminal
    Text,
    /// A picture for browsers
    Svg,
    /// A Mermaid flowchart, which GitHub and GitLab draw in markdown
    Mermaid,
    /// Graphviz
    Dot,
}

pub(crate) fn run(command: &Graph) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let package = find_package(opened.catalog(), &command.package)?;
    let graph = lift::lift(package, channels(command, package)?);
    let drawn = match command.drawing() {
        Drawing::Text => text(&graph, &command.text_options()),
        Drawing::Svg => svg(&graph),
        Drawing::Mermaid => mermaid(&graph),
        Drawing::Dot => dot(&graph),
    };
    match &command.file {
        None => print_text(&drawn)?,
        Some(file) => {
            let place = file.display();
            fs::write(file, drawn)
                .with_context(|| format!("cannot write the drawing to `{place}`"))?;
            stderr_line!("wrote {place}");
        }
    }
    Ok(Outcome::Done)
}

fn channels<'a>(command: &Graph, package: Package<'a>) -> anyhow::Result<Vec<Channel<'a>>> {
    if command.channel.is_empty() {
        return Ok(package.channels().collect());
    }
    let found: anyhow::Result<Vec<Channel<'a>>> =
        command.channel.iter().map(|name| find_channel(package, name)).collect();
    let mut channels = found?;
    channels.sort_by_key(|channel| channel.id());
    channels.dedup_by_key(|channel| channel.id());
    Ok(channels)
}

impl Graph {
    fn drawing(&self) -> Drawing {
        let ending =
            self.file.as_ref().and_then(|file| file.extension()).and_then(|ending| ending.to_str());
        let by_ending = || match ending {
            Some("svg") => Drawing::Svg,
            Some("mmd" | "mermaid") => Drawing::Mermaid,
            Some("dot" | "gv") => Drawing::Dot,
            Some(_) | None => Drawing::Text,
        };
        self.format.unwrap_or_else(by_ending)
    }

    /// A file is read elsewhere and later, so it does not depend on this terminal.
    fn text_options(&self) -> TextOptions {
        match self.file {
            Some(_) => {
                TextOptions { width: terminal::DEFAULT_WIDTH, unicode: !self.ascii, color: false }
            }
            None => TextOptions {
                width: terminal::width(),
                unicode: !self.ascii && terminal::has_unicode(),
                // Colour is taken out again when output goes to no terminal.
                color: true,
            },
        }
    }
}
