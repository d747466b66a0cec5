//! `operon catalog init`: the document of a new package.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

#[test]
fn a_package_is_described_and_doubts_are_said() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    fs::write(root.join("README.md"), "# etcd\n\nA *store*.\n").unwrap();
    fs::write(root.join("latin.md"), b"caf\xe9").unwrap();
    fs::write(root.join("icon.svg"), "<?xml version='1.0'?><svg/>").unwrap();
    fs::write(root.join("icon.ico"), b"\0\0\x01\0").unwrap();
    insta::assert_snapshot!(init(root, &["etcd", "-c", "stable", "-d", "README.md", "-i", "icon.svg"]), @r##"
    {
        "schema": "olm.package",
        "name": "etcd",
        "defaultChannel": "stable",
        "icon": {
            "base64data": "PD94bWwgdmVyc2lvbj0nMS4wJz8+PHN2Zy8+",
            "mediatype": "image/svg+xml"
        },
        "description": "# etcd\n\nA *store*.\n"
    }
    exit code 0
    "##);
    insta::assert_snapshot!(init(root, &["Etcd_Operator", "-o", "yaml"]), @r##"
    ---
    defaultChannel: ""
    name: Etcd_Operator
    schema: olm.package
    warning: "Etcd_Operator" is not a package name: 'E' is not allowed; use lower-case letters, digits and `-`
    hint: package names become parts of Kubernetes names, so they must be DNS labels
    hint: a catalog is valid only if each package has a default channel, see `-c`
    exit code 0
    "##);
    let refused: String = [
        ["etcd", "-i", "icon.ico"],
        ["etcd", "-d", "latin.md"],
        ["etcd", "-d", "nowhere"],
        ["etcd", "-o", "table"],
    ]
    .iter()
    .map(|arguments| init(root, arguments))
    .collect();
    insta::assert_snapshot!(refused, @r##"
    error: `icon.ico` is not a picture that consoles show: PNG, JPEG, GIF or SVG
    exit code 1
    error: the description `latin.md` is not UTF-8 text
      because: incomplete utf-8 byte sequence from index 3
    exit code 1
    error: cannot read `nowhere`
      because: No such file or directory (os error 2)
    exit code 1
    error: invalid value 'table' for '--output <OUTPUT>'
      [possible values: json, yaml]

    For more information, try '--help'.
    exit code 2
    "##);
}

/// What a user sees: standard output, standard error, the exit code.
fn init(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["catalog", "init"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    format!(
        "{}{}exit code {}\n",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap()
    )
}
