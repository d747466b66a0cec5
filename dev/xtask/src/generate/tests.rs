//! A generated catalog is what it promises to be: repeatable, counted and valid.

use std::collections::{BTreeMap, BTreeSet};

use operon_catalog::Severity;
use operon_fbc::{MemoryFile, read_catalog};
use serde_json::Value;

use super::*;

/// Writes a catalog into a fresh directory and reads its files back.
fn generate(
    label: &str,
    options: &CatalogOptions,
    detail: Detail,
) -> (Summary, BTreeMap<String, Vec<u8>>) {
    let name = format!("operon-xtask-{}-{label}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let summary = write_packages(&directory, options, detail).expect("the directory is new");
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
    let (first_summary, first) = generate("first", &options, Detail::Whole);
    let (second_summary, second) = generate("second", &options, Detail::Whole);
    assert_eq!(first_summary, second_summary);
    assert!(first == second, "the same seed wrote two catalogs");
    let (_, other) = generate("other", &CatalogOptions { seed: 2, ..options }, Detail::Whole);
    assert!(first != other, "the seed does not matter");
    assert_eq!(first.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
}

#[test]
fn a_generated_catalog_has_nothing_to_complain_about() {
    for (label, detail) in [("valid", Detail::Whole), ("valid-slim", Detail::Slim)] {
        let (summary, files) = generate(label, &CatalogOptions { seed: 3, scale: 0.15 }, detail);
        assert_sound(&summary, files);
    }
}

fn assert_sound(summary: &Summary, files: BTreeMap<String, Vec<u8>>) {
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
    let Summary { packages, channels, entries, bundles, .. } = *summary;
    assert_eq!(counted.map(|count| count as usize), [packages, channels, entries, bundles]);
}

#[test]
fn requirements_of_a_slim_catalog_are_many_and_can_be_met() {
    let options = CatalogOptions { seed: 1, scale: 0.5 };
    let (summary, files) = generate("requirements", &options, Detail::Slim);
    let mut provided = BTreeSet::new();
    let mut required = BTreeMap::new();
    for content in files.values() {
        for document in serde_json::Deserializer::from_slice(content).into_iter::<Value>() {
            let document = document.expect("it is JSON");
            let package = document["package"].as_str().unwrap_or_default().to_owned();
            for property in document["properties"].as_array().into_iter().flatten() {
                let (kind, value) = (&property["type"], &property["value"]);
                match kind.as_str().expect("a type") {
                    "olm.gvk" => provided.insert(value.to_string()),
                    "olm.package" => provided.insert(value["packageName"].to_string()),
                    "olm.gvk.required" => {
                        required.insert(value.to_string(), package.clone()).is_none()
                    }
                    "olm.package.required" => {
                        assert_eq!(value["versionRange"], ">=0.1.0", "what every version is");
                        required.insert(value["packageName"].to_string(), package.clone()).is_none()
                    }
                    body => panic!("a slim catalog has no `{body}`"),
                };
            }
        }
    }
    let unmet: Vec<_> = required.keys().filter(|wanted| !provided.contains(*wanted)).collect();
    assert!(unmet.is_empty(), "{unmet:?}");
    let requiring: BTreeSet<&String> = required.values().collect();
    let share = requiring.len() as f64 / summary.packages as f64;
    assert!((0.10..0.13).contains(&share), "{share}");
}

#[test]
fn subjects_are_packages_of_the_catalog_with_channels_of_theirs() {
    let options = CatalogOptions { seed: 1, scale: 0.3 };
    let (_, files) = generate("subjects", &options, Detail::Slim);
    let subjects = subjects(&options, 50);
    let distinct: BTreeSet<&str> =
        subjects.iter().map(|subject| subject.package.as_str()).collect();
    assert_eq!(distinct.len(), 50);
    for Subject { package, channel } in &subjects {
        let content = &files[&format!("{package}.json")];
        let mut documents = serde_json::Deserializer::from_slice(content).into_iter::<Value>();
        let document = documents.next().expect("a document").expect("it is JSON");
        assert_eq!(document["defaultChannel"], channel.as_str(), "{package}");
    }
    let few = CatalogOptions { seed: 1, scale: 0.01 };
    assert_eq!(super::subjects(&few, 50).len(), counts_at(few.scale).0);
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
