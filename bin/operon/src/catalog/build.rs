//! `operon catalog build`: a catalog as an image, the same one for the same files.
//!
//! The image holds the files and nothing else: no program serves it. The program that does is brought by
//! whoever runs it, `operon` or the catalog operator with `extractContent`.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use operon_catalog::{Diagnostic, Severity};

use super::{cells::counted, open::open_path};
use crate::{
    exit::Outcome,
    output::{Sources, findings_text, stderr_text},
    shipping::{BuildOptions, build_and_send},
};

/// The label that says where the documents of a catalog lie.
pub(super) const CONFIGS_LABEL: &str = "operators.operatorframework.io.index.configs.v1";
/// Where they lie in images that are built here, as upstream has it.
pub(super) const CONFIGS_DIRECTORY: &str = "configs";

/// Makes an image of a catalog, and pushes it or writes it to the disk
///
/// The catalog is validated first. Its files go below `/configs`, as they are; times, owners and the
/// order of the disk do not get into the image, so the same files always have the same digest. No
/// container engine is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 the catalog has errors, or the image could not be sent everywhere

Examples:
  operon catalog build ./catalog -t quay.io/me/catalog:v1
  operon catalog build ./catalog -t oci:./layout:v1 -t oci-archive:catalog.tar:v1
  operon catalog build ./catalog -t localhost:5000/catalog --insecure-registry localhost:5000 -o json
  operon catalog build ./catalog --label org.opencontainers.image.version=4.19")]
pub(crate) struct Build {
    /// The directory of the catalog's JSON and YAML files, or a file
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    options: BuildOptions,
}

pub(crate) fn run(command: &Build) -> anyhow::Result<Outcome> {
    if !command.options.skip_validation {
        validate(command)?;
    }
    let directory = &command.directory;
    let parts = [(directory.as_path(), CONFIGS_DIRECTORY)];
    build_and_send(directory, &parts, labels(), &command.options.sending)
}

/// Returns the labels that make an image a catalog.
pub(super) fn labels() -> BTreeMap<String, String> {
    BTreeMap::from([(CONFIGS_LABEL.to_owned(), format!("/{CONFIGS_DIRECTORY}"))])
}

/// Refuses a catalog with errors, and shows them.
fn validate(command: &Build) -> anyhow::Result<()> {
    let shown = command.directory.display();
    let opened = open_path(&command.directory, command.options.sending.fetching.cache().as_ref())?;
    let catalog = opened.catalog();
    ensure!(
        catalog.counts().packages > 0,
        "`{shown}` holds no catalog: no olm.package document was found, and nothing is built\n\
         hint: give the directory that holds the catalog's JSON or YAML files"
    );
    let errors: Vec<Diagnostic> =
        catalog.diagnostics().filter(|finding| finding.severity() == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let argument = command.directory.to_string_lossy();
    let mut sources = Sources::new(&opened, &argument);
    stderr_text(&findings_text(&errors, &mut sources));
    bail!(
        "`{shown}` has {}, so nothing is built\n\
         hint: correct them, or build it all the same with `--skip-validation`",
        counted(errors.len(), "error")
    )
}
