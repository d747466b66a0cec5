//! The newest bundles of every package of the community's repository, validated.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use operon_bundle::{BundleFile, OptionalValidator, Severity, ValidationOptions, validate_bundle};
use tempfile::TempDir;

#[test]
fn every_real_bundle_is_validated() {
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
    let bundles = bundles_below(directory.path());
    assert_eq!(bundles.len(), 797);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut counts = Counts::new();
    thread::scope(|scope| {
        let work = |worker| {
            let bundles = &bundles;
            scope.spawn(move || validate(bundles.iter().skip(worker).step_by(workers)))
        };
        let started: Vec<_> = (0..workers).map(work).collect();
        for handle in started {
            for (key, (bundles, findings)) in handle.join().expect("a worker met a defect") {
                let count = counts.entry(key).or_default();
                *count = (count.0 + bundles, count.1 + findings);
            }
        }
    });
    let lines = counts.iter().map(|((severity, rule), (bundles, findings))| {
        format!("{} {rule}: {findings} in {bundles}\n", severity.name())
    });
    // Every error was looked at: upstream's validators refuse these bundles too, most of which are
    // older than the check.
    insta::assert_snapshot!(lines.collect::<String>(), @"
    error bundle-crd-invalid: 2 in 2
    error bundle-example-without-api: 7 in 2
    error bundle-examples-unreadable: 1 in 1
    error bundle-min-kube-version-invalid: 6 in 6
    error bundle-related-image-invalid: 3 in 3
    error bundle-service-account-taken: 21 in 15
    error community-openshift-limit-missing: 103 in 103
    error hub-category-unknown: 9 in 9
    error hub-maintainer-invalid: 1 in 1
    error object-role-edits-constraints: 2 in 2
    warning bundle-api-removed-later: 688 in 315
    warning bundle-api-without-example: 921 in 218
    warning bundle-examples-missing: 4 in 4
    warning bundle-metadata-unreadable: 2 in 2
    warning bundle-min-kube-version-missing: 387 in 387
    warning bundle-properties-annotation: 7 in 7
    warning bundle-unknown-annotation: 1 in 1
    warning bundle-unknown-field: 29 in 29
    warning bundle-wrong-api-version: 18 in 18
    warning community-openshift-label-unchecked: 105 in 105
    warning hub-icon-missing: 4 in 4
    warning practice-bundle-name: 11 in 11
    warning practice-channel-name: 602 in 570
    warning practice-description-missing: 398 in 99
    warning practice-requests-missing: 265 in 238
    warning practice-role-creates-crds: 90 in 90
    warning validator-deprecated: 797 in 797
    warning validator-left-out: 797 in 797
    advice bundle-annotation-in-csv: 36 in 8
    advice bundle-several-documents: 7 in 5
    ");
}

/// How many bundles a rule finds something in, and how much.
type Counts = BTreeMap<(Severity, &'static str), (usize, usize)>;

fn validate<'p>(bundles: impl Iterator<Item = &'p PathBuf>) -> Counts {
    let options = ValidationOptions {
        optional: OptionalValidator::ALL.into_iter().collect(),
        ..ValidationOptions::default()
    };
    let mut counts = Counts::new();
    for bundle in bundles {
        let files = files_of(bundle);
        let reading = validate_bundle(&files, &options);
        assert!(reading.bundle.is_ok(), "{}", bundle.display());
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        for finding in reading.findings {
            let file = files.iter().find(|file| file.path == finding.file);
            assert!(
                file.is_some_and(|file| finding.range.end <= file.content.len())
                    || finding.file.is_empty()
            );
            *seen.entry((finding.severity, finding.rule_id)).or_default() += 1;
        }
        for (key, number) in seen {
            let count = counts.entry(key).or_default();
            *count = (count.0 + 1, count.1 + number);
        }
    }
    counts
}

fn bundles_below(root: &Path) -> Vec<PathBuf> {
    let mut bundles = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        if directory.join("manifests").is_dir() {
            bundles.push(directory);
            continue;
        }
        let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        waiting.extend(entries.filter(|path| path.is_dir()));
    }
    bundles.sort();
    bundles
}

fn files_of(bundle: &Path) -> Vec<BundleFile> {
    let mut files = Vec::new();
    for part in ["manifests", "metadata"] {
        let Ok(entries) = fs::read_dir(bundle.join(part)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let name = path.file_name().unwrap().to_string_lossy();
            files.push(BundleFile {
                path: format!("{part}/{name}"),
                content: fs::read(&path).unwrap(),
            });
        }
    }
    files
}
