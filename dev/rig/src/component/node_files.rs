//! What the programs of a node read: the registry's, containerd's and the kubelet's configuration.
//!
//! Everything they write lies below the rig's directory, so that rigs side by side do not touch each
//! other's files.

use serde_json::json;

use super::node::{REGISTRY_FOR_PODS, REGISTRY_PORT, SOCKET};
use crate::{
    BUSYBOX_IMAGE, RigError,
    cgroups::Cgroups,
    namespace::{NODE_ADDRESS, POD_NETWORK},
    places::Places,
};

/// How many pods the node takes: as many as its network has room for, within reason.
const MAX_PODS: u32 = 250;

/// Writes the configuration of the registry.
pub(crate) fn write_registry_configuration(places: &Places) -> Result<(), RigError> {
    let configuration = json!({
        "version": "0.1",
        "log": { "level": "info" },
        // Pods reach it at the node's address; nobody outside of the rig's network does.
        "http": { "addr": format!(":{REGISTRY_PORT}") },
        "storage": {
            "filesystem": { "rootdirectory": places.text("registry") },
            "delete": { "enabled": true },
        },
    });
    places.write("registry.yaml", &format!("{configuration:#}\n"))?;
    Ok(())
}

/// Writes what containerd and the kubelet read.
pub(crate) fn write_node_configuration(
    places: &Places,
    name: &str,
    cgroups: &Cgroups,
) -> Result<(), RigError> {
    places.write("containerd.toml", &containerd(places))?;
    places.write("cni/10-rig.conflist", &network(places, name))?;
    places.write("kubelet.yaml", &kubelet(places, cgroups))?;
    Ok(())
}

fn containerd(places: &Places) -> String {
    let directory = places.directory().display();
    format!(
        r#"version = 2
root = "{directory}/containerd/root"
state = "{directory}/containerd/state"

[grpc]
address = "{directory}/{SOCKET}"

[plugins."io.containerd.internal.v1.opt"]
path = "{directory}/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{BUSYBOX_IMAGE}"
# Who may not lower the score of a process would fail to start one.
restrict_oom_score_adj = true
# So that taking the rig down finds them.
netns_mounts_under_state_dir = true

# The same registry by the name that pods know, which does not sound like this machine.
[plugins."io.containerd.grpc.v1.cri".registry.mirrors."{REGISTRY_FOR_PODS}"]
endpoint = ["http://{REGISTRY_FOR_PODS}"]

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{directory}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
Root = "{directory}/runc"
"#
    )
}

/// Each pod has a cable to the node and no neighbours, so that every packet passes the rules for
/// Services, which those between ports of a bridge would not.
fn network(places: &Places, name: &str) -> String {
    let addresses = json!({
        "type": "host-local",
        "dataDir": places.text("addresses"),
        "ranges": [[{ "subnet": POD_NETWORK }]],
        "routes": [{ "dst": "0.0.0.0/0" }],
    });
    let configuration = json!({
        "cniVersion": "0.4.0",
        "name": format!("operon-rig-{name}"),
        "plugins": [
            { "type": "ptp", "ipam": addresses },
            { "type": "portmap", "capabilities": { "portMappings": true } },
        ],
    });
    format!("{configuration:#}\n")
}

fn kubelet(places: &Places, cgroups: &Cgroups) -> String {
    let configuration = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE_ADDRESS,
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": places.text("pki/ca.crt") },
        },
        "authorization": { "mode": "Webhook" },
        "tlsCertFile": places.text("pki/kubelet.crt"),
        "tlsPrivateKeyFile": places.text("pki/kubelet.key"),
        "containerRuntimeEndpoint": format!("unix://{}", places.text(SOCKET)),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroups.root(),
        "failCgroupV1": false,
        // No limits for all pods together: this is not the rig's machine alone.
        "enforceNodeAllocatable": [],
        "cgroupsPerQOS": true,
        "failSwapOn": false,
        "oomScoreAdj": 0,
        // The disk of the machine may be fuller than a kubelet likes.
        "evictionHard": {
            "memory.available": "20Mi",
            "nodefs.available": "1Mi",
            "nodefs.inodesFree": "1",
            "imagefs.available": "1Mi",
        },
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "localStorageCapacityIsolation": false,
        "maxPods": MAX_PODS,
        // Rigs side by side would remove each other's logs.
        "podLogsDir": places.text("pods"),
        "volumePluginDir": places.text("kubelet/plugins-exec"),
        "resolvConf": "",
        "serializeImagePulls": false,
    });
    format!("{configuration:#}\n")
}
