//! Reading what the cluster holds from files, directories and standard input.
//!
//! A finding about an object of the namespace stops everything: a plan made from half a picture
//! would be wrong without looking wrong. Findings elsewhere are only told.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use anstream::eprintln;
use anyhow::{Context, bail};
use operon_api::{
    Cluster, ManifestDiagnostic, ManifestReader, ManifestSeverity, Manifests, ObjectName,
};

use crate::output::clean;

/// The largest text that is read: ten times the Subscriptions and ClusterServiceVersions of the
/// largest clusters.
const MAX_MANIFEST_BYTES: u64 = 1 << 30;

/// The name of standard input on the command line.
const STANDARD_INPUT: &str = "-";

/// Reads manifests from files, directories and standard input.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Manifests> {
    let mut reader = ManifestReader::default();
    for path in paths {
        if path.as_os_str() == STANDARD_INPUT {
            let text = read_all(io::stdin().lock()).context("cannot read standard input")?;
            reader.read_text("standard input", &text);
            continue;
        }
        for file in files_at(path)? {
            let name = file.display().to_string();
            let text = File::open(&file)
                .and_then(read_all)
                .with_context(|| format!("cannot read the manifests in `{name}`"))?;
            reader.read_text(&name, &text);
        }
    }
    Ok(reader.finish())
}

/// Tells findings on standard error, and refuses to go on if the namespace's state is not certain.
pub(super) fn check(cluster: &Cluster, visible: &[&str]) -> anyhow::Result<()> {
    let mut stopping = 0;
    for finding in &cluster.diagnostics {
        let stops = finding.severity == ManifestSeverity::Error
            && finding.object.as_ref().is_none_or(|object| concerns(object, visible));
        stopping += usize::from(stops);
        tell(finding, if stops { "error" } else { "warning" });
    }
    if stopping > 0 {
        let plural = if stopping == 1 { "" } else { "s" };
        bail!(
            "the manifests have {stopping} error{plural}, so what the namespace holds is not certain"
        );
    }
    Ok(())
}

fn concerns(object: &ObjectName, visible: &[&str]) -> bool {
    object.namespace.is_empty() || visible.contains(&object.namespace.as_str())
}

fn tell(finding: &ManifestDiagnostic, severity: &str) {
    eprintln!("{severity}[{}]: {}", finding.rule.id(), clean(&finding.to_string()));
    if !finding.help.is_empty() {
        eprintln!("  help: {}", clean(&finding.help));
    }
}

/// Returns the file, or the YAML and JSON files of the directory in the order of their names.
fn files_at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let display = path.display();
    let metadata =
        fs::metadata(path).with_context(|| format!("cannot read the manifests in `{display}`"))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot list `{display}`"))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.with_context(|| format!("cannot list `{display}`"))?.path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        bail!("the directory `{display}` holds no YAML or JSON files");
    }
    files.sort();
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
