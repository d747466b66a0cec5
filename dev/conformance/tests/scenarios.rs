//! The scenarios of `scenarios/resolution`: the text output for each is in its `expected.txt`.
//!
//! `OPERON_ACCEPT=1` replaces `expected.txt` with the current output. Review it before you commit it.

use std::{fs, path::Path, process::Command};

/// Runs `operon-conformance resolve` on a case and returns its standard output.
fn resolve(case: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_operon-conformance"))
        .args(["resolve", "--no-cache"])
        .arg(case)
        .output()
        .expect("the binary runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn scenarios_print_their_expected_text() {
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
        let printed = resolve(&scenario);
        let expected = scenario.join("expected.txt");
        if std::env::var_os("OPERON_ACCEPT").is_some() {
            fs::write(&expected, &printed).expect("written");
        }
        let text = fs::read_to_string(&expected).unwrap_or_default();
        if printed != text {
            differences.push(format!("{name} should print\n{text}\nbut prints\n{printed}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
