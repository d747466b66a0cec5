//! The kinds of objects a bundle may hold, and the identity of an object.

use operon_document::json::{Kind, Node};

/// The kind of the object that describes the operator.
pub(super) const SERVICE_VERSION_KIND: &str = "ClusterServiceVersion";

/// The kind of a custom API.
pub(super) const DEFINITION_KIND: &str = "CustomResourceDefinition";

/// The kinds that OLM installs from a bundle.
const SUPPORTED_KINDS: [&str; 22] = [
    SERVICE_VERSION_KIND,
    DEFINITION_KIND,
    "Secret",
    "ConfigMap",
    "Service",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "PrometheusRule",
    "ServiceMonitor",
    "PodMonitor",
    "PodDisruptionBudget",
    "PriorityClass",
    "VerticalPodAutoscaler",
    "NetworkPolicy",
    "ConsoleYAMLSample",
    "ConsoleQuickStart",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
];

/// Tells whether OLM installs objects of this kind from a bundle.
pub(super) fn is_supported(kind: &str) -> bool {
    SUPPORTED_KINDS.contains(&kind)
}

/// What an object is: the group and version of its API, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

impl Identity {
    /// Reads the identity of an object; the error says why it has none.
    ///
    /// Upstream: keys are matched exactly, an object may lack its apiVersion, and an apiVersion
    /// with two slashes makes the whole object unreadable.
    pub(super) fn read(root: Node<'_>) -> Result<Self, String> {
        if root.kind() != Kind::Object {
            return Err(format!("the document is of type {}, not an object", root.kind().name()));
        }
        let member = |key: &str| root.get(key).and_then(Node::as_str).unwrap_or_default();
        let (api_version, kind) = (member("apiVersion"), member("kind").into_owned());
        if kind.is_empty() {
            return Err("the object has no `kind`".to_owned());
        }
        let (group, version) = match api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => {
                return Err(format!("the apiVersion `{api_version}` has more than one slash"));
            }
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), api_version.into_owned()),
        };
        Ok(Self { group, version, kind })
    }

    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() {
            return self.version.clone();
        }
        format!("{}/{}", self.group, self.version)
    }
}
