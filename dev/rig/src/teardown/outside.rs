//! The few files that programs of a node write outside the rig's directory, wherever they are told to.
//!
//! They are small and harm nobody, so one that cannot be removed is left; whose they are is always proven
//! first.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

/// Where the networks of pods are remembered.
const NETWORK_RESULTS: &str = "/var/lib/cni/results";

/// Where the kubelet links to the logs of containers.
const LOG_LINKS: &str = "/var/log/containers";

/// Where every kubelet of a machine listens for plug-ins; the last one that started has it.
const PLUGIN_SOCKET: &str = "/var/lib/kubelet/device-plugins/kubelet.sock";

/// The length of a container's id.
const ID_LENGTH: usize = 64;

/// Removes them.
pub(super) fn remove(name: &str, directory: &Path) {
    let is_our_link =
        |path: &PathBuf| fs::read_link(path).is_ok_and(|target| target.starts_with(directory));
    let mut ours: Vec<PathBuf> = shim_sockets(directory).collect();
    ours.extend(entries(LOG_LINKS).filter(is_our_link));
    for result in entries(NETWORK_RESULTS) {
        if let Some(pod) = pod_of_result(name, &result) {
            ours.push(Path::new(NETWORK_RESULTS).join(format!("cni-loopback-{pod}-lo")));
            ours.push(result);
        }
    }
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if UnixStream::connect(PLUGIN_SOCKET).is_err_and(refused) {
        ours.push(PLUGIN_SOCKET.into());
    }
    for path in ours {
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

/// Returns the id of the pod that a file such as `operon-rig-NAME-ID-eth0` is about, if it is one of the
/// rig's.
fn pod_of_result(name: &str, path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let rest = file.strip_prefix(&format!("operon-rig-{name}-"))?;
    let (id, _) = rest.split_once('-')?;
    // One rig's name may begin with that of another.
    (id.len() == ID_LENGTH).then(|| id.to_owned())
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
        for (file, is_ours) in cases {
            let pod = pod_of_result("a", &Path::new(NETWORK_RESULTS).join(&file));
            assert_eq!(pod, is_ours.then(|| id.clone()), "{file}");
        }
    }
}
