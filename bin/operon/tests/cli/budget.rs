//! Hard questions about the community catalog end within an address space that a controller has.
//!
//! Everything runs in processes whose address space is limited, so that a failure here never takes
//! the memory of the machine. No registry is asked for the content of a bundle.

use std::{
    collections::BTreeSet,
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use operon_fbc::{MemoryFile, read_catalog};
use operon_parts::{Part, leave_out};
use tempfile::TempDir;

use crate::plan::repository;

/// The address space of a process, in KiB: a catalog is mapped, threads have stacks, and what a
/// decision may hold is far below.
const ADDRESS_SPACE_KIB: &str = "1048576";

/// Arenas of the C library: each reserves 64 MiB of address space for threads, which is not memory.
const ARENAS: &str = "2";

/// The pairs of packages of the community catalog that provide the same API.
const PAIRS: usize = 17;

/// A pair that once took all memory.
const KNOWN_PAIR: (&str, &str) = ("argocd-operator", "argocd-operator-helm");

/// The community catalog, and a directory for cases.
struct Community {
    directory: TempDir,
    packages: BTreeSet<String>,
    /// The packages that share an API, the smaller name first.
    pairs: BTreeSet<(String, String)>,
}

impl Community {
    /// Unpacks the catalog; `None` where it is not beside the repository.
    fn new() -> Option<Self> {
        let shared = env::var_os("OPERON_SHARED").map(PathBuf::from);
        let shared = shared.unwrap_or_else(|| repository().join("../shared"));
        let archive = shared.join("data/operatorhub-slim.tar.zst");
        if !archive.is_file() {
            let reason = "../shared/data/operatorhub-slim.tar.zst is not there";
            leave_out(Part::Shared, reason);
            return None;
        }
        let directory = TempDir::new().expect("a temporary directory");
        let mut tar = Command::new("tar");
        tar.args(["--zstd", "-xf"]).arg(archive).current_dir(directory.path());
        if !tar.status().is_ok_and(|status| status.success()) {
            leave_out(Part::Shared, "`tar --zstd` cannot unpack the community catalog here");
            return None;
        }
        let (packages, pairs) = packages_and_pairs(&directory.path().join("operatorhub-slim"));
        assert_eq!(pairs.len(), PAIRS, "{pairs:?}");
        let (one, other) = KNOWN_PAIR;
        assert!(pairs.contains(&(one.to_owned(), other.to_owned())), "{pairs:?}");
        Some(Self { directory, packages, pairs })
    }

    fn catalog(&self) -> PathBuf {
        self.directory.path().join("operatorhub-slim")
    }

    /// Returns the packages of each question: every pair, and all packages at once.
    fn questions(&self) -> Vec<Vec<&str>> {
        let pairs = self.pairs.iter().map(|(one, other)| vec![one.as_str(), other.as_str()]);
        pairs.chain([self.packages.iter().map(String::as_str).collect()]).collect()
    }

    /// Runs the program in a limited address space.
    fn operon(&self, arguments: &[&str]) -> Output {
        let limited = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_operon")]).args(arguments);
        command
            .env("OPERON_CACHE_DIR", self.directory.path().join(".cache"))
            .env("OPERON_OFFLINE", "true")
            .env("MALLOC_ARENA_MAX", ARENAS)
            .env("NO_COLOR", "1")
            .env("HOME", "/nonexistent")
            .env_remove("KUBECONFIG")
            .output()
            .expect("sh runs")
    }

    /// Writes a namespace with Subscriptions to packages; returns its directory.
    fn namespace(&self, packages: &[&str]) -> String {
        let name = if packages.len() == 2 { packages.join("-with-") } else { "all".to_owned() };
        let directory = self.directory.path().join(name);
        fs::create_dir_all(&directory).expect("a directory");
        let mut manifests = NAMESPACE.to_owned();
        for package in packages {
            // Writing to a string cannot fail.
            let _ = write!(
                manifests,
                "---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n\
                 metadata: {{name: {package}, namespace: operators}}\n\
                 spec: {{name: {package}, source: community, sourceNamespace: operators}}\n"
            );
        }
        fs::write(directory.join("cluster.yaml"), manifests).expect("written");
        directory.to_string_lossy().into_owned()
    }
}

/// A namespace with a group and the community catalog.
const NAMESPACE: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: operators}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: operators, namespace: operators}
spec: {targetNamespaces: [operators]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: operators}
spec: {sourceType: grpc, image: ../operatorhub-slim}
";

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

/// Checks that a question was answered and that the answer can be read; returns the exit code.
fn exit_code(output: &Output, packages: &[&str]) -> i32 {
    let text = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let shown = format!("{packages:?}: {code:?} {complaints}");
    assert!(!text.is_empty() && !complaints.contains("panicked"), "{shown}");
    assert!(packages.len() > 2 || text.lines().count() < 1_000, "{shown} {text}");
    code.filter(|code| (0..=2).contains(code)).expect(&shown)
}

#[test]
fn packages_that_share_an_api_are_planned_in_little_memory() {
    let Some(community) = Community::new() else { return };
    let catalog = community.catalog().to_string_lossy().into_owned();
    let mut conflicts = 0;
    for packages in community.questions() {
        let mut arguments = vec!["plan", "--catalog", &catalog];
        arguments.extend(packages.iter().flat_map(|package| ["--subscribe", package]));
        conflicts += usize::from(exit_code(&community.operon(&arguments), &packages) == 1);
    }
    assert!(conflicts > 1, "packages that share an API cannot run side by side");
}

#[test]
fn packages_that_share_an_api_are_installed_in_little_memory() {
    let Some(community) = Community::new() else { return };
    let mut conflicts = 0;
    for packages in community.questions() {
        let directory = community.namespace(&packages);
        let output = community.operon(&["up", "--once", &directory]);
        assert_eq!(exit_code(&output, &packages), 1, "no content can be fetched");
        let text = String::from_utf8_lossy(&output.stdout);
        conflicts += usize::from(text.contains("Unresolved"));
    }
    assert!(conflicts > 1, "packages that share an API cannot run side by side");
}
