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

/// How much of each package and bundle is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Everything that published catalogs have.
    Whole,
    /// Only what a resolution looks at: no icons, descriptions or images, in as few bytes as possible.
    Slim,
}

/// A package to subscribe to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) package: String,
    pub(crate) channel: String,
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
    let known = Known { switches: &["--slim"], valued: &["--seed", "--scale", "--out"] };
    let arguments = Arguments::parse(arguments, &known)?;
    if arguments.words != ["catalog"] {
        bail!("usage: cargo xtask gen catalog [--seed N] [--scale F] [--slim] [--out DIR]");
    }
    let options = CatalogOptions {
        seed: arguments.value("--seed", 1)?,
        scale: arguments.value("--scale", 1.0)?,
    };
    let detail = if arguments.has("--slim") { Detail::Slim } else { Detail::Whole };
    let directory = match arguments.text("--out") {
        Some(directory) => PathBuf::from(directory),
        None => default_directory(workspace, &options, detail)?,
    };
    let summary = write_packages(&directory, &options, detail)?;
    println!("{}: {summary}", directory.display());
    Ok(true)
}

/// Writes a catalog into a directory that is new or empty.
pub(crate) fn write_catalog(directory: &Path, options: &CatalogOptions) -> anyhow::Result<Summary> {
    write_packages(directory, options, Detail::Whole)
}

/// Writes a catalog without bodies into a directory that is new or empty.
pub(crate) fn write_slim_catalog(
    directory: &Path,
    options: &CatalogOptions,
) -> anyhow::Result<Summary> {
    write_packages(directory, options, Detail::Slim)
}

/// Returns how many packages and bundles a catalog has at a scale.
pub(crate) fn counts_at(scale: f64) -> (usize, usize) {
    let shapes = shapes(scale);
    (shapes.len(), shapes.iter().map(|shape| shape.bundles).sum())
}

/// Chooses so many packages of a catalog, spread evenly over all sizes of package.
pub(crate) fn subjects(options: &CatalogOptions, count: usize) -> Vec<Subject> {
    let shapes = shapes(options.scale);
    let names = Names::new(shapes.len());
    let chosen = count.min(shapes.len());
    (0..chosen)
        .map(|number| {
            let index = number * shapes.len() / chosen;
            let mut random = Random::new(options.seed, index as u64);
            // Names and channels do not depend on the detail.
            let plan = PackagePlan::new(&names, index, shapes[index], Detail::Slim, &mut random);
            Subject { channel: plan.default_channel().to_owned(), package: plan.name }
        })
        .collect()
}

fn write_packages(
    directory: &Path,
    options: &CatalogOptions,
    detail: Detail,
) -> anyhow::Result<Summary> {
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
        let plan = PackagePlan::new(&names, index, *shape, detail, &mut random);
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
fn default_directory(
    workspace: &Workspace,
    options: &CatalogOptions,
    detail: Detail,
) -> anyhow::Result<PathBuf> {
    let CatalogOptions { seed, scale } = options;
    let kind = match detail {
        Detail::Whole => "catalog",
        Detail::Slim => "slim-catalog",
    };
    let name = format!("{kind}-seed-{seed}-scale-{scale}");
    let directory = workspace.target_directory()?.join("generated").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove `{}`", directory.display()))?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests;
