//! The programs a rig runs: what each is called, how it is started, and when it is ready.
//!
//! The arguments are data; nothing is started here.

mod control_plane;
mod node;
mod node_files;

use std::{fmt, str::FromStr, time::Duration};

use crate::{RigOptions, places::Places};

/// A program that runs in a rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// The store of the API server.
    Etcd,
    /// `kube-apiserver`.
    ApiServer,
    /// `kube-controller-manager`.
    ControllerManager,
    /// `kube-scheduler`.
    Scheduler,
    /// Debian's `docker-registry`, which the node pulls from.
    Registry,
    /// `containerd`.
    Containerd,
    /// `kubelet`.
    Kubelet,
    /// `kube-proxy`.
    KubeProxy,
}

/// How it is found out whether a component is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Probe {
    /// It answers a request without TLS with 200.
    Http { port: u16, path: &'static str },
    /// It takes connections at an address and a port.
    Port(&'static str, u16),
    /// It takes connections at a socket.
    Socket(String),
    /// A command of kubectl succeeds.
    Kubectl(&'static [&'static str]),
    /// The kubelet knows the pods that are on its node; one that starts again does not at first.
    PodsKnown,
}

/// How a component is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// The program, by its name.
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    /// What must hold, one after another, before it is ready.
    pub(crate) probes: Vec<Probe>,
    /// How long it may take to end when it is asked to, before it is killed.
    pub(crate) grace: Duration,
}

impl Component {
    /// All of them, in the order in which they are started.
    pub const ALL: [Self; 8] = [
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Registry,
        Self::Containerd,
        Self::Kubelet,
        Self::KubeProxy,
    ];

    /// Returns its short name, such as `apiserver`, which its log is called by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "apiserver",
            Self::ControllerManager => "controller-manager",
            Self::Scheduler => "scheduler",
            Self::Registry => "registry",
            Self::Containerd => "containerd",
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
        }
    }

    /// Tells whether it needs what is only prepared for rigs with a node.
    pub(crate) fn is_of_node(self) -> bool {
        match self {
            Self::Etcd | Self::ApiServer | Self::ControllerManager | Self::Registry => false,
            Self::Scheduler | Self::Containerd | Self::Kubelet | Self::KubeProxy => true,
        }
    }

    /// Says how it is started in a rig.
    pub(crate) fn recipe(self, places: &Places, options: &RigOptions) -> Recipe {
        match self {
            Self::Etcd => control_plane::etcd(places, options),
            Self::ApiServer => control_plane::apiserver(places, options),
            Self::ControllerManager => control_plane::controller_manager(places),
            Self::Scheduler => control_plane::scheduler(places),
            Self::Registry => node::registry(places),
            Self::Containerd => node::containerd(places),
            Self::Kubelet => node::kubelet(places),
            Self::KubeProxy => node::kube_proxy(places),
        }
    }
}

pub(crate) use self::{
    node::{REGISTRY, REGISTRY_FOR_PODS},
    node_files::{write_node_configuration, write_registry_configuration},
};

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Component {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|component| component.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join("`, `");
            format!("there is no component `{text}`; there are `{known}`")
        })
    }
}
