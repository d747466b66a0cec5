//! Taking a rig down: every process, mount, cgroup, file and its network, in that order.
//!
//! It works on what is there, not on what should be, so it also clears away after a rig that was killed
//! half-way. Only what the rig started is ended: known by its number and start time, by its cgroup, or by
//! being in the rig's network with the rig's directory in its command line. Nothing is ended politely:
//! there is nothing left to save.

mod outside;

use std::{fs, io, path::Path};

use crate::{
    Component, RigError,
    cgroups::Cgroups,
    namespace::Namespace,
    places::Places,
    process::{self, Process},
};

/// Those that would start new containers, before everything else.
const FIRST: [Component; 2] = [Component::Kubelet, Component::KubeProxy];

/// Takes down whatever there is of a rig.
pub(crate) fn take_down(name: &str, places: &Places) -> Result<(), RigError> {
    let namespace = Namespace::of(name);
    let cgroups = Cgroups::of(name);
    if !places.directory().exists() && !namespace.path().exists() {
        return Ok(());
    }
    kill_components(places, &FIRST);
    cgroups.kill_all()?;
    kill_components(places, &Component::ALL);
    kill_strays(places, &namespace);
    // A shim that was about to start a container may have done so.
    let is_empty = cgroups.kill_all()?;
    unmount_below(places.directory())?;
    outside::remove(name, places.directory());
    let left = if is_empty { cgroups.remove().err() } else { None };
    namespace.remove()?;
    remove_directory(places)?;
    match left {
        None if is_empty => Ok(()),
        None => Err(leftovers(name, "processes in its cgroups")),
        Some(error) => Err(leftovers(name, &error.to_string())),
    }
}

fn leftovers(name: &str, left: &str) -> RigError {
    RigError::Leftovers { name: name.to_owned(), left: left.to_owned() }
}

fn kill_components(places: &Places, components: &[Component]) {
    let processes: Vec<Process> = components
        .iter()
        .filter_map(|component| fs::read_to_string(places.process(*component)).ok()?.parse().ok())
        .collect();
    kill_together(&processes);
}

/// Kills what components started and left behind, and components that were not written down.
fn kill_strays(places: &Places, namespace: &Namespace) {
    let directory = format!("{}/", places.directory().display());
    let is_stray = |(process, line): &(Process, String)| {
        line.contains(&directory) && namespace.has(process.number())
    };
    let strays = process::all().filter(is_stray).map(|(process, _)| process);
    kill_together(&strays.collect::<Vec<_>>());
}

/// Signals all before it waits for the first.
fn kill_together(processes: &[Process]) {
    processes.iter().for_each(|process| process.signal(rustix::process::Signal::KILL));
    for process in processes {
        process.kill();
    }
}

/// Unmounts everything below a directory, what was mounted last first.
fn unmount_below(directory: &Path) -> Result<(), RigError> {
    const MOUNTS: &str = "/proc/self/mountinfo";
    let text = fs::read_to_string(MOUNTS).map_err(RigError::file("read", MOUNTS))?;
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    let ours: Vec<&str> = points.filter(|point| Path::new(point).starts_with(directory)).collect();
    for point in ours.into_iter().rev() {
        unmount(point).map_err(RigError::file("unmount", point))?;
    }
    Ok(())
}

/// Unmounts as soon as nobody uses it any more; it cannot be seen from now on.
#[cfg(target_os = "linux")]
fn unmount(point: &str) -> io::Result<()> {
    use rustix::{
        io::Errno,
        mount::{UnmountFlags, unmount},
    };

    match unmount(point, UnmountFlags::DETACH) {
        // It went with one that it depended on.
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// No rig comes so far elsewhere.
#[cfg(not(target_os = "linux"))]
fn unmount(_point: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn remove_directory(places: &Places) -> Result<(), RigError> {
    match fs::remove_dir_all(places.directory()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RigError::file("remove", places.directory())(error))
        }
        _ => Ok(()),
    }
}
