//! Problems of the operators of a cluster that need an action of a user.
//!
//! They are read from statuses alone, so any cluster can be inspected without a decision. An operation in
//! progress is not a problem, and neither is a pause or a pin.

use std::collections::BTreeSet;

use operon_kinds::{
    InstallPlan, OperatorGroup, Phase, PlanPhase, ServiceVersion, Subscription, condition,
};
use operon_object::{Object, ObjectKey, Value, known};

use crate::groups::AUTHORITY_UNKNOWN;

/// A problem of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusProblem {
    /// The object.
    pub about: ObjectKey,
    /// The problem in one sentence.
    pub message: String,
}

/// Reasons of `Pending` that only a user can resolve.
const STUCK: [&str; 3] =
    ["RequirementsNotMet", "OperatorConditionNotUpgradeable", "AuthorityUnknown"];

/// Prefix of the message of a plan that is being retried.
pub(crate) const RETRYING: &str = "retrying execution due to error: ";

/// Lists what is wrong with operators, Subscriptions, InstallPlans and OperatorGroups.
pub fn problems<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Vec<StatusProblem> {
    let objects: Vec<&Object> = objects.into_iter().collect();
    let awaited: BTreeSet<ObjectKey> = objects
        .iter()
        .filter(|object| object.kind() == known::SUBSCRIPTION)
        .map(|object| Subscription::read(object))
        .filter(|subscription| subscription.installed_csv() != subscription.current_csv())
        .map(|subscription| {
            known::INSTALL_PLAN.key(subscription.object.namespace(), subscription.plan())
        })
        .collect();
    let mut problems = Vec::new();
    for object in objects {
        let kind = object.kind();
        let messages = if kind == known::CLUSTER_SERVICE_VERSION {
            of_operator(ServiceVersion::read(object)).into_iter().collect()
        } else if kind == known::SUBSCRIPTION {
            of_subscription(object)
        } else if kind == known::INSTALL_PLAN {
            let is_awaited = awaited.contains(&object.key());
            of_plan(InstallPlan::read(object), is_awaited).into_iter().collect()
        } else if kind == known::OPERATOR_GROUP {
            of_group(OperatorGroup::read(object))
        } else {
            Vec::new()
        };
        let about = || object.key();
        problems
            .extend(messages.into_iter().map(|message| StatusProblem { about: about(), message }));
    }
    problems
}

/// Returns `true` if a Subscription that is blocked for a reason stays so until a user acts, without having
/// asked for it: pauses, rejected plans and the needs of other namespaces are intended. The operator behind
/// `OperatorFailed` is a problem of its own.
pub fn needs_action(reason: &str) -> bool {
    ["InvalidPin", "PlanFailed", "Deadlock", "ResolutionTooExpensive"].contains(&reason)
}

pub(super) fn of_operator(operator: ServiceVersion<'_>) -> Option<String> {
    if operator.is_copied() {
        return None;
    }
    let (reason, message) = (operator.reason(), operator.message());
    let key = format!("{}/{}", operator.object.namespace(), operator.name());
    match operator.phase() {
        Phase::Failed => Some(format!("operator {key} failed: {reason}: {message}")),
        Phase::Pending | Phase::Unknown if STUCK.contains(&reason) => {
            let missing = missing_requirement(operator);
            let missing = missing.map_or_else(String::new, |missing| format!(" ({missing})"));
            Some(format!("operator {key} is pending: {reason}: {message}{missing}"))
        }
        Phase::None
        | Phase::Pending
        | Phase::Unknown
        | Phase::InstallReady
        | Phase::Installing
        | Phase::Succeeded
        | Phase::Replacing
        | Phase::Deleting => None,
    }
}

/// Names the first requirement that is not met.
fn missing_requirement(operator: ServiceVersion<'_>) -> Option<String> {
    let mut requirements = operator.object.status().get("requirementStatus").elements().iter();
    let is_met = |status: &str| ["Present", "Satisfied"].contains(&status);
    let missing = requirements.find(|requirement| !is_met(requirement.get("status").str()))?;
    let text = |name: &str| missing.get(name).str();
    let message = text("message");
    let ending = if message.is_empty() { text("status") } else { message };
    Some(format!("{} {}: {ending}", text("kind"), text("name")))
}

fn of_subscription(object: &Object) -> Vec<String> {
    let key = format!("{}/{}", object.namespace(), object.name());
    let holds = |kind: &str| {
        let found = condition(object.status(), kind);
        let is_true = found.get("status").str() == "True";
        is_true.then(|| (found.get("reason").str(), found.get("message").str()))
    };
    let unanswered = holds("ResolutionFailed")
        .map(|(_, message)| format!("Subscription {key} has no answer: {message}"));
    let unpacked = holds("BundleUnpackFailed")
        .map(|(_, message)| format!("the bundle for Subscription {key} cannot be read: {message}"));
    // The failed plan of a Subscription that waits for it is a problem of its own.
    let awaits_plan = {
        let subscription = Subscription::read(object);
        subscription.installed_csv() != subscription.current_csv()
    };
    let held = holds("Held")
        .filter(|(reason, _)| needs_action(reason) && !(awaits_plan && *reason == "PlanFailed"))
        .map(|(_, message)| format!("Subscription {key} is held: {message}"));
    [unanswered, unpacked, held].into_iter().flatten().collect()
}

pub(super) fn of_plan(plan: InstallPlan<'_>, is_awaited: bool) -> Option<String> {
    let key = format!("{}/{}", plan.object.namespace(), plan.name());
    let status = plan.object.status();
    let installed = condition(status, "Installed");
    match plan.phase() {
        // Older plans that failed were followed by others.
        PlanPhase::Failed if is_awaited => {
            Some(format!("InstallPlan {key} failed: {}", plan.message()))
        }
        PlanPhase::Installing if plan.message().starts_with(RETRYING) => {
            Some(format!("InstallPlan {key} is being retried: {}", plan.message()))
        }
        PlanPhase::Installing if installed.get("reason").str() == "InstallCheckFailed" => {
            let message = installed.get("message").str();
            Some(format!("InstallPlan {key} is blocked: {message}"))
        }
        PlanPhase::None
        | PlanPhase::RequiresApproval
        | PlanPhase::Installing
        | PlanPhase::Complete
        | PlanPhase::Failed => None,
    }
}

fn of_group(group: OperatorGroup<'_>) -> Vec<String> {
    let key = format!("{}/{}", group.object.namespace(), group.name());
    // It covers that the ServiceAccount is missing.
    let conditions = ["MultipleOperatorGroup", AUTHORITY_UNKNOWN];
    let found = conditions.iter().filter_map(|kind| {
        let found: &Value = condition(group.object.status(), kind);
        (found.get("status").str() == "True").then(|| found.get("message").str())
    });
    found.map(|message| format!("OperatorGroup {key}: {message}")).collect()
}
