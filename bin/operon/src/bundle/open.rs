//! From what people type to the directory of a bundle, and to what is in it.

use std::path::PathBuf;

use anyhow::ensure;
use operon_bundle::{BundleFile, BundleSource, BundleSummary, read_bundle, summarize};
use operon_image::{Location, Tree};

use crate::{
    catalog::render::directory::{is_bundle, no_bundle, read_files},
    fetching::FetchOptions,
};

/// A bundle that is here.
pub(super) struct OpenedBundle {
    pub(super) directory: PathBuf,
    /// The image that it was pulled as.
    pub(super) image: Option<String>,
    /// Keeps its files in the cache while they are read.
    _tree: Option<Tree>,
}

/// Brings a bundle here.
pub(super) fn open_bundle(text: &str, fetching: &FetchOptions) -> anyhow::Result<OpenedBundle> {
    let location = Location::parse(text)?;
    if let Location::Path(directory) = location {
        ensure!(is_bundle(&directory), no_bundle(&directory));
        return Ok(OpenedBundle { directory, image: None, _tree: None });
    }
    let tree = fetching.fetcher()?.bundle(&location, &[])?;
    ensure!(
        is_bundle(&tree.directory),
        "`{text}` is no bundle: it has no `manifests/` and `metadata/`\n\
         hint: a catalog is looked at with `operon catalog`"
    );
    let image = match &location {
        Location::Image(reference) => Some(reference.to_string()),
        _ => None,
    };
    Ok(OpenedBundle { directory: tree.directory.clone(), image, _tree: Some(tree) })
}

/// Returns the files of a bundle.
pub(super) fn bundle_files(text: &str, fetching: &FetchOptions) -> anyhow::Result<Vec<BundleFile>> {
    read_files(&open_bundle(text, fetching)?.directory)
}

/// Reads and summarizes a bundle; one that cannot be read is an error that names it.
pub(super) fn summary(
    text: &str,
    fetching: &FetchOptions,
) -> anyhow::Result<(BundleSource, BundleSummary)> {
    let files = bundle_files(text, fetching)?;
    let source = read_bundle(&files).bundle.map_err(|error| {
        anyhow::anyhow!("cannot read `{text}`: {error}\nhint: `operon bundle validate` says more")
    })?;
    let summary = summarize(&source, &files);
    Ok((source, summary))
}
