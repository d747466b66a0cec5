//! The control plane: etcd, the API server, the controllers and the scheduler.
//!
//! Everything is as in a cluster of an ordinary installer, except where a line says why not.

use std::time::Duration;

use super::{Probe, Recipe};
use crate::{
    RigOptions,
    namespace::{API_PORT, NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK},
    places::Places,
};

/// Who signs the tokens of ServiceAccounts.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// Where etcd listens.
const ETCD_PORT: u16 = 2379;

/// Where etcd would listen to others like it.
const ETCD_PEER_PORT: u16 = 2380;

/// Where the controllers answer questions about themselves.
const CONTROLLERS_PORT: u16 = 10257;

/// Where the scheduler answers questions about itself.
const SCHEDULER_PORT: u16 = 10259;

/// What ends quickly when asked, without anything to lose.
pub(super) const SHORT_GRACE: Duration = Duration::from_secs(5);

/// The API server finishes what it was asked.
const API_GRACE: Duration = Duration::from_secs(20);

fn flag(name: &str, value: impl AsRef<str>) -> String {
    format!("--{name}={}", value.as_ref())
}

pub(super) fn etcd(places: &Places, options: &RigOptions) -> Recipe {
    let here = format!("http://127.0.0.1:{ETCD_PORT}");
    let peer = format!("http://127.0.0.1:{ETCD_PEER_PORT}");
    let mut arguments = vec![
        flag("name", "rig"),
        flag("data-dir", places.text("etcd")),
        flag("listen-client-urls", &here),
        flag("advertise-client-urls", &here),
        flag("listen-peer-urls", &peer),
        flag("initial-advertise-peer-urls", &peer),
        flag("initial-cluster", format!("rig={peer}")),
    ];
    if !options.durable {
        // A killed process loses nothing even so; a killed machine would.
        arguments.push("--unsafe-no-fsync".to_owned());
    }
    let probes = vec![Probe::Http { port: ETCD_PORT, path: "/health" }];
    Recipe { program: "etcd", arguments, probes, grace: SHORT_GRACE }
}

pub(super) fn apiserver(places: &Places, options: &RigOptions) -> Recipe {
    let file = |name: &str| places.text(&format!("pki/{name}"));
    let mut arguments = vec![
        flag("etcd-servers", format!("http://127.0.0.1:{ETCD_PORT}")),
        // Pods reach the API server by the address that it tells them.
        flag("bind-address", NODE_ADDRESS),
        flag("advertise-address", NODE_ADDRESS),
        flag("secure-port", API_PORT.to_string()),
        flag("service-cluster-ip-range", SERVICE_NETWORK),
        flag("cert-dir", places.text("apiserver")),
        flag("tls-cert-file", file("apiserver.crt")),
        flag("tls-private-key-file", file("apiserver.key")),
        flag("client-ca-file", file("ca.crt")),
        flag("token-auth-file", file("tokens.csv")),
        flag("authorization-mode", "Node,RBAC"),
        flag("enable-admission-plugins", "NodeRestriction"),
        flag("service-account-issuer", ISSUER),
        flag("service-account-key-file", file("accounts.pub")),
        flag("service-account-signing-key-file", file("accounts.key")),
        flag("kubelet-certificate-authority", file("ca.crt")),
        flag("kubelet-client-certificate", file("apiserver-kubelet.crt")),
        flag("kubelet-client-key", file("apiserver-kubelet.key")),
        // There is no DNS that would know the name of the node.
        flag("kubelet-preferred-address-types", "InternalIP"),
        // Webhooks and aggregated APIs are called at their pods.
        flag("enable-aggregator-routing", "true"),
        flag("requestheader-client-ca-file", file("front-proxy-ca.crt")),
        flag("requestheader-allowed-names", "front-proxy-client"),
        flag("requestheader-username-headers", "X-Remote-User"),
        flag("requestheader-group-headers", "X-Remote-Group"),
        flag("requestheader-extra-headers-prefix", "X-Remote-Extra-"),
        flag("proxy-client-cert-file", file("front-proxy.crt")),
        flag("proxy-client-key-file", file("front-proxy.key")),
        flag("allow-privileged", "true"),
        // Who watches is told so when it ends; without this it would wait a minute for them to go.
        flag("shutdown-watch-termination-grace-period", "1s"),
    ];
    arguments.extend(options.apiserver_flags.iter().cloned());
    let probes =
        vec![Probe::Port(NODE_ADDRESS, API_PORT), Probe::Kubectl(&["get", "--raw", "/readyz"])];
    Recipe { program: "kube-apiserver", arguments, probes, grace: API_GRACE }
}

pub(super) fn controller_manager(places: &Places) -> Recipe {
    let file = |name: &str| places.text(&format!("pki/{name}"));
    let kubeconfig = places.text("kubeconfigs/controller-manager");
    let arguments = vec![
        flag("kubeconfig", &kubeconfig),
        flag("authentication-kubeconfig", &kubeconfig),
        flag("authorization-kubeconfig", &kubeconfig),
        flag("bind-address", "127.0.0.1"),
        flag("tls-cert-file", file("controller-manager.crt")),
        flag("tls-private-key-file", file("controller-manager.key")),
        flag("root-ca-file", file("ca.crt")),
        flag("cluster-signing-cert-file", file("ca.crt")),
        flag("cluster-signing-key-file", file("ca.key")),
        flag("service-account-private-key-file", file("accounts.key")),
        flag("use-service-account-credentials", "true"),
        flag("cluster-cidr", POD_NETWORK),
        flag("service-cluster-ip-range", SERVICE_NETWORK),
        // Each controller makes itself an account first, which takes four seconds at the usual pace.
        flag("kube-api-qps", "500"),
        flag("kube-api-burst", "1000"),
        // There is one; waiting for a lease of one that was killed would take fifteen seconds.
        flag("leader-elect", "false"),
    ];
    let probes = vec![
        Probe::Port("127.0.0.1", CONTROLLERS_PORT),
        // Pods can be made in a namespace as soon as the controllers gave it these.
        Probe::Kubectl(&["get", "--namespace=default", "serviceaccount/default"]),
        Probe::Kubectl(&["get", "--namespace=default", "configmap/kube-root-ca.crt"]),
    ];
    Recipe { program: "kube-controller-manager", arguments, probes, grace: SHORT_GRACE }
}

pub(super) fn scheduler(places: &Places) -> Recipe {
    let kubeconfig = places.text("kubeconfigs/scheduler");
    let arguments = vec![
        flag("kubeconfig", &kubeconfig),
        flag("authentication-kubeconfig", &kubeconfig),
        flag("authorization-kubeconfig", &kubeconfig),
        flag("bind-address", "127.0.0.1"),
        flag("tls-cert-file", places.text("pki/scheduler.crt")),
        flag("tls-private-key-file", places.text("pki/scheduler.key")),
        flag("leader-elect", "false"),
    ];
    let probes = vec![Probe::Port("127.0.0.1", SCHEDULER_PORT)];
    Recipe { program: "kube-scheduler", arguments, probes, grace: SHORT_GRACE }
}
