//! The network of a rig: a namespace of its own, with fixed addresses that nobody else sees.
//!
//! There is no way out of it and none in; whoever wants to talk to the cluster enters. `ip netns exec` is
//! not used, because it mounts `/sys` anew and so hides the cgroups.

use std::{
    fs::{self, File},
    panic,
    path::PathBuf,
    process::Command,
    thread,
};

use crate::{RigError, running::run};

/// The address of the node, and of the API server on it.
pub const NODE_ADDRESS: &str = "10.200.0.1";

/// The port of the API server.
pub const API_PORT: u16 = 6443;

/// Where pods have their addresses.
pub const POD_NETWORK: &str = "10.244.0.0/16";

/// Where Services have their addresses.
pub const SERVICE_NETWORK: &str = "10.96.0.0/16";

/// The first of them, which Kubernetes gives the API server.
pub const API_SERVICE_ADDRESS: &str = "10.96.0.1";

/// The interface of the node: a bridge without ports, because not every kernel has dummy interfaces.
const NODE_INTERFACE: &str = "node0";

/// The network namespace of a rig.
#[derive(Debug, Clone)]
pub(crate) struct Namespace {
    rig: String,
}

impl Namespace {
    /// Returns the namespace of a rig, whether it exists or not.
    pub(crate) fn of(rig: &str) -> Self {
        Self { rig: rig.to_owned() }
    }

    fn name(&self) -> String {
        format!("operon-rig-{}", self.rig)
    }

    /// Returns the file that stands for it.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(self.name())
    }

    /// Makes it, with its addresses.
    pub(crate) fn create(&self) -> Result<(), RigError> {
        run(Command::new("ip").args(["netns", "add", &self.name()]))?;
        let address = format!("{NODE_ADDRESS}/24");
        let steps: [&[&str]; 5] = [
            &["link", "set", "lo", "up"],
            &["link", "add", NODE_INTERFACE, "type", "bridge"],
            &["address", "add", &address, "dev", NODE_INTERFACE],
            &["link", "set", NODE_INTERFACE, "up"],
            // A Service is translated to a pod on its way out, but only what has a way gets so far.
            &["route", "add", SERVICE_NETWORK, "dev", NODE_INTERFACE],
        ];
        for step in steps {
            run(Command::new("ip").args(["-netns", &self.name()]).args(step))?;
        }
        Ok(())
    }

    /// Lets packets go from one pod to another.
    pub(crate) fn forward_packets(&self) -> Result<(), RigError> {
        // What is written here is about the network of the thread that writes.
        const SWITCH: &str = "/proc/sys/net/ipv4/ip_forward";
        self.inside(|| fs::write(SWITCH, "1"))?.map_err(RigError::file("write", SWITCH))
    }

    /// Removes it, if it is there.
    pub(crate) fn remove(&self) -> Result<(), RigError> {
        if self.path().exists() {
            run(Command::new("ip").args(["netns", "delete", &self.name()]))?;
        }
        Ok(())
    }

    /// Makes a command that runs in it.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path().display())).arg("--").arg(program);
        command
    }

    /// Does some work on a thread that is in it.
    ///
    /// Threads that this one starts, such as those of an asynchronous runtime, are in it too.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, RigError> {
        let cannot_enter = |source| RigError::CannotEnter { name: self.rig.clone(), source };
        let entrance = File::open(self.path()).map_err(cannot_enter)?;
        let outcome = thread::scope(|scope| {
            let entered = scope.spawn(|| enter(&entrance).map(|()| work()));
            // A failed assertion in there is a failed assertion out here.
            entered.join().unwrap_or_else(|reason| panic::resume_unwind(reason))
        });
        outcome.map_err(cannot_enter)
    }

    /// Tells whether a process is in it.
    pub(crate) fn has(&self, pid: u32) -> bool {
        use std::os::unix::fs::MetadataExt;

        let of_rig = fs::metadata(self.path());
        let of_process = fs::metadata(format!("/proc/{pid}/ns/net"));
        match (of_rig, of_process) {
            (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
            _ => false,
        }
    }
}

/// Moves the calling thread.
#[cfg(target_os = "linux")]
fn enter(namespace: &File) -> std::io::Result<()> {
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    use std::os::fd::AsFd;

    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// There is nothing like it elsewhere, and no rig comes so far.
#[cfg(not(target_os = "linux"))]
fn enter(_namespace: &File) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
