//! The server as another implementation of gRPC sees it: Python's, which knows our API by reflection
//! only.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::content::{HARBOUR, MemoryContent, serve};

/// What the script needs; the versions are left to the index, because the wire is what is tested.
const PACKAGES: [&str; 3] = ["grpcio", "grpcio-reflection", "grpcio-health-checking"];

/// Returns a Python with gRPC, made once below the target directory; says why when there is none.
fn python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-grpc");
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    if complete.exists() {
        return Ok(python);
    }
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let folder_text = folder.to_str().ok_or("the target directory has an odd name")?;
    if !run(Path::new("python3"), &["-m", "venv", "--clear", folder_text]) {
        return Err("python3 with venv is not installed".to_owned());
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    if !run(&python, &[&install[..], &PACKAGES[..]].concat()) {
        return Err("pip cannot install grpcio".to_owned());
    }
    fs::write(complete, "").map_err(|error| error.to_string())?;
    Ok(python)
}

#[test]
fn a_client_in_another_language_finds_everything_by_reflection() {
    let python = match python() {
        Ok(python) => python,
        Err(reason) => {
            operon_parts::leave_out(operon_parts::Part::Python, &reason);
            return;
        }
    };
    let (_server, listening) = serve(MemoryContent::of_text(HARBOUR));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/client.py");
    let output =
        Command::new(python).arg(script).arg(listening.address().to_string()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    let got: Value = serde_json::from_str(&told).unwrap();
    let services = json!(["api.ExperimentalRegistry", "api.Registry", "grpc.health.v1.Health",]);
    let entry = |channel: &str, replaces: &str| json!([channel, "crane.v2", replaces]);
    let expected = json!({
        "services v1": services,
        "services v1alpha": services,
        "health": ["SERVING", "SERVING", "SERVING"],
        "watch": "SERVING",
        "ListPackages": ["crane"],
        "GetPackage": {"channels": [["beta", "crane.v2"], ["stable", "crane.v2"]], "default": "stable"},
        "GetBundle": ["crane.v1", 2, "", []],
        "GetBundleForChannel": ["crane.v2", 1, "", []],
        "GetBundleThatReplaces": ["crane.v2", 1, "", []],
        "GetDefaultBundleThatProvides": ["crane.v2", 1, "", []],
        "GetChannelEntriesThatReplace": [entry("stable", "crane.v1")],
        "GetChannelEntriesThatProvide": 6,
        "GetLatestChannelEntriesThatProvide":
            [entry("beta", ""), entry("stable", "crane.v1"), entry("stable", "crane.v1a")],
        "ListBundles": [["beta", "crane.v2"], ["stable", "crane.v1"], ["stable", "crane.v1a"], ["stable", "crane.v2"]],
        "gzip": "crane",
        "experimental without header": 0,
        "experimental": [{"package": "crane", "phases": [{"months": 12.5, "name": "full"}, {"end": null, "name": "", "open": true}], "schema": "example.lifecycle"}],
        "refused": ["UNKNOWN", "package \"ship\" not found"],
    });
    assert_eq!(got, expected);
}
