//! Hard questions about the community catalog end within an address space that a controller has.
//!
//! Everything runs in processes whose address space is limited, so that a failure here never takes
//! the memory of the machine.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use operon_fbc::{MemoryFile, read_catalog};
use tempfile::TempDir;

use crate::plan::repository;

/// The address space of a process, in KiB: a catalog is mapped, threads have stacks, and what a
/// decision may hold is far below.
const ADDRESS_SPACE_KIB: &str = "1500000";

/// Unpacks the community catalog; `None` where it is not beside the repository.
fn community_catalog(directory: &Path) -> Option<PathBuf> {
    let shared = env::var_os("OPERON_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| repository().join("../shared"));
    let archive = shared.join("data/operatorhub-slim.tar.zst");
    if !archive.is_file() {
        eprintln!("left out: ../shared/data/operatorhub-slim.tar.zst is not there");
        return None;
    }
    let mut tar = Command::new("tar");
    let status = tar.args(["--zstd", "-xf"]).arg(archive).current_dir(directory).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("left out: `tar --zstd` cannot unpack the community catalog here");
        return None;
    }
    Some(directory.join("operatorhub-slim"))
}

/// Returns the packages, and which of them share an API.
fn packages_and_pairs(directory: &Path) -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let files = fs::read_dir(directory).expect("the catalog").map(|file| {
        let path = file.expect("a file").path();
        let content = fs::read(&path).expect("a file that can be read");
        MemoryFile { path: path.to_string_lossy().into_owned(), content }
    });
    let catalog = read_catalog(&files.collect::<Vec<_>>());
    let packages = catalog.packages().map(|package| package.name().to_owned()).collect();
    let mut pairs = BTreeSet::new();
    for api in catalog.apis() {
        let providers: BTreeSet<&str> =
            api.providers().map(|bundle| bundle.package().name()).collect();
        for one in &providers {
            let others = providers.iter().filter(|other| *other > one);
            pairs.extend(others.map(|other| ((*one).to_owned(), (*other).to_owned())));
        }
    }
    (packages, pairs)
}

/// Runs `operon plan` for Subscriptions to these packages, in a limited address space.
fn plan(catalog: &Path, cache: &Path, packages: &[&str]) -> Output {
    let limited = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_operon"), "plan", "--catalog"]);
    command.arg(catalog);
    for package in packages {
        command.args(["--subscribe", package]);
    }
    command.env("OPERON_CACHE_DIR", cache).env("NO_COLOR", "1").env("HOME", "/nonexistent");
    command.env_remove("KUBECONFIG").output().expect("sh runs")
}

#[test]
fn packages_that_share_an_api_are_planned_in_little_memory() {
    let directory = TempDir::new().expect("a temporary directory");
    let Some(catalog) = community_catalog(directory.path()) else { return };
    let cache = directory.path().join(".cache");
    let (packages, pairs) = packages_and_pairs(&catalog);
    assert!(pairs.len() > 10, "{pairs:?}");
    let mut conflicts = 0;
    for (one, other) in &pairs {
        let output = plan(&catalog, &cache, &[one, other]);
        let text = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        let is_answered = matches!(code, Some(0..=2)) && !text.is_empty();
        assert!(is_answered, "{one} and {other}: {code:?} {complaints}");
        assert!(text.lines().count() < 1_000, "{one} and {other}: {text}");
        conflicts += usize::from(code == Some(1));
    }
    assert!(conflicts > 0, "packages that share an API cannot run side by side");
    let all: Vec<&str> = packages.iter().map(String::as_str).collect();
    let output = plan(&catalog, &cache, &all);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let is_answered = matches!(output.status.code(), Some(0..=2)) && !output.stdout.is_empty();
    assert!(is_answered, "all packages: {complaints}");
}
