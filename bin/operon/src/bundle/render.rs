//! `operon bundle render`: one bundle as the document that stands for it in a catalog.

use clap::Args;

use super::open::open_bundle;
use crate::{
    catalog::render::{self, documents::DocumentOptions, image::ImagePattern},
    exit::Outcome,
    fetching::FetchOptions,
};

/// Renders a bundle to the document that stands for it in a catalog
///
/// It is what `operon catalog render` prints for this one bundle.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done (warnings do not count), 1 the bundle has errors or cannot be rendered

Examples:
  operon bundle render ./etcd/0.9.4 --image quay.io/example/etcd-bundle:v0.9.4
  operon bundle render ./etcd/0.9.4 -o yaml >> catalog/etcd/catalog.yaml")]
pub(crate) struct Render {
    /// The bundle: a directory with `manifests/` and `metadata/`, an archive of one, or an image
    #[arg(value_name = "BUNDLE")]
    bundle: String,
    #[command(flatten)]
    fetching: FetchOptions,
    /// The image reference of the bundle
    #[arg(long, value_name = "REFERENCE", conflicts_with = "image_template")]
    image: Option<String>,
    /// The image reference of the bundle, with {package}, {name} and {version} filled in
    #[arg(long, value_name = "PATTERN", alias = "alpha-image-ref-template")]
    image_template: Option<ImagePattern>,
    /// Puts one olm.csv.metadata in the place of inlined manifests, for bundles with an image
    #[arg(long)]
    migrate: bool,
    #[command(flatten)]
    output: DocumentOptions,
}

pub(crate) fn run(command: &Render) -> anyhow::Result<Outcome> {
    let bundle = open_bundle(&command.bundle, &command.fetching)?;
    let is_said = command.image.is_some() || command.image_template.is_some();
    render::run(&render::Render {
        directories: vec![bundle.directory.clone()],
        // Upstream: a bundle from a registry is known by the reference it was asked for by.
        image: if is_said { command.image.clone() } else { bundle.image.clone() },
        image_template: command.image_template.clone(),
        migrate: command.migrate,
        output: DocumentOptions { output: command.output.output },
    })
}
