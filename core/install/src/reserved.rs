//! What no bundle may bring, whoever installs it.

use operon_object::{Object, Value, known::OPERATORS_GROUP};

/// Begins the names that the cluster keeps for itself.
const SYSTEM_PREFIX: &str = "system:";

/// Domains whose groups Kubernetes keeps for its own APIs.
const SYSTEM_DOMAINS: [&str; 2] = ["k8s.io", "kubernetes.io"];

/// Returns `true` if the cluster keeps an object's name for itself.
pub fn has_reserved_name(object: &Object) -> bool {
    object.name().starts_with(SYSTEM_PREFIX)
}

/// Returns `true` if an API group belongs to Operon or to Kubernetes.
pub fn is_reserved_group(group: &str) -> bool {
    let is_below = |domain: &str| {
        group == domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    group == OPERATORS_GROUP || SYSTEM_DOMAINS.iter().copied().any(is_below)
}

/// Returns `true` if a webhook definition of an operator converts a CRD. `spec.conversion` is then
/// written when the operator is installed, whatever the bundle's CRD says there.
pub fn converts(csv: &Object, crd: &str) -> bool {
    let webhooks = csv.at(&["spec", "webhookdefinitions"]).elements().iter();
    webhooks
        .filter(|webhook| webhook.get("type").str() == "ConversionWebhook")
        .any(|webhook: &Value| webhook.get("conversionCRDs").iter_texts().any(|name| name == crd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_groups_are_whole_domains() {
        let reserved = ["operators.coreos.com", "k8s.io", "apps.k8s.io", "a.b.kubernetes.io"];
        let free =
            ["x-k8s.io", "kueue.x-k8s.io", "notk8s.io", "coreos.com", "a.operators.coreos.com"];
        assert!(reserved.iter().all(|group| is_reserved_group(group)));
        assert!(!free.iter().any(|group| is_reserved_group(group)));
    }
}
