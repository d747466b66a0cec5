//! The cgroups that a rig's pods live in: made beforehand, because the kubelet wants to find them.
//!
//! A process that is in one was started by this rig's kubelet, whatever it is called and wherever its
//! network is; so ending a rig's pods means ending what is in here. No limits are set.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::{RigError, process::Process};

/// How long a cgroup may stay after its last process ended.
const EMPTY_WITHIN: Duration = Duration::from_secs(5);

/// How often it is tried again meanwhile.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// How often processes are looked for: each round kills all there are, so more than a few means that
/// something keeps making new ones.
const MAX_ROUNDS: usize = 20;

/// The cgroups of a rig, one in each hierarchy of the system.
#[derive(Debug)]
pub(crate) struct Cgroups {
    name: String,
}

impl Cgroups {
    /// Returns the cgroups of a rig, whether they exist or not.
    pub(crate) fn of(rig: &str) -> Self {
        Self { name: format!("operon-rig-{rig}") }
    }

    /// Returns them as the kubelet names them.
    pub(crate) fn root(&self) -> String {
        format!("/{}", self.name)
    }

    /// Makes them.
    pub(crate) fn create(&self) -> Result<(), RigError> {
        for hierarchy in hierarchies_of_kubelet()? {
            let directory = hierarchy.join(&self.name);
            fs::create_dir_all(&directory).map_err(RigError::file("make", &directory))?;
            // In the first version, a new cgroup may use no processor until it is told which.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                let (from, to) = (hierarchy.join(file), directory.join(file));
                if from.exists() && to.exists() {
                    let value = fs::read(&from).map_err(RigError::file("read", &from))?;
                    fs::write(&to, value).map_err(RigError::file("write", &to))?;
                }
            }
        }
        Ok(())
    }

    /// Kills every process in them; tells whether none is left.
    pub(crate) fn kill_all(&self) -> Result<bool, RigError> {
        for _ in 0..MAX_ROUNDS {
            let processes = self.processes()?;
            if processes.is_empty() {
                return Ok(true);
            }
            processes.iter().for_each(|process| process.signal(rustix::process::Signal::KILL));
            processes.iter().for_each(|process| {
                process.kill();
            });
        }
        Ok(false)
    }

    /// Removes them; what is still in use is tried again for a while.
    pub(crate) fn remove(&self) -> Result<(), RigError> {
        let begun = Instant::now();
        for hierarchy in hierarchies()? {
            // Those that lie deepest come last in the list, and go first.
            for directory in below(&hierarchy.join(&self.name)).iter().rev() {
                while let Err(error) = fs::remove_dir(directory) {
                    if error.kind() == io::ErrorKind::NotFound {
                        break;
                    }
                    if begun.elapsed() > EMPTY_WITHIN {
                        return Err(RigError::file("remove", directory)(error));
                    }
                    thread::sleep(TRY_AGAIN);
                }
            }
        }
        Ok(())
    }

    fn processes(&self) -> Result<Vec<Process>, RigError> {
        let mut numbers: Vec<u32> = Vec::new();
        for hierarchy in hierarchies()? {
            for directory in below(&hierarchy.join(&self.name)) {
                let text = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
                numbers.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let processes = numbers.into_iter().filter_map(Process::of_number);
        Ok(processes.filter(Process::is_alive).collect())
    }
}

/// Returns where the hierarchies of cgroups are mounted that the kubelet looks at: several of the first
/// version, or one of the second.
fn hierarchies_of_kubelet() -> Result<Vec<PathBuf>, RigError> {
    let first_version = mounted(&["cgroup"])?;
    if first_version.is_empty() { mounted(&["cgroup2"]) } else { Ok(first_version) }
}

/// Returns all hierarchies: a container runtime uses the second version too where both are mounted.
fn hierarchies() -> Result<Vec<PathBuf>, RigError> {
    mounted(&["cgroup", "cgroup2"])
}

fn mounted(types: &[&str]) -> Result<Vec<PathBuf>, RigError> {
    const MOUNTS: &str = "/proc/self/mounts";
    let mounts = fs::read_to_string(MOUNTS).map_err(RigError::file("read", MOUNTS))?;
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let wanted = fields.filter(|fields| fields.get(2).is_some_and(|kind| types.contains(kind)));
    Ok(wanted.filter_map(|fields| fields.get(1).map(PathBuf::from)).collect())
}

/// Returns a directory and all below it, each before those it holds; nothing if it is not there.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        let entries = entries.filter_map(Result::ok);
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        waiting.extend(inner.map(|entry| entry.path()));
        found.push(next);
    }
    found
}
