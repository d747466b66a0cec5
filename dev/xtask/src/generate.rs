//! `cargo xtask gen catalog`: a synthetic catalog of the shape of the community one.
//!
//! The same seed and scale write the same bytes on every machine. Documents go to disk as they are
//! made, so that memory does not grow with the catalog. Nothing here imitates somebody's operator:
//! only counts, sizes and the mix of edges are taken from real data.

mod bundle;
mod channels;
mod example;
mod json;
mod names;
mod package;
mod random;
mod shape;
mod versions;

use std::{
    fmt, fs,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use self::{names::Names, package::PackagePlan, random::Random, shape::shapes};
use crate::{
    arguments::{Arguments, Known},
    workspace::Workspace,
};

/// Larger catalogs than this are a slip of the keyboard: it is some 200 GB.
const MAX_SCALE: f64 = 1000.0;

/// What decides every byte of a catalog.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatalogOptions {
    /// Where the random choices begin.
    pub(crate) seed: u64,
    /// Times the number of packages of the community catalog.
    pub(crate) scale: f64,
}

/// How much was written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) packages: usize,
    pub(crate) channels: usize,
    pub(crate) entries: usize,
    pub(crate) bundles: usize,
    pub(crate) bytes: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packages, channels, entries, bundles, bytes } = self;
        let megabytes = *bytes as f64 / 1e6;
        write!(
            formatter,
            "{packages} packages, {channels} channels, {entries} entries, {bundles} bundles, \
             {megabytes:.1} MB"
        )
    }
}

/// Runs the verb.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let known = Known { switches: &[], valued: &["--seed", "--scale", "--out"] };
    let arguments = Arguments::parse(arguments, &known)?;
    if arguments.words != ["catalog"] {
        bail!("usage: cargo xtask gen catalog [--seed N] [--scale F] [--out DIR]");
    }
    let options = CatalogOptions {
        seed: arguments.value("--seed", 1)?,
        scale: arguments.value("--scale", 1.0)?,
    };
    let directory = match arguments.text("--out") {
        Some(directory) => PathBuf::from(directory),
        None => default_directory(workspace, &options)?,
    };
    let summary = write_catalog(&directory, &options)?;
    println!("{}: {summary}", directory.display());
    Ok(true)
}

/// Writes a catalog into a directory that is new or empty.
pub(crate) fn write_catalog(directory: &Path, options: &CatalogOptions) -> anyhow::Result<Summary> {
    if !(options.scale > 0.0 && options.scale <= MAX_SCALE) {
        bail!("a scale lies above 0 and not above {MAX_SCALE}, this is {}", options.scale);
    }
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make `{}`", directory.display()))?;
    if fs::read_dir(directory)?.next().is_some() {
        bail!("`{}` is not empty: give a new directory", directory.display());
    }
    let shapes = shapes(options.scale);
    let names = Names::new(shapes.len());
    let mut summary = Summary::default();
    for (index, shape) in shapes.iter().enumerate() {
        let mut random = Random::new(options.seed, index as u64);
        let plan = PackagePlan::new(&names, index, *shape, &mut random);
        let path = directory.join(format!("{}.json", plan.name));
        let file =
            File::create(&path).with_context(|| format!("cannot write `{}`", path.display()))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        summary.bytes += plan.write(&mut file, &mut random)?;
        file.flush().with_context(|| format!("cannot write `{}`", path.display()))?;
        summary.packages += 1;
        summary.channels += plan.channels.len();
        summary.entries += plan.channels.iter().map(|channel| channel.entries.len()).sum::<usize>();
        summary.bundles += plan.versions.len();
    }
    Ok(summary)
}

/// A directory of our own below the target directory; what an earlier run left there goes.
fn default_directory(workspace: &Workspace, options: &CatalogOptions) -> anyhow::Result<PathBuf> {
    let CatalogOptions { seed, scale } = options;
    let name = format!("catalog-seed-{seed}-scale-{scale}");
    let directory = workspace.target_directory()?.join("generated").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove `{}`", directory.display()))?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests;
