//! The last look at a slice, and the disk.

use std::{fs, path::Path};

use crate::output::{clean, stderr_line};
use anyhow::{Context, bail};
use operon_catalog::{Catalog, Severity, slice::SlicePlan};
use operon_fbc::{MemoryFile, read_catalog};

/// How many findings a refusal tells.
const MAX_TOLD_FINDINGS: usize = 3;

/// Reads the files again as any tool will, and refuses a slice that is not what was planned.
pub(super) fn check(
    files: &[MemoryFile],
    plan: &SlicePlan<'_>,
    source: &Catalog,
) -> anyhow::Result<()> {
    let catalog = read_catalog(files);
    let errors: Vec<String> = catalog
        .diagnostics()
        .filter(|finding| finding.severity() == Severity::Error)
        .map(|finding| finding.message)
        .collect();
    if !errors.is_empty() {
        let told = clean(&errors[..errors.len().min(MAX_TOLD_FINDINGS)].join("; "));
        if source.is_valid() {
            bail!("bug: the slice would not be valid, nothing is written: {told}");
        }
        bail!(
            "what is to be kept has errors, nothing is written: {told}\n\
             hint: `operon catalog validate` shows them all"
        );
    }
    let channels = || plan.packages.iter().flat_map(|package| &package.channels);
    let planned = (
        plan.packages.len(),
        channels().count(),
        channels().map(|channel| channel.entries.len()).sum::<usize>(),
        plan.packages.iter().map(|package| package.bundles.len()).sum::<usize>(),
    );
    let counts = catalog.counts();
    let written = (
        counts.packages as usize,
        counts.channels as usize,
        counts.entries as usize,
        counts.bundles as usize,
    );
    if planned != written {
        bail!(
            "bug: the slice reads back as {written:?} packages, channels, entries and bundles, but \
             was planned as {planned:?}; nothing is written"
        );
    }
    for channel in channels() {
        let package = catalog.package(channel.channel.package().name());
        let again = package.and_then(|package| package.channel(channel.channel.name()));
        let head = again.and_then(|channel| channel.head()).map(|head| head.name());
        if head != Some(channel.head) {
            let name = channel.channel.name();
            bail!("bug: the head of channel `{name}` reads back as {head:?}; nothing is written");
        }
    }
    Ok(())
}

/// Writes the files below a directory.
pub(super) fn files(directory: &Path, files: &[MemoryFile], force: bool) -> anyhow::Result<()> {
    let shown = directory.display();
    let present = match fs::read_dir(directory) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error).with_context(|| format!("cannot look into `{shown}`")),
    };
    if present > 0 && !force {
        bail!("`{shown}` is not empty\nhint: --force writes into it, beside what is there");
    }
    if present > 0 {
        stderr_line!(
            "warning: `{shown}` is not empty; whatever else is in it is part of the catalog too"
        );
    }
    for file in files {
        let path = directory.join(&file.path);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot make `{}`", parent.display()))?;
        fs::write(&path, &file.content)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Writes lines to a file.
pub(super) fn lines(file: &Path, lines: &[&str]) -> anyhow::Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))
}
