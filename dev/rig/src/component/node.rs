//! The node: a registry, containerd, the kubelet and the proxy for Services.
//!
//! What they write lies below the rig's directory, so that rigs side by side do not touch each other.

use super::{Probe, Recipe, control_plane::SHORT_GRACE};
use crate::{
    namespace::{NODE_ADDRESS, POD_NETWORK},
    pki::NODE_NAME,
    places::Places,
};

/// The port of the registry.
pub(super) const REGISTRY_PORT: u16 = 5000;

/// The registry, as pods name it in their images.
pub(crate) const REGISTRY: &str = "127.0.0.1:5000";

/// The registry, as programs in pods reach it.
pub(crate) const REGISTRY_FOR_PODS: &str = "10.200.0.1:5000";

/// Where the kubelet says whether it is well.
const KUBELET_HEALTH_PORT: u16 = 10248;

/// Where the proxy says whether it is well.
const PROXY_HEALTH_PORT: u16 = 10256;

/// The socket of containerd, below the rig's directory.
pub(super) const SOCKET: &str = "containerd/s";

pub(super) fn registry(places: &Places) -> Recipe {
    let arguments = vec!["serve".to_owned(), places.text("registry.yaml")];
    let probes = vec![Probe::Http { port: REGISTRY_PORT, path: "/v2/" }];
    Recipe { program: "docker-registry", arguments, probes, grace: SHORT_GRACE }
}

pub(super) fn containerd(places: &Places) -> Recipe {
    let arguments = vec!["--config".to_owned(), places.text("containerd.toml")];
    let probes = vec![Probe::Socket(places.text(SOCKET))];
    Recipe { program: "containerd", arguments, probes, grace: SHORT_GRACE }
}

pub(super) fn kubelet(places: &Places) -> Recipe {
    let arguments = vec![
        format!("--config={}", places.text("kubelet.yaml")),
        format!("--kubeconfig={}", places.text("kubeconfigs/kubelet")),
        format!("--root-dir={}", places.text("kubelet")),
        format!("--cert-dir={}", places.text("kubelet/pki")),
        format!("--hostname-override={NODE_NAME}"),
        format!("--node-ip={NODE_ADDRESS}"),
    ];
    let probes = vec![
        Probe::Http { port: KUBELET_HEALTH_PORT, path: "/healthz" },
        Probe::Kubectl(&["wait", "--for=condition=Ready", "node/node", "--timeout=1s"]),
        Probe::PodsKnown,
    ];
    Recipe { program: "kubelet", arguments, probes, grace: SHORT_GRACE }
}

pub(super) fn kube_proxy(places: &Places) -> Recipe {
    let arguments = vec![
        format!("--kubeconfig={}", places.text("kubeconfigs/proxy")),
        format!("--hostname-override={NODE_NAME}"),
        format!("--cluster-cidr={POD_NETWORK}"),
        "--proxy-mode=iptables".to_owned(),
        format!("--healthz-bind-address=127.0.0.1:{PROXY_HEALTH_PORT}"),
        "--metrics-bind-address=127.0.0.1:10249".to_owned(),
        "--oom-score-adj=0".to_owned(),
        // These would be set for the whole machine, which is not the rig's to change.
        "--conntrack-max-per-core=0".to_owned(),
        "--conntrack-min=0".to_owned(),
        "--conntrack-tcp-timeout-established=0".to_owned(),
        "--conntrack-tcp-timeout-close-wait=0".to_owned(),
    ];
    let probes = vec![Probe::Http { port: PROXY_HEALTH_PORT, path: "/healthz" }];
    Recipe { program: "kube-proxy", arguments, probes, grace: SHORT_GRACE }
}
