//! From what people type to the directory of a bundle, and to what is in it.
//!
//! A bundle is a directory here; images are not pulled.

use std::path::PathBuf;

use anyhow::ensure;
use operon_bundle::{BundleFile, BundleSource, BundleSummary, read_bundle, summarize};

use crate::catalog::render::directory::{is_bundle, no_bundle, read_files};

/// Returns the directory of a bundle.
pub(super) fn open_bundle(text: &str) -> anyhow::Result<PathBuf> {
    let directory = PathBuf::from(text);
    ensure!(is_bundle(&directory), no_bundle(&directory));
    Ok(directory)
}

/// Returns the files of a bundle.
pub(super) fn bundle_files(text: &str) -> anyhow::Result<Vec<BundleFile>> {
    read_files(&open_bundle(text)?)
}

/// Reads and summarizes a bundle; one that cannot be read is an error that names it.
pub(super) fn summary(text: &str) -> anyhow::Result<(BundleSource, BundleSummary)> {
    let files = bundle_files(text)?;
    let source = read_bundle(&files).bundle.map_err(|error| {
        anyhow::anyhow!("cannot read `{text}`: {error}\nhint: `operon bundle validate` says more")
    })?;
    let summary = summarize(&source, &files);
    Ok((source, summary))
}
