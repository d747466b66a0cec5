//! The quickstart's operators as images in a rig's registry, and the namespace that asks for them.
//!
//! Images are built and pushed by the program that ships. Pods get the image that every rig has; what
//! is in the bundles is otherwise what people read in the quickstart.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use operon_rig::{BUSYBOX_IMAGE, Rig};

/// The namespace of the quickstart.
pub const HARBOUR: &str = "harbour";

/// How many states its catalog has, from the first version to the last.
pub const CATALOG_STATES: usize = 3;

/// Pushes every bundle, and the catalog in each of its states as `catalog:v1` to `catalog:v3`.
pub fn push_quickstart(rig: &Rig, program: &Path) -> Result<(), String> {
    push_quickstart_as(rig, program, rig.registry())
}

/// Does it with a registry that goes by another name, such as the one that pods know.
pub fn push_quickstart_as(rig: &Rig, program: &Path, registry: &str) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    let work = rig.directory().join("quickstart");
    let said = |error: io::Error| error.to_string();
    let mut bundles: Vec<String> = fs::read_dir(source.join("bundles"))
        .map_err(said)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()
        .map_err(said)?;
    bundles.sort();
    for bundle in bundles {
        let (package, version) =
            bundle.split_once(".v").ok_or_else(|| format!("`{bundle}` is no name of a bundle"))?;
        let directory = work.join(&bundle);
        copy_bundle(&source.join("bundles").join(&bundle), &directory, package).map_err(said)?;
        let reference = format!("{registry}/{package}:v{version}");
        build(rig, program, "bundle", &directory, &reference)?;
    }
    for state in 1..=CATALOG_STATES {
        let directory = work.join(format!("catalog{state}"));
        copy_catalog(registry, &source.join("catalog"), &directory, state).map_err(said)?;
        build(rig, program, "catalog", &directory, &catalog(registry, state))?;
    }
    Ok(())
}

/// Returns the manifests of the namespace, with the catalog in one of its states.
pub fn manifests(rig: &Rig, state: usize) -> String {
    manifests_as(rig.registry(), state)
}

/// Returns them with a registry that goes by another name.
pub fn manifests_as(registry: &str, state: usize) -> String {
    let catalog = catalog(registry, state);
    format!(
        "
apiVersion: v1
kind: Namespace
metadata: {{ name: {HARBOUR} }}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {{ name: {HARBOUR}, namespace: {HARBOUR} }}
spec: {{ targetNamespaces: [{HARBOUR}] }}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {{ name: chandler, namespace: {HARBOUR} }}
spec: {{ sourceType: grpc, image: \"{catalog}\" }}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {{ name: beacon, namespace: {HARBOUR} }}
spec: {{ name: beacon, channel: stable, source: chandler, sourceNamespace: {HARBOUR} }}
"
    )
}

/// Returns the image of the catalog in one of its states.
fn catalog(registry: &str, state: usize) -> String {
    format!("{registry}/catalog:v{state}")
}

fn build(rig: &Rig, program: &Path, what: &str, directory: &Path, tag: &str) -> Result<(), String> {
    let output = rig
        .command(&program.display().to_string())
        .args([what, "build"])
        .arg(directory)
        .args(["--tag", tag, "--insecure-registry"])
        .arg(tag.split('/').next().unwrap_or_default())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{tag} cannot be built: {}", String::from_utf8_lossy(&output.stderr)))
}

fn copy_bundle(from: &Path, to: &Path, package: &str) -> io::Result<()> {
    fs::create_dir_all(to.join("manifests"))?;
    fs::create_dir_all(to.join("metadata"))?;
    for file in files(&from.join("manifests"))? {
        let text = fs::read_to_string(&file)?;
        let lines = text.lines().map(|line| match line.split_once("image: ") {
            Some((before, _)) => format!("{before}image: {BUSYBOX_IMAGE}\n"),
            None => format!("{line}\n"),
        });
        let name = file.file_name().unwrap_or_default();
        fs::write(to.join("manifests").join(name), lines.collect::<String>())?;
    }
    let annotations = [
        ("mediatype", "registry+v1"),
        ("manifests", "manifests/"),
        ("metadata", "metadata/"),
        ("package", package),
        ("channels", "stable"),
        ("channel.default", "stable"),
    ];
    let lines = annotations.map(|(name, value)| {
        format!("  operators.operatorframework.io.bundle.{name}.v1: {value}\n")
    });
    let text = format!("annotations:\n{}", lines.concat());
    fs::write(to.join("metadata/annotations.yaml"), text)
}

/// Copies the catalog; what is published later stands behind `#2` and `#3`.
fn copy_catalog(registry: &str, from: &Path, to: &Path, state: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for file in files(from)? {
        let mut text = fs::read_to_string(&file)?;
        for published in 2..=state {
            text = text.replace(&format!("\n#{published} "), "\n");
        }
        let lines = text.lines().map(|line| match line.split_once("image: ../bundles/") {
            Some((before, bundle)) => {
                let reference = bundle.replacen(".v", ":v", 1);
                format!("{before}image: {registry}/{reference}\n")
            }
            None => format!("{line}\n"),
        });
        let name = file.file_name().unwrap_or_default();
        fs::write(to.join(name), lines.collect::<String>())?;
    }
    Ok(())
}

fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    Ok(files)
}
