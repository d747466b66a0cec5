//! `operon catalog render`: bundle directories as the documents that stand for them in a catalog.
//!
//! What a bundle means is decided in `wire/bundle`; images are not pulled here.

pub(crate) mod bundle;
pub(crate) mod directory;
pub(crate) mod documents;
pub(crate) mod image;
pub(crate) mod parallel;
pub(crate) mod report;

use std::path::PathBuf;

use clap::Args;

use self::{
    bundle::{ImageChoice, render_directory},
    directory::find_bundles,
    documents::{Count, DocumentOptions, migration},
    image::ImagePattern,
    parallel::on_all_cores,
    report::Report,
};
use crate::{
    exit::Outcome,
    output::{stderr_line, stderr_text},
};

/// Renders bundle directories to catalog documents
///
/// Each bundle becomes one `olm.bundle` document. What upstream's tools would drop without a word is
/// said on standard error, with its place.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done (warnings do not count), 1 a bundle has errors or cannot be rendered

Examples:
  operon catalog render ./etcd/0.9.4 --image quay.io/example/etcd-bundle:v0.9.4
  operon catalog render ./bundles --image-template 'quay.io/example/{package}-bundle:v{version}' --migrate
  operon catalog render ./etcd/0.9.4 -o yaml >> catalog/etcd/catalog.yaml")]
pub(crate) struct Render {
    /// Bundle directories, with `manifests/` and `metadata/`, or directories that hold some
    #[arg(value_name = "DIRECTORY", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// The image reference of the bundle, if there is only one
    #[arg(long, value_name = "REFERENCE", conflicts_with = "image_template")]
    pub(crate) image: Option<String>,
    /// The image references of the bundles, with {package}, {name} and {version} filled in
    #[arg(long, value_name = "PATTERN", alias = "alpha-image-ref-template")]
    pub(crate) image_template: Option<ImagePattern>,
    /// Puts one olm.csv.metadata in the place of inlined manifests, for bundles with an image
    #[arg(long)]
    pub(crate) migrate: bool,
    #[command(flatten)]
    pub(crate) output: DocumentOptions,
}

pub(crate) fn run(command: &Render) -> anyhow::Result<Outcome> {
    let directories = find_bundles(&command.directories)?;
    anyhow::ensure!(
        command.image.is_none() || directories.len() == 1,
        "`--image` names one image, but there are {}\n\
         hint: use `--image-template` with {{package}}, {{name}} or {{version}}",
        Count(directories.len(), "bundle"),
    );
    let image = image_choice(command.image.as_ref(), command.image_template.as_ref());
    let migrate = migration(command.migrate);
    let outcomes = on_all_cores(directories.len(), |number| {
        render_directory(&directories[number], &image, migrate)
    });
    let mut documents = Vec::new();
    let mut findings = 0;
    let mut is_refused = false;
    for (directory, outcome) in directories.iter().zip(outcomes) {
        stderr_text(&outcome.report);
        findings += outcome.findings;
        is_refused |= outcome.is_refused;
        match outcome.rendered {
            Ok(bundle) => documents.push(bundle.json),
            Err(reason) => stderr_text(&failure(&directory.display().to_string(), &reason)),
        }
    }
    let notation = command.output.output;
    notation.print(&notation.write(&documents)?)?;
    if !documents.is_empty() {
        hint_at_missing_image(&image, command.migrate);
    }
    let failed = directories.len() - documents.len();
    if directories.len() > 1 {
        let rendered = Count(documents.len(), "bundle");
        stderr_line!("{rendered} rendered, {failed} failed, {}", Count(findings, "finding"));
    }
    Ok(if is_refused || failed > 0 { Outcome::Negative } else { Outcome::Done })
}

/// Returns where image references come from; the command line gives at most one of the two.
pub(super) fn image_choice(
    image: Option<&String>,
    image_template: Option<&ImagePattern>,
) -> ImageChoice {
    match (image, image_template) {
        (Some(reference), _) => ImageChoice::Reference(reference.clone()),
        (None, Some(pattern)) => ImageChoice::Pattern(pattern.clone()),
        (None, None) => ImageChoice::None,
    }
}

/// Says what a document without an image cannot do.
pub(super) fn hint_at_missing_image(image: &ImageChoice, migrate: bool) {
    match image {
        ImageChoice::None => {}
        ImageChoice::Reference(_) | ImageChoice::Pattern(_) => return,
    }
    stderr_line!(
        "hint: bundles from directories have `image: \"\"`; `--image-template` gives them one"
    );
    if migrate {
        stderr_line!("hint: `--migrate` leaves bundles without an image as they are");
    }
}

fn failure(directory: &str, reason: &str) -> String {
    let message = format!("cannot render `{directory}`: {reason}");
    let report = Report {
        severity: operon_bundle::Severity::Error,
        rule_id: "",
        message: &message,
        spots: Vec::new(),
        why: Vec::new(),
        help: Vec::new(),
    };
    report.text()
}
