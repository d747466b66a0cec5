//! The catalogs to measure on: the community's where it is at hand, and generated ones.
//!
//! They are unpacked or generated once, below the target directory, and used again by later runs.

use std::{
    fs,
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{
    generate::{CatalogOptions, write_catalog},
    workspace::Workspace,
};

/// The community catalog, packed; it is not ours to publish.
const REAL_ARCHIVE: &str = "data/operatorhub.tar.zst";

/// The seed of all generated catalogs that are measured.
pub(crate) const SEED: u64 = 1;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    /// This catalog and no other.
    pub(crate) directory: Option<&'a str>,
    pub(crate) wants_synthetic: bool,
    /// The generated catalog in two sizes.
    pub(crate) wants_growth: bool,
}

/// A catalog to measure on.
#[derive(Debug)]
pub(crate) struct BenchCatalog {
    pub(crate) title: String,
    pub(crate) directory: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) files: usize,
    /// Whether we made it, and may therefore touch its files.
    pub(crate) is_ours: bool,
    /// The package with the most updates.
    pub(crate) largest_package: String,
}

/// Makes the chosen catalogs ready.
pub(crate) fn prepare(
    workspace: &Workspace,
    scratch: &Path,
    choice: &Choice<'_>,
) -> anyhow::Result<Vec<BenchCatalog>> {
    fs::create_dir_all(scratch)?;
    if let Some(directory) = choice.directory {
        let catalog = examine(directory.to_owned(), Path::new(directory))?;
        return Ok(vec![BenchCatalog { is_ours: false, ..catalog }]);
    }
    let mut catalogs = Vec::new();
    let community = community_catalog(workspace, scratch)?;
    if let Some(directory) = &community {
        catalogs.push(examine("the community catalog".to_owned(), directory)?);
    } else {
        eprintln!("left out: the community catalog, because ../shared/{REAL_ARCHIVE} is not there");
    }
    let mut scales = Vec::new();
    if choice.wants_synthetic || choice.wants_growth || community.is_none() {
        scales.push(1);
    }
    if choice.wants_growth {
        scales.push(10);
    }
    for scale in scales {
        let options = CatalogOptions { seed: SEED, scale: f64::from(scale) };
        let place = scratch.join(format!("synthetic-{SEED}-{scale}"));
        let directory = make_once(&place, |new| {
            eprintln!("generating the catalog at scale {scale}");
            write_catalog(new, &options).map(|_| ())
        })?;
        let title = format!("a generated catalog, seed {SEED}, scale {scale}");
        catalogs.push(examine(title, &directory)?);
    }
    Ok(catalogs)
}

/// Unpacks the community catalog; `None` where it is not at hand.
pub(crate) fn community_catalog(
    workspace: &Workspace,
    scratch: &Path,
) -> anyhow::Result<Option<PathBuf>> {
    let archive = workspace.shared(REAL_ARCHIVE);
    let place = scratch.join("operatorhub");
    archive.map(|archive| make_once(&place, |new| unpack(&archive, new))).transpose()
}

impl BenchCatalog {
    /// Returns the file whose name comes first.
    pub(crate) fn first_file(&self) -> anyhow::Result<PathBuf> {
        let files = files_below(&self.directory)?;
        files.into_iter().next().context("the catalog has no files")
    }
}

/// Makes a directory unless an earlier run made it; a half-made one is never seen under the name.
pub(crate) fn make_once(
    place: &Path,
    make: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    if !place.exists() {
        let unfinished = place.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        make(&unfinished)?;
        fs::rename(&unfinished, place)?;
    }
    Ok(place.to_owned())
}

/// Unpacks an archive into a directory.
pub(crate) fn unpack(archive: &Path, directory: &Path) -> anyhow::Result<()> {
    let status = Command::new("tar")
        .args(["--zstd", "-xf"])
        .arg(archive)
        .arg("-C")
        .arg(directory)
        .status()
        .context("cannot run `tar`")?;
    if !status.success() {
        bail!("`tar --zstd -xf {}` failed", archive.display());
    }
    Ok(())
}

fn examine(title: String, directory: &Path) -> anyhow::Result<BenchCatalog> {
    let files = files_below(directory)?;
    let mut bytes = 0;
    let mut largest = (0, String::new());
    for file in &files {
        bytes += fs::metadata(file)?.len();
        let opened =
            File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let (updates, package) = count_updates(BufReader::with_capacity(1 << 16, opened))?;
        if updates >= largest.0 && !package.is_empty() {
            largest = (updates, package);
        }
    }
    let directory = directory.to_owned();
    Ok(BenchCatalog {
        title,
        directory,
        bytes,
        files: files.len(),
        is_ours: true,
        largest_package: largest.1,
    })
}

/// Counts the lines that say `replaces` and finds the package they are about.
///
/// Good enough to choose a subject; catalogs with several packages in a file give one of them.
fn count_updates(mut reader: impl BufRead) -> anyhow::Result<(usize, String)> {
    let mut updates = 0;
    let mut package = String::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok((updates, package));
        }
        let text = line.trim_ascii_start();
        let text = text.strip_prefix(b"\"").unwrap_or(text);
        if text.starts_with(b"replaces") {
            updates += 1;
        } else if text.starts_with(b"package\"") || text.starts_with(b"package:") {
            let written = String::from_utf8_lossy(text);
            let value = written.split_once(':').map_or("", |(_, value)| value);
            let value = value.trim().trim_matches(|quote| "\",'".contains(quote));
            package = value.to_owned();
        }
    }
}

/// Returns the size of all files below a directory.
pub(crate) fn bytes_below(directory: &Path) -> anyhow::Result<u64> {
    files_below(directory)?.iter().try_fold(0, |sum, file| Ok(sum + fs::metadata(file)?.len()))
}

/// Returns all files below a directory, sorted.
pub(crate) fn files_below(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory)
            .with_context(|| format!("cannot list `{}`", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            let file_type = entry.file_type()?;
            if file_type.is_dir() {
                directories.push(entry.path());
            } else if file_type.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_counted_in_json_and_yaml() {
        let json = "{\n    \"schema\": \"olm.channel\",\n    \"package\": \"a-b\",\n    \"entries\": [\n        {\n            \"replaces\": \"x\"\n        }\n";
        let yaml = "schema: olm.channel\npackage: 'a-b'\nentries:\n- name: y\n  replaces: x\n- name: z\n  replaces: y\n";
        for (text, updates) in [(json, 1), (yaml, 2), ("", 0)] {
            let (counted, package) = count_updates(text.as_bytes()).expect("memory can be read");
            assert_eq!(counted, updates);
            assert_eq!(package, if text.is_empty() { "" } else { "a-b" });
        }
    }
}
