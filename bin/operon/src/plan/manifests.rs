//! Reading what the cluster holds from files, directories and standard input.
//!
//! A finding about an object of the namespace stops everything: a plan made from half a picture
//! would be wrong without looking wrong. Findings elsewhere are only told.

use std::path::PathBuf;

use anyhow::bail;
use operon_api::{Cluster, ManifestReader, ManifestSeverity, Manifests, ObjectName};

use crate::manifests::{read_texts, tell};

/// Reads manifests from files, directories and standard input.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Manifests> {
    let mut reader = ManifestReader::default();
    read_texts(paths, |name, text| reader.read_text(name, text))?;
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
