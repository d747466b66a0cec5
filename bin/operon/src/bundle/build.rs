//! `operon bundle build`: a bundle as an image, the same one for the same files.
//!
//! The labels of the image repeat the annotations, as other tools expect; the file stays what counts.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use operon_bundle::{
    BundleFile, BundleFinding, Severity, ValidationOptions, annotation_texts, validate_bundle,
};

use crate::{
    catalog::{
        cells::counted,
        render::{
            directory::{is_bundle, no_bundle, read_files},
            report::bundle_findings,
        },
    },
    exit::Outcome,
    output::stderr_text,
    shipping::{BuildOptions, build_and_send},
};

/// The directory of tests that operator-sdk runs.
const SCORECARD: &str = "tests/scorecard";
/// The label that says what form a bundle has.
const MEDIA_TYPE_LABEL: &str = "operators.operatorframework.io.bundle.mediatype.v1";
/// The form of the bundles that are built here.
const MEDIA_TYPE: &str = "registry+v1";
/// The labels that say where the parts of a bundle lie, and where they do.
const PARTS: [(&str, &str); 2] = [
    ("operators.operatorframework.io.bundle.manifests.v1", "manifests/"),
    ("operators.operatorframework.io.bundle.metadata.v1", "metadata/"),
];

/// Makes an image of a bundle, and pushes it or writes it to the disk
///
/// The bundle is validated first. Its directories `manifests/`, `metadata/` and, if there is one,
/// `tests/scorecard/` become the image; its annotations become labels. Times, owners and the order of
/// the disk do not get into the image, so the same files always have the same digest. No container
/// engine is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 the bundle has errors, or the image could not be sent everywhere

Examples:
  operon bundle build ./etcd/0.9.4 -t quay.io/me/etcd-bundle:v0.9.4
  operon bundle build ./etcd/0.9.4 -t oci:./layout:v0.9.4
  operon bundle build ./etcd/0.9.4 --label com.redhat.openshift.versions=v4.15-v4.19 -o json")]
pub(crate) struct Build {
    /// The directory of the bundle, with `manifests/` and `metadata/`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    options: BuildOptions,
}

pub(crate) fn run(command: &Build) -> anyhow::Result<Outcome> {
    let directory = &command.directory;
    ensure!(is_bundle(directory), no_bundle(directory));
    let files = read_files(directory)?;
    if !command.options.skip_validation {
        validate(command, &files)?;
    }
    let labels = labels(annotation_texts(&files))?;
    let parts = ["manifests", "metadata", SCORECARD].map(|part| (directory.join(part), part));
    let parts: Vec<_> = parts
        .iter()
        .filter(|(path, _)| path.is_dir())
        .map(|(path, part)| (path.as_path(), *part))
        .collect();
    build_and_send(directory, &parts, labels, &command.options.sending)
}

/// Refuses a bundle with errors, and shows them.
fn validate(command: &Build, files: &[BundleFile]) -> anyhow::Result<()> {
    let mut errors = validate_bundle(files, &ValidationOptions::default()).findings;
    errors.retain(|finding: &BundleFinding| finding.severity == Severity::Error);
    if errors.is_empty() {
        return Ok(());
    }
    let directory = command.directory.to_string_lossy();
    stderr_text(&bundle_findings(&errors, &directory, files));
    bail!(
        "`{directory}` has {}, so nothing is built\n\
         hint: correct them, or build it all the same with `--skip-validation`",
        counted(errors.len(), "error")
    )
}

/// Makes labels of annotations: those that say where things lie must say the truth.
fn labels(mut labels: BTreeMap<String, String>) -> anyhow::Result<BTreeMap<String, String>> {
    for (label, place) in PARTS {
        if let Some(said) = labels.get(label) {
            let said = said.trim().trim_start_matches("./").trim_matches('/');
            ensure!(
                said == place.trim_end_matches('/'),
                "the annotation `{label}` says `{said}`, but in the image it is `{place}`\n\
                 hint: write `{label}: {place}`"
            );
        }
        labels.insert(label.to_owned(), place.to_owned());
    }
    labels.entry(MEDIA_TYPE_LABEL.to_owned()).or_insert_with(|| MEDIA_TYPE.to_owned());
    Ok(labels)
}
