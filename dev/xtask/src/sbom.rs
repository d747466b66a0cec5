//! `cargo xtask sbom`: the software bill of materials of the program, as CycloneDX JSON.
//!
//! It lists the crates that the program is linked from, and those that only its build runs. Everything comes
//! from Cargo and the lock file; the same lock file gives the same bytes, so there is neither a time nor a
//! random number in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use crate::workspace::Workspace;

/// The package that is shipped.
const PACKAGE: &str = "operon";

/// The name of the file beside the program.
const FILE: &str = "operon.cdx.json";

/// The version of CycloneDX that is written.
const SPECIFICATION: &str = "1.5";

/// A crate in one version.
type Crate = (String, String);

/// Writes the bill of materials; returns `true`, as there is nothing to judge.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<bool> {
    let file = match arguments {
        [] => workspace.target_directory()?.join(FILE),
        [file] => PathBuf::from(file),
        _ => bail!("usage: cargo xtask sbom [FILE]"),
    };
    write(workspace, &file)?;
    println!("bill of materials {}", file.display());
    Ok(true)
}

/// Writes the bill of materials into the directory of a program, and returns its path.
pub(crate) fn write_into(workspace: &Workspace, directory: &Path) -> anyhow::Result<PathBuf> {
    let file = directory.join(FILE);
    write(workspace, &file)?;
    Ok(file)
}

fn write(workspace: &Workspace, file: &Path) -> anyhow::Result<()> {
    let linked = crates_of(workspace, "normal")?;
    let built = crates_of(workspace, "normal,build")?;
    let metadata = output(workspace, &["metadata", "--format-version", "1", "--locked"])?;
    let metadata = serde_json::from_str(&metadata).context("`cargo metadata` printed no JSON")?;
    let lock = workspace.root.join("Cargo.lock");
    let lock =
        fs::read_to_string(&lock).with_context(|| format!("cannot read `{}`", lock.display()))?;
    let bill = bill(&metadata, &linked, &built, &checksums(&lock))?;
    let text = serde_json::to_string_pretty(&bill).context("bug: the bill is not JSON")? + "\n";
    fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))
}

fn output(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<String> {
    let output = workspace.cargo(arguments).output().context("cannot run Cargo")?;
    if !output.status.success() {
        let words = arguments.join(" ");
        bail!("`cargo {words}` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("Cargo printed no text")
}

/// Returns the crates that the program needs by some edges, and whether each is a procedural macro. Cargo's
/// metadata would add what only the tests of other crates enable.
fn crates_of(workspace: &Workspace, edges: &str) -> anyhow::Result<BTreeMap<Crate, bool>> {
    let arguments =
        ["tree", "--locked", "--package", PACKAGE, "--prefix", "none", "--edges", edges];
    output(workspace, &arguments)?.lines().filter(|line| !line.is_empty()).map(read_crate).collect()
}

/// Reads a line such as `serde_derive v1.0.228 (proc-macro) (*)`.
fn read_crate(line: &str) -> anyhow::Result<(Crate, bool)> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let version = words.next().and_then(|version| version.strip_prefix('v'));
    let version = version.with_context(|| format!("`cargo tree` names no version in `{line}`"))?;
    let is_macro = words.any(|word| word == "(proc-macro)");
    Ok(((name.to_owned(), version.to_owned()), is_macro))
}

/// Reads the checksums of a lock file, which are SHA-256 of the crates' archives.
fn checksums(lock: &str) -> BTreeMap<Crate, String> {
    let mut checksums = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let prefix = format!("{name} = \"");
            let line = package.lines().find_map(|line| line.strip_prefix(&prefix))?;
            line.strip_suffix('"').map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (field("name"), field("version"), field("checksum"))
        {
            checksums.insert((name, version), checksum);
        }
    }
    checksums
}

fn bill(
    metadata: &Value,
    linked: &BTreeMap<Crate, bool>,
    built: &BTreeMap<Crate, bool>,
    checksums: &BTreeMap<Crate, String>,
) -> anyhow::Result<Value> {
    let packages = packages(metadata)?;
    let mut components = Vec::new();
    let mut program = Value::Null;
    for (key, is_macro) in built {
        let package = packages.get(key).with_context(|| format!("no metadata of {}", key.0))?;
        let is_linked = linked.contains_key(key) && !is_macro;
        let component = component(key, package, is_linked, checksums.get(key));
        if key.0 == PACKAGE {
            program = component;
            program["type"] = json!("application");
        } else {
            components.push(component);
        }
    }
    let reference = program["bom-ref"].clone();
    if reference.is_null() {
        bail!("`cargo tree` does not name the package `{PACKAGE}`");
    }
    Ok(json!({
        "$schema": format!("http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json"),
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": { "component": program },
        "components": components,
        "dependencies": dependencies(metadata, built),
    }))
}

fn packages(metadata: &Value) -> anyhow::Result<BTreeMap<Crate, &Value>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    Ok(packages.iter().map(|package| (crate_of(package), package)).collect())
}

fn crate_of(package: &Value) -> Crate {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    (text("name"), text("version"))
}

