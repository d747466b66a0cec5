//! Everything of a rig that can be seen on the machine, found without the rig's own code.

use std::{fs, path::Path};

/// Returns the processes, mounts, cgroups, namespaces and files of a rig.
pub(crate) fn traces(name: &str) -> Vec<String> {
    let directory = format!("/tmp/operon-rig-0/{name}");
    let full_name = format!("operon-rig-{name}");
    let mut traces = Vec::new();
    for process in entries("/proc") {
        let line = fs::read(format!("{process}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let cgroups = fs::read_to_string(format!("{process}/cgroup")).unwrap_or_default();
        if line.contains(&format!("{directory}/")) || cgroups.contains(&format!("/{full_name}/")) {
            traces.push(format!("process {process}: {line}"));
        }
    }
    let mounts = fs::read_to_string("/proc/self/mounts").expect("a table of mounts");
    let is_ours = |line: &&str| line.contains(&directory) || line.contains(&full_name);
    traces.extend(mounts.lines().filter(is_ours).map(|line| format!("mount {line}")));

    let mut places = vec![directory.clone(), format!("{directory}.lock")];
    places.push(format!("/run/netns/{full_name}"));
    places.extend(entries("/sys/fs/cgroup").map(|hierarchy| format!("{hierarchy}/{full_name}")));
    traces.extend(places.into_iter().filter(|place| Path::new(place).exists()));
    traces.extend(entries("/var/lib/cni/results").filter(|path| path.contains(&full_name)));
    let is_link_into_it =
        |path: &String| fs::read_link(path).is_ok_and(|target| target.starts_with(&directory));
    traces.extend(entries("/var/log/containers").filter(is_link_into_it));
    traces
}

fn entries(directory: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path().to_string_lossy().into_owned())
}
