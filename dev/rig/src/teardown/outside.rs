//! The few files that programs of a node write outside the rig's directory, wherever they are told to.
//!
//! They are small and harm nobody, so one that cannot be removed is left; whose they are is always proven
//! first.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where the network of pods is remembered.
const NETWORK_RESULTS: &str = "/var/lib/cni/results";

/// Where the kubelet links to the logs of containers.
const LOG_LINKS: &str = "/var/log/containers";

/// The length of a container's id.
const ID_LENGTH: usize = 64;

/// Removes them.
pub(super) fn remove(name: &str, directory: &Path) {
    let sockets = shim_sockets(directory);
    let results = entries(NETWORK_RESULTS).filter(|path| is_result_of(name, path));
    let is_our_link =
        |path: &PathBuf| fs::read_link(path).is_ok_and(|target| target.starts_with(directory));
    let links = entries(LOG_LINKS).filter(is_our_link);
    for path in sockets.chain(results).chain(links) {
        let _ = fs::remove_file(path);
    }
}

fn entries(directory: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path())
}

/// Returns the sockets of shims: the directory of each task names its own.
fn shim_sockets(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let tasks = directory.join("containerd/state/io.containerd.runtime.v2.task/k8s.io");
    entries(tasks).filter_map(|task| {
        let address = fs::read_to_string(task.join("address")).ok()?;
        Some(PathBuf::from(address.trim().strip_prefix("unix://")?))
    })
}

/// Tells whether a file such as `operon-rig-NAME-ID-eth0` is about a pod of a rig.
fn is_result_of(name: &str, path: &Path) -> bool {
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let rest = file.strip_prefix(&format!("operon-rig-{name}-"));
    // One rig's name may begin with that of another.
    rest.and_then(|rest| rest.split_once('-')).is_some_and(|(id, _)| id.len() == ID_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_rigs_are_not_ours() {
        let id = "0123456789abcdef".repeat(4);
        let cases = [
            (format!("operon-rig-a-{id}-eth0"), true),
            (format!("operon-rig-a-b-{id}-eth0"), false),
            (format!("operon-rig-b-{id}-eth0"), false),
            ("operon-rig-a-".to_owned(), false),
        ];
        for (file, expected) in cases {
            assert_eq!(
                is_result_of("a", &Path::new(NETWORK_RESULTS).join(&file)),
                expected,
                "{file}"
            );
        }
    }
}
