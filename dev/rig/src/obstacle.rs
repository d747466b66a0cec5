//! Why no rig can run on this machine, in one line each.
//!
//! Looking changes nothing on the machine: what is missing is only named here, and built or installed by
//! [`Programs::ensure`](crate::Programs::ensure).

use std::process::{Command, Stdio};

use crate::programs::{SystemProgram, is_there};

/// What keeps a rig from running here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// Namespaces and cgroups are Linux's.
    #[error("the rig needs Linux")]
    NotLinux,
    /// Namespaces, mounts and cgroups are made.
    #[error("the rig needs root, for network namespaces, mounts and cgroups")]
    NotRoot,
    /// The kernel, or what this process runs in, refuses network namespaces.
    #[error("no network namespace can be made here (`unshare --net true` fails)")]
    NoNamespaces,
    /// The programs of Kubernetes are built with Go.
    #[error("the rig's programs are built with Go, and `go` is not installed")]
    NoGo,
    /// Programs were not built yet.
    #[error("the rig's programs are not built; cargo xtask rig build")]
    NotBuilt,
    /// A program of the system is missing.
    #[error("the rig needs `{program}`; apt-get install {package}")]
    NotInstalled {
        /// The program, such as `runc`.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// Debian's other package has a busybox that needs libraries, which an image of it alone lacks.
    #[error("the rig needs a static `busybox`; apt-get install busybox-static")]
    BusyboxNotStatic,
}

impl Obstacle {
    /// Looks for what no program can mend: the system, and the rights on it.
    pub(crate) fn of_machine() -> Result<(), Self> {
        if !cfg!(target_os = "linux") {
            return Err(Self::NotLinux);
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Self::NotRoot);
        }
        let mut probe = Command::new("unshare");
        probe.args(["--net", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        match probe.status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Self::NoNamespaces),
        }
    }

    /// Looks for a missing program of the system.
    pub(crate) fn of_system(programs: &[SystemProgram]) -> Result<(), Self> {
        match programs.iter().find(|program| !is_there(program)) {
            None => Ok(()),
            Some(missing) if missing.program == "busybox" => Err(Self::BusyboxNotStatic),
            Some(missing) => {
                Err(Self::NotInstalled { program: missing.program, package: missing.package })
            }
        }
    }
}
