//! A generated catalog is what it promises to be: repeatable, counted and valid.

use std::collections::BTreeMap;

use operon_catalog::Severity;
use operon_fbc::{MemoryFile, read_catalog};

use super::*;

/// Writes a catalog into a fresh directory and reads its files back.
fn generate(label: &str, options: &CatalogOptions) -> (Summary, BTreeMap<String, Vec<u8>>) {
    let name = format!("operon-xtask-{}-{label}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let summary = write_catalog(&directory, options).expect("the directory is new");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&directory).expect("it was written") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        files.insert(name, fs::read(&path).expect("it can be read"));
    }
    fs::remove_dir_all(&directory).expect("it is ours");
    (summary, files)
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let options = CatalogOptions { seed: 1, scale: 0.02 };
    let (first_summary, first) = generate("first", &options);
    let (second_summary, second) = generate("second", &options);
    assert_eq!(first_summary, second_summary);
    assert!(first == second, "the same seed wrote two catalogs");
    let (_, other) = generate("other", &CatalogOptions { seed: 2, ..options });
    assert!(first != other, "the seed does not matter");
    assert_eq!(first.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
}

#[test]
fn a_generated_catalog_has_nothing_to_complain_about() {
    let (summary, files) = generate("valid", &CatalogOptions { seed: 3, scale: 0.15 });
    let files: Vec<MemoryFile> =
        files.into_iter().map(|(path, content)| MemoryFile { path, content }).collect();
    let catalog = read_catalog(&files);
    let findings: Vec<String> = catalog
        .diagnostics()
        .filter(|finding| finding.severity() != Severity::Advice)
        .map(|finding| finding.message)
        .collect();
    assert!(findings.is_empty(), "{findings:#?}");
    let counts = catalog.counts();
    let counted = [counts.packages, counts.channels, counts.entries, counts.bundles];
    let Summary { packages, channels, entries, bundles, .. } = summary;
    assert_eq!(counted.map(|count| count as usize), [packages, channels, entries, bundles]);
}

#[test]
fn directories_with_something_in_them_and_odd_scales_are_refused() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    write_catalog(here, &CatalogOptions { seed: 1, scale: 0.01 }).expect_err("it is not empty");
    let nowhere = Path::new("/nonexistent/catalog");
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        write_catalog(nowhere, &CatalogOptions { seed: 1, scale }).expect_err("not a scale");
    }
}
