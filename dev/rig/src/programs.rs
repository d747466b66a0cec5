//! The programs that a cluster is made of: where they lie, and how missing ones are had.
//!
//! Kubernetes and etcd are built from their published Go modules into the user's cache, once for each
//! pair of versions; the rest are Debian's packages. Nothing is downloaded as a ready-made binary.

mod build;
mod packages;

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::{Obstacle, RigError};

/// The version of Kubernetes: the newest patch of the newest minor version.
pub const KUBERNETES_VERSION: &str = "1.36.3";

/// The version of etcd: the one that this Kubernetes is released with, or a later patch.
pub const ETCD_VERSION: &str = "3.6.8";

/// Where programs of the system lie, also where the search path of a user has no `sbin`.
const SYSTEM_DIRECTORIES: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The module a program is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Module {
    /// `k8s.io/kubernetes`.
    Kubernetes,
    /// `go.etcd.io/etcd/server/v3`.
    Etcd,
}

/// A program that is built.
#[derive(Debug)]
pub(crate) struct BuiltProgram {
    pub(crate) name: &'static str,
    pub(crate) module: Module,
    /// Whether only a rig with a node needs it.
    is_for_nodes: bool,
}

const fn kubernetes(name: &'static str, is_for_nodes: bool) -> BuiltProgram {
    BuiltProgram { name, module: Module::Kubernetes, is_for_nodes }
}

/// The programs that are built, in this order.
pub(crate) const BUILT: [BuiltProgram; 7] = [
    BuiltProgram { name: "etcd", module: Module::Etcd, is_for_nodes: false },
    kubernetes("kube-apiserver", false),
    kubernetes("kube-controller-manager", false),
    kubernetes("kubectl", false),
    kubernetes("kubelet", true),
    kubernetes("kube-scheduler", true),
    kubernetes("kube-proxy", true),
];

/// A program of the system, and the Debian package that has it.
#[derive(Debug)]
pub(crate) struct SystemProgram {
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
}

const fn system(program: &'static str, package: &'static str) -> SystemProgram {
    SystemProgram { program, package }
}

/// What every rig needs of the system.
const FOR_CONTROL_PLANE: [SystemProgram; 3] =
    [system("ip", "iproute2"), system("nsenter", "util-linux"), system("setsid", "util-linux")];

/// What a rig with a node needs besides.
const FOR_NODES: [SystemProgram; 10] = [
    system("containerd", "containerd"),
    system("containerd-shim-runc-v2", "containerd"),
    system("runc", "runc"),
    system("/usr/lib/cni/ptp", "containernetworking-plugins"),
    system("docker-registry", "docker-registry"),
    system("skopeo", "skopeo"),
    system("busybox", "busybox-static"),
    system("iptables", "iptables"),
    system("conntrack", "conntrack"),
    system("mount", "mount"),
];

/// The programs of this machine's rigs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Finds the programs for a rig, with or without a node; changes nothing.
    pub fn find(nodes: bool) -> Result<Self, Obstacle> {
        Obstacle::of_machine()?;
        let programs = Self { directory: cache_directory().join("bin") };
        let is_needed = |program: &&BuiltProgram| nodes || !program.is_for_nodes;
        let is_missing = |program: &BuiltProgram| !programs.path(program.name).is_file();
        if BUILT.iter().filter(is_needed).any(is_missing) {
            return Err(Obstacle::NotBuilt);
        }
        Obstacle::of_system(&FOR_CONTROL_PLANE)?;
        if nodes {
            Obstacle::of_system(&FOR_NODES)?;
        }
        Ok(programs)
    }

    /// Builds and installs what is missing, and says what it does.
    ///
    /// The first time takes about ten minutes on two cores. Whoever is interrupted goes on where it
    /// stopped; a second builder waits for the first.
    pub fn ensure(progress: &mut dyn FnMut(&str)) -> Result<Self, RigError> {
        Obstacle::of_machine()?;
        let needed = FOR_CONTROL_PLANE.iter().chain(&FOR_NODES);
        packages::install(needed.filter(|program| !is_there(program)), progress)?;
        build::build_missing(&cache_directory(), progress)?;
        Ok(Self::find(true)?)
    }

    /// Returns where a built program lies.
    pub fn path(&self, program: &str) -> PathBuf {
        self.directory.join(program)
    }

    /// Returns where the built programs lie.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the search path for everything that runs in a rig.
    pub(crate) fn search_path(&self) -> OsString {
        let system = SYSTEM_DIRECTORIES.iter().map(PathBuf::from);
        let all = std::iter::once(self.directory.clone()).chain(system);
        env::join_paths(all).unwrap_or_else(|_| OsString::from(SYSTEM_DIRECTORIES.join(":")))
    }
}

/// Returns the directory of what is built, one for each pair of versions.
fn cache_directory() -> PathBuf {
    let of_user = env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty());
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_else(|| OsString::from("/root")));
    let caches = of_user.map_or_else(|| home().join(".cache"), PathBuf::from);
    let versions = format!("kubernetes-{KUBERNETES_VERSION}-etcd-{ETCD_VERSION}");
    caches.join("operon/rig").join(versions)
}

/// Finds a program on the search path, or where the system has its own.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let search_path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = env::split_paths(&search_path)
        .chain(SYSTEM_DIRECTORIES.iter().map(PathBuf::from))
        .collect();
    directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// Tells whether a program of the system is there and of use.
pub(crate) fn is_there(wanted: &SystemProgram) -> bool {
    match find_program(wanted.program) {
        Some(path) if wanted.program == "busybox" => is_static(&path),
        found => found.is_some(),
    }
}

/// Tells whether a program needs no loader: one that does names it.
fn is_static(program: &Path) -> bool {
    const LOADER: &[u8] = b"/ld-linux";
    fs::read(program).is_ok_and(|bytes| !bytes.windows(LOADER.len()).any(|part| part == LOADER))
}
