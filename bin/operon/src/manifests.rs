//! Manifests in files, directories and on standard input, and what is found wrong with them.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use operon_api::{LocatedObject, ManifestDiagnostic, ManifestSeverity, read_objects};

use crate::output::stderr_line;

/// The largest text that is read: ten times the Subscriptions and ClusterServiceVersions of the
/// largest clusters.
const MAX_MANIFEST_BYTES: u64 = 1 << 30;

/// The name of standard input on the command line.
const STANDARD_INPUT: &str = "-";

/// Reads texts of manifests from files, directories and standard input, and hands each over with its
/// name.
pub(crate) fn read_texts(
    paths: &[PathBuf],
    mut take: impl FnMut(&str, &[u8]),
) -> anyhow::Result<()> {
    for path in paths {
        if path.as_os_str() == STANDARD_INPUT {
            let text = read_all(io::stdin().lock()).context("cannot read standard input")?;
            take("standard input", &text);
            continue;
        }
        for file in files_at(path)? {
            let name = file.display().to_string();
            let text = read_file(&file)
                .with_context(|| format!("cannot read the manifests in `{name}`"))?;
            take(&name, &text);
        }
    }
    Ok(())
}

/// Reads whole objects from files, directories and standard input; says what is wrong with them, and
/// refuses them all if anything is.
pub(crate) fn read_all_objects(paths: &[PathBuf]) -> anyhow::Result<Vec<LocatedObject>> {
    let mut objects = Vec::new();
    let mut errors = 0;
    read_texts(paths, |name, text| {
        let read = read_objects(name, text);
        objects.extend(read.objects);
        for finding in &read.diagnostics {
            let is_error = finding.severity == ManifestSeverity::Error;
            errors += usize::from(is_error);
            tell(finding, if is_error { "error" } else { "warning" });
        }
        errors += read.unreported;
    })?;
    match errors {
        0 => Ok(objects),
        1 => bail!("the manifests have an error; nothing was done"),
        errors => bail!("the manifests have {errors} errors; nothing was done"),
    }
}

/// Tells a finding on standard error.
pub(crate) fn tell(finding: &ManifestDiagnostic, severity: &str) {
    stderr_line!("{severity}[{}]: {finding}", finding.rule.id());
    if !finding.help.is_empty() {
        stderr_line!("  help: {}", finding.help);
    }
}

/// Returns the YAML and JSON files that lie directly in a directory, in the order of their names.
pub(crate) fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let file = entry?.path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file of manifests.
pub(crate) fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    File::open(file).and_then(read_all)
}

/// Returns the file, or the YAML and JSON files of the directory in the order of their names.
fn files_at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let display = path.display();
    let metadata =
        fs::metadata(path).with_context(|| format!("cannot read the manifests in `{display}`"))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = files_in(path).with_context(|| format!("cannot list `{display}`"))?;
    if files.is_empty() {
        bail!("the directory `{display}` holds no YAML or JSON files");
    }
    Ok(files)
}

fn read_all(source: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    source.take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_MANIFEST_BYTES {
        let message = format!("it is larger than {MAX_MANIFEST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}
