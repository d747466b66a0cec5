//! Which kinds of objects a bundle may hold, and how a plan writes each of them.
//!
//! This is data for those who execute plans; nothing is written here.

/// The kind under which a plan holds a bundle's own Secret; a plain `Secret` is a pull secret.
pub const BUNDLE_SECRET_KIND: &str = "BundleSecret";

/// How a step of a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepHandling {
    /// What happens to an object that is there already.
    pub existing: Existing,
    /// How it is told to whom the object belongs.
    pub ownership: Ownership,
}

/// What a step does with an object that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leaves it as it is: a ClusterServiceVersion is never overwritten by a plan.
    Keep,
    /// Makes it as wished; fields the wish does not speak of stay.
    Patch,
    /// Like `Patch`, but the address that the cluster gave stays: a Service.
    PatchKeepingAddress,
    /// Adds owners and annotations, keeps the token secrets: a ServiceAccount, which operators share.
    Merge,
    /// Replaces it, once its stored objects are proved to fit: a CustomResourceDefinition.
    ReplaceIfCompatible,
    /// Replaces it: a PodDisruptionBudget.
    Replace,
}

/// How a step tells to whom an object belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// Not at all: a Subscription, a CRD.
    None,
    /// By a reference to the ClusterServiceVersion.
    Reference,
    /// By the references it comes with, whose identities are filled in: a Role.
    WrittenReferences,
    /// By labels: a ClusterRole.
    Labels,
    /// By a reference in a namespace, by labels elsewhere: a PriorityClass has labels.
    ReferenceOrLabels,
}

/// Upstream: kinds that are written without knowing them, told by their names alone.
const DYNAMIC_KINDS: [&str; 11] = [
    "PrometheusRule",
    "ServiceMonitor",
    "PodDisruptionBudget",
    "PriorityClass",
    "VerticalPodAutoscaler",
    "ConsoleYAMLSample",
    "ConsoleQuickStart",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
    "NetworkPolicy",
];

/// Returns how a step of a kind is written; none for a kind that no bundle may hold.
///
/// Upstream: kinds are told by their names, whatever the group. [`BUNDLE_SECRET_KIND`] stands for the
/// Secrets of a bundle.
pub fn step_handling(kind: &str) -> Option<StepHandling> {
    let (existing, ownership) = match kind {
        "ClusterServiceVersion" | "Subscription" | "Secret" => (Existing::Keep, Ownership::None),
        BUNDLE_SECRET_KIND | "ConfigMap" => (Existing::Patch, Ownership::Reference),
        "Service" => (Existing::PatchKeepingAddress, Ownership::Reference),
        "ServiceAccount" => (Existing::Merge, Ownership::WrittenReferences),
        "Role" | "RoleBinding" => (Existing::Patch, Ownership::WrittenReferences),
        "ClusterRole" | "ClusterRoleBinding" => (Existing::Patch, Ownership::Labels),
        "CustomResourceDefinition" => (Existing::ReplaceIfCompatible, Ownership::None),
        dynamic if DYNAMIC_KINDS.contains(&dynamic) => {
            (Existing::Replace, Ownership::ReferenceOrLabels)
        }
        _ => return None,
    };
    Some(StepHandling { existing, ownership })
}

/// Returns the kind under which a plan holds an object of a bundle.
pub fn step_kind(kind: &str) -> &str {
    match kind {
        "Secret" => BUNDLE_SECRET_KIND,
        other => other,
    }
}
