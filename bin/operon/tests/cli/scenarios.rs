//! The scenarios of `scenarios/resolution`: what `operon resolve` tells people about each.
//!
//! `OPERON_ACCEPT=1` writes what it tells now into `expected.txt`; read it as prose before you keep it.

use std::{fs, path::Path, process::Command};

#[test]
fn every_scenario_is_told_as_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/resolution");
    let mut scenarios: Vec<_> = fs::read_dir(&root)
        .expect("scenarios")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    scenarios.sort();
    assert!(scenarios.len() > 20, "the scenarios are in {}", root.display());
    let mut differences = Vec::new();
    for scenario in scenarios {
        let name = scenario.file_name().expect("a name").to_string_lossy().into_owned();
        let output = Command::new(env!("CARGO_BIN_EXE_operon"))
            .args(["resolve", "--no-cache"])
            .arg(&scenario)
            .output()
            .expect("the program runs");
        let told = String::from_utf8(output.stdout).expect("text");
        let expected = scenario.join("expected.txt");
        if std::env::var_os("OPERON_ACCEPT").is_some() {
            fs::write(&expected, &told).expect("written");
        }
        let text = fs::read_to_string(&expected).unwrap_or_default();
        if told != text {
            differences.push(format!("{name} is expected to say\n{text}\nbut says\n{told}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
