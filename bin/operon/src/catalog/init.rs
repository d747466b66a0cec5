//! `operon catalog init`: the document that a new package starts with.
//!
//! It is a beginning, not a catalog: channels and bundles are added by hand, by `operon catalog
//! render` or by a template.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use operon_bundle::{init_package, sniff_media_type};
use operon_catalog::{Note, Rule};
use operon_fbc::{MemoryFile, read_catalog};

use super::render::{directory::read_file, documents::DocumentOptions};
use crate::{exit::Outcome, output::stderr_line};

/// Limits icons and descriptions: a hundred times the largest of the community's catalog.
const MAX_FILE_BYTES: usize = 16 << 20;

/// Prints an olm.package document
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 a file cannot be read or the icon is not a picture

Examples:
  operon catalog init etcd --default-channel stable > catalog/etcd/catalog.json
  operon catalog init etcd -c stable -d README.md -i icon.svg -o yaml")]
pub(crate) struct Init {
    /// The name of the package
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// The channel that is used if a user does not name one
    #[arg(short = 'c', long, value_name = "CHANNEL", default_value = "")]
    default_channel: String,
    /// A file with a description in markdown
    #[arg(short, long, value_name = "FILE")]
    description: Option<PathBuf>,
    /// A picture: PNG, JPEG, GIF or SVG
    #[arg(short, long, value_name = "FILE")]
    icon: Option<PathBuf>,
    #[command(flatten)]
    output: DocumentOptions,
}

pub(crate) fn run(command: &Init) -> anyhow::Result<Outcome> {
    let description = command.description.as_deref().map_or(Ok(String::new()), read_description)?;
    let icon = command.icon.as_deref().map(read_icon).transpose()?;
    let icon = icon.as_ref().map(|(bytes, media_type)| (bytes.as_slice(), *media_type));
    let document = init_package(&command.package, &command.default_channel, &description, icon);
    warn_about_name(&document);
    let text = command.output.output.write(&[document])?;
    command.output.output.print(&text)?;
    if command.default_channel.is_empty() {
        stderr_line!(
            "hint: a catalog is valid only if each package has a default channel, see `-c`"
        );
    }
    Ok(Outcome::Done)
}

/// Repeats what the rules of catalogs say about the package's name.
fn warn_about_name(document: &str) {
    let file =
        MemoryFile { path: "catalog.json".to_owned(), content: document.as_bytes().to_vec() };
    let catalog = read_catalog(&[file]);
    for finding in catalog.diagnostics() {
        if !matches!(finding.rule, Rule::PackageNameInvalid | Rule::PackageWithoutName) {
            continue;
        }
        stderr_line!("warning: {}", finding.message);
        for note in &finding.notes {
            match note {
                Note::Why(text) | Note::Help(text) => stderr_line!("hint: {text}"),
            }
        }
    }
}

fn read_description(path: &Path) -> anyhow::Result<String> {
    let bytes = read_bounded(path)?;
    let shown = path.display();
    String::from_utf8(bytes).with_context(|| format!("the description `{shown}` is not UTF-8 text"))
}

fn read_icon(path: &Path) -> anyhow::Result<(Vec<u8>, &'static str)> {
    let bytes = read_bounded(path)?;
    let media_type = sniff_media_type(&bytes).with_context(|| {
        format!("`{}` is not a picture that consoles show: PNG, JPEG, GIF or SVG", path.display())
    })?;
    Ok((bytes, media_type))
}

fn read_bounded(path: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes = read_file(path, MAX_FILE_BYTES)?;
    bytes.with_context(|| format!("`{}` has more than {MAX_FILE_BYTES} bytes", path.display()))
}
