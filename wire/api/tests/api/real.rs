//! The ClusterServiceVersions of the community's newest bundles.

use std::{fs, path::Path, process::Command};

use operon_api::{ManifestDiagnostic, ManifestReader, lower_service_version};
use operon_resolve::InstalledProperties;
use tempfile::TempDir;

use crate::support::shown;

#[test]
fn every_real_service_version_is_read() {
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/bundles.tar.zst");
    let directory = TempDir::new().unwrap();
    let mut unpack = Command::new("tar");
    unpack.args(["--zstd", "-xf", archive, "-C"]).arg(directory.path());
    let unpacked = unpack.output().is_ok_and(|output| output.status.success());
    if !Path::new(archive).exists() || !unpacked {
        let reason = format!("{archive} is not present, or tar and zstd are not");
        operon_parts::leave_out(operon_parts::Part::Shared, &reason);
        return;
    }
    let mut reader = ManifestReader::default();
    let mut waiting = vec![directory.path().to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.parent().is_some_and(|parent| parent.ends_with("manifests")) {
            let text = fs::read(&path).unwrap();
            // Other manifests are many and large, and would only be passed over.
            if String::from_utf8_lossy(&text).contains("ClusterServiceVersion") {
                reader.read_text(&path.to_string_lossy(), &text);
            }
        }
    }
    let manifests = reader.finish();
    let (slips, others): (Vec<&ManifestDiagnostic>, Vec<&ManifestDiagnostic>) =
        manifests.diagnostics.iter().partition(|diagnostic| diagnostic.path == "apiVersion");
    assert_eq!(others.into_iter().map(shown).collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(slips.len(), 8, "authors who wrote `v1` or `v1beta1`");
    // Ten authors gave them to another project, such as `apiextensions.k8s.io/v1`.
    assert_eq!((manifests.service_versions.len(), manifests.ignored), (787, 10));
    let owning = manifests.service_versions.iter().filter(|located| {
        let installed = lower_service_version(&located.object);
        match installed.properties {
            InstalledProperties::Derived { owned, .. } => !owned.is_empty(),
            InstalledProperties::Annotated(_) => false,
            InstalledProperties::Unreadable(reason) => panic!("{}: {reason}", located.file),
        }
    });
    assert!(owning.count() > 600);
}
