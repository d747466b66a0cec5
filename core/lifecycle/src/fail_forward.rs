//! Who may be moved on from a version that failed.
//!
//! The OperatorGroup allows it for its namespace, a Subscription allows or forbids it for its operator,
//! and the author of a bundle may forbid it for that bundle. The author's word goes before all others.

use operon_kinds::{OperatorGroup, ServiceVersion, UpgradeStrategy, names};
use operon_object::Value;

use crate::scene::Scene;

/// Tells whether a group lets its operators fail forward.
pub(crate) fn group_fails_forward(group: OperatorGroup<'_>) -> bool {
    match group.upgrade_strategy() {
        UpgradeStrategy::UnsafeFailForward => true,
        UpgradeStrategy::Default => false,
    }
}

/// Tells why a Subscription's operator may not be moved on from a failure; nothing if it may.
pub(crate) fn forbidden(
    scene: &Scene<'_>,
    subscription: Option<&str>,
    failed: Option<ServiceVersion<'_>>,
) -> Option<String> {
    if let Some(failed) = failed
        && author_forbids(failed)
    {
        return Some(format!("the author of {} does not allow to skip it", failed.name()));
    }
    let mut subscriptions = scene.subscriptions.iter();
    let own_word = subscription
        .and_then(|name| subscriptions.find(|subscription| subscription.name() == name))
        .and_then(|subscription| subscription.fail_forward());
    match own_word {
        Some(true) => None,
        Some(false) => Some("fail-forward is off for this Subscription".to_owned()),
        None if scene.group().is_some_and(group_fails_forward) => None,
        None => Some(format!(
            "fail-forward is off: to allow it, set upgradeStrategy of the OperatorGroup in {} to \
             TechPreviewUnsafeFailForward, or annotate the Subscription with {}=true",
            scene.namespace,
            names::FAIL_FORWARD_ANNOTATION
        )),
    }
}

fn author_forbids(failed: ServiceVersion<'_>) -> bool {
    let annotation = failed.object.annotation(names::PROPERTIES_ANNOTATION).unwrap_or_default();
    let noted = Value::parse_json(annotation).unwrap_or_default();
    noted.get("properties").elements().iter().any(|property| {
        property.get("type").str() == names::FAIL_FORWARD_PROPERTY
            && property.at(&["value", "supported"]).as_bool() == Some(false)
    })
}