fn reference((name, version): &Crate) -> String {
    // Build metadata begins with a sign that package URLs reserve.
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

fn component(key: &Crate, package: &Value, is_linked: bool, checksum: Option<&String>) -> Value {
    let (name, version) = key;
    let mut component = Map::new();
    let mut set = |name: &str, value: Value| component.insert(name.to_owned(), value);
    set("type", json!("library"));
    set("bom-ref", json!(reference(key)));
    set("name", json!(name));
    set("version", json!(version));
    // What only the build runs is not part of the program.
    set("scope", json!(if is_linked { "required" } else { "excluded" }));
    set("purl", json!(reference(key)));
    if let Some(checksum) = checksum {
        set("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    if let Some(license) = package["license"].as_str() {
        // Older crates separate alternatives by a slash.
        set("licenses", json!([{ "expression": license.replace('/', " OR ") }]));
    } else if let Some(file) = package["license_file"].as_str() {
        let name = format!("see the file {file} of the crate");
        set("licenses", json!([{ "license": { "name": name } }]));
    }
    if let Some(address) = package["repository"].as_str() {
        set("externalReferences", json!([{ "type": "vcs", "url": address }]));
    }
    Value::Object(component)
}

/// Returns which of the crates need which others.
fn dependencies(metadata: &Value, built: &BTreeMap<Crate, bool>) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let by_id: BTreeMap<String, Crate> = list(&metadata["packages"])
        .iter()
        .map(|package| (package["id"].as_str().unwrap_or_default().to_owned(), crate_of(package)))
        .filter(|(_, key)| built.contains_key(key))
        .collect();
    let mut needs: BTreeMap<&Crate, BTreeSet<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let Some(key) = node["id"].as_str().and_then(|id| by_id.get(id)) else { continue };
        let needed = list(&node["deps"]).into_iter().filter(|dependency| {
            list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev")
        });
        let needed =
            needed.filter_map(|dependency| by_id.get(dependency["pkg"].as_str()?).map(reference));
        needs.entry(key).or_default().extend(needed);
    }
    needs
        .into_iter()
        .map(|(key, needed)| json!({ "ref": reference(key), "dependsOn": needed }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bill_lists_linked_and_build_crates() {
        let package = |name: &str, version: &str| {
            json!({ "id": format!("{name}#{version}"), "name": name, "version": version,
                    "license": "MIT/Apache-2.0", "repository": null })
        };
        let dependency =
            |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("operon", "0.1.0"), package("zstd", "1.0.0+zstd.1"), package("derive", "2.0.0"),
                package("cc", "1.0.0"), package("insta", "1.0.0"),
            ],
            "resolve": { "nodes": [
                { "id": "operon#0.1.0", "deps": [
                    dependency("zstd#1.0.0+zstd.1", Value::Null), dependency("derive#2.0.0", Value::Null),
                    dependency("insta#1.0.0", json!("dev")),
                ] },
                { "id": "zstd#1.0.0+zstd.1", "deps": [dependency("cc#1.0.0", json!("build"))] },
            ] },
        });
        let read = |lines: &str| -> BTreeMap<Crate, bool> {
            lines.lines().map(|line| read_crate(line).expect("a crate")).collect()
        };
        let normal = "operon v0.1.0 (/src)\nzstd v1.0.0+zstd.1\nderive v2.0.0 (proc-macro)\nzstd v1.0.0+zstd.1 (*)";
        let lock = "version = 4\n\n[[package]]\nname = \"zstd\"\nversion = \"1.0.0+zstd.1\"\nsource = \"x\"\nchecksum = \"00ff\"\n\n[[package]]\nname = \"operon\"\nversion = \"0.1.0\"\n";
        let built = read(&format!("{normal}\ncc v1.0.0"));
        let bill = bill(&metadata, &read(normal), &built, &checksums(lock)).expect("a bill");
        assert_eq!(bill["metadata"]["component"]["type"], "application");
        let rows: Vec<[&str; 3]> = bill["components"]
            .as_array()
            .expect("components")
            .iter()
            .map(|one| {
                ["bom-ref", "scope", "name"].map(|name| one[name].as_str().unwrap_or_default())
            })
            .collect();
        assert_eq!(
            rows,
            [
                ["pkg:cargo/cc@1.0.0", "excluded", "cc"],
                ["pkg:cargo/derive@2.0.0", "excluded", "derive"],
                ["pkg:cargo/zstd@1.0.0%2Bzstd.1", "required", "zstd"],
            ]
        );
        let zstd = &bill["components"][2];
        assert_eq!(zstd["hashes"][0]["content"], "00ff");
        assert_eq!(zstd["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            bill["dependencies"][0],
            json!({ "ref": "pkg:cargo/operon@0.1.0",
                    "dependsOn": ["pkg:cargo/derive@2.0.0", "pkg:cargo/zstd@1.0.0%2Bzstd.1"] })
        );
    }

    #[test]
    fn bill_of_this_repository_is_complete_and_repeatable() {
        let workspace = Workspace::find().expect("the repository");
        let file = workspace.target_directory().expect("a target directory").join(FILE);
        let text = || {
            run(&workspace, &[]).expect("a bill");
            fs::read_to_string(&file).expect("the bill was written")
        };
        let first = text();
        assert_eq!(first, text(), "the same lock file made another bill");
        let bill: Value = serde_json::from_str(&first).expect("JSON");
        let components = bill["components"].as_array().expect("components");
        let mut linked = BTreeSet::new();
        for component in components {
            let name = component["name"].as_str().expect("a name");
            let is_ours = name.starts_with("operon-");
            assert_eq!(component["hashes"].is_null(), is_ours, "checksum of {name}");
            assert!(!component["licenses"].is_null(), "licence of {name}");
            if component["scope"] == "required" {
                linked.insert(name);
            }
        }
        for name in ["operon-lifecycle", "rustls", "aws-lc-sys", "webpki-root-certs"] {
            assert!(linked.contains(name), "{name} is missing");
        }
        // Crates of tests, and crates that only run while building.
        for name in ["proptest", "insta", "serde_derive", "cc"] {
            assert!(!linked.contains(name), "{name} is not linked");
        }
    }
}
