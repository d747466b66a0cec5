//! How an operator goes from phase to phase.

use std::time::Duration;

use operon_install::check_webhooks;
use operon_kinds::{
    InstallPlan, OperatorCondition, Phase, PlanPhase, ServiceVersion, Upgradeable, names,
};
use operon_object::{Object, Timestamp, Value, known};

use super::{
    chain,
    change::Change,
    health::{self, Health},
    install::{self, Installation},
    requirements::{self, Requirements},
    rights,
};
use crate::{
    Action, ErrorKind, Guard, fail_forward, ownership::is_same_package, records, scene::Scene,
};

/// How long an operator may take to get ready before it is said what it waits for: most are sooner.
const WAITING_IS_NEWS: Duration = Duration::from_secs(2);

/// What happens to an operator next.
#[derive(Debug, Default)]
pub(super) struct Next {
    /// What is said from now on; nothing where it stays as it is.
    pub(super) change: Option<Change>,
    /// What it requires, where that was looked at.
    pub(super) requirements: Option<Vec<Value>>,
    /// What is to be done.
    pub(super) actions: Vec<Action>,
    /// When its certificates were made and when they are made anew.
    pub(super) certificates: Option<(Value, Value)>,
    /// When it has to be looked at again.
    pub(super) wake: Option<Timestamp>,
    /// What the cluster itself is asked before anything is said.
    pub(super) guards: Vec<Guard>,
}

impl Next {
    fn stay() -> Self {
        Self::default()
    }

    fn to(phase: Phase, reason: &'static str, message: impl Into<String>) -> Self {
        Self { change: Some(Change::new(phase, reason, message)), ..Self::default() }
    }

    fn with(mut self, requirements: Requirements) -> Self {
        self.requirements = Some(requirements.status);
        self
    }
}

/// Decides what happens to an operator that passed the gates.
pub(super) fn next(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    if operator.phase() != Phase::Deleting
        && let Some(earlier) = rolled_back_to(scene, operator)
    {
        let message = format!("rolled back to csv: {}", earlier.name());
        return Next::to(Phase::Deleting, "RolledBack", message);
    }
    match operator.phase() {
        Phase::None => {
            Next::to(Phase::Pending, "RequirementsUnknown", "requirements not yet checked")
        }
        Phase::Pending | Phase::Unknown => pending(scene, operator),
        Phase::InstallReady => install_ready(scene, operator),
        Phase::Installing => installing(scene, operator),
        Phase::Succeeded => succeeded(scene, operator),
        Phase::Failed => failed(scene, operator),
        Phase::Replacing => replacing(scene, operator),
        Phase::Deleting => deleting(operator),
    }
}

/// Keeps an operator where it is while nothing may be written for it, and says why.
pub(super) fn without_authority(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    match operator.phase() {
        Phase::None | Phase::Pending | Phase::InstallReady | Phase::Installing | Phase::Unknown => {
            let reason = scene.authority.unknown_reason().unwrap_or_default();
            Next::to(Phase::Pending, "AuthorityUnknown", reason)
        }
        Phase::Succeeded | Phase::Failed | Phase::Replacing | Phase::Deleting => Next::stay(),
    }
}

fn invalid_strategy(error: &str) -> Next {
    let message = format!("install strategy invalid: {error}");
    Next::to(Phase::Failed, "InvalidInstallStrategy", message)
}

fn pending(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    let replaced = scene.replaced_by(operator.object);
    if let Some(replaced) = replaced
        && let Upgradeable::No(why) = upgradeable(scene, replaced)
    {
        let message = format!("operator is not upgradeable: {why}");
        return Next::to(Phase::Pending, "OperatorConditionNotUpgradeable", message);
    }
    let found = match requirements::look_at(scene, operator) {
        Ok(found) => found,
        Err(error) => return invalid_strategy(&error),
    };
    if !found.are_met {
        let message = "one or more requirements couldn't be found";
        return Next::to(Phase::Pending, "RequirementsNotMet", message).with(found);
    }
    if let Err(fault) = check_webhooks(operator.object) {
        return Next::to(Phase::Failed, "InvalidWebhookDescription", fault.to_string()).with(found);
    }
    if let Some(conflict) = owner_conflict(scene, operator) {
        return Next::to(Phase::Failed, "OwnerConflict", conflict).with(found);
    }
    if replaced.is_some_and(|replaced| replaced.phase() != Phase::Replacing) {
        return Next::stay().with(found);
    }
    let message = "all requirements found, attempting install";
    Next::to(Phase::InstallReady, "AllRequirementsMet", message).with(found)
}

fn upgradeable(scene: &Scene<'_>, replaced: ServiceVersion<'_>) -> Upgradeable {
    let objects = scene.world.objects;
    match objects.get(&known::OPERATOR_CONDITION, scene.namespace, replaced.name()) {
        Some(object) => OperatorCondition::read(object).upgradeable(),
        None => Upgradeable::Yes,
    }
}

/// Says who else owns what an operator owns.
fn owner_conflict(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<&'static str> {
    let relatives = chain::relatives(scene, operator);
    let owns = |other: &ServiceVersion<'_>, name: &str| {
        other.owned_crds().iter().any(|crd| crd.get("name").str() == name)
    };
    let strangers = || scene.operators.iter().filter(|other| !relatives.contains(other.name()));
    let mut owned = operator.owned_crds().iter().map(|crd| crd.get("name").str());
    if owned.any(|name| strangers().any(|other| owns(other, name))) {
        return Some("conflicting CRD owner in namespace");
    }
    let mut services =
        operator.object.spec().at(&["apiservicedefinitions", "owned"]).elements().iter();
    let objects = scene.world.objects;
    let find = |namespace: &str, name: &str| of_same_package(scene, operator, namespace, name);
    let is_foreign = |entry: &Value| {
        let name = operon_install::api_service_name(entry);
        let live = objects.get(&known::API_SERVICE, "", &name);
        live.is_some_and(|live| {
            !operon_install::is_api_service_adoptable(operator.object, live, find)
        })
    };
    services.any(is_foreign).then_some("unable to adopt APIService")
}

/// Finds an operator whose APIServices may be adopted by another one of its package.
pub(super) fn of_same_package<'w>(
    scene: &Scene<'w>,
    operator: ServiceVersion<'_>,
    namespace: &str,
    name: &str,
) -> Option<&'w Object> {
    let found = scene.world.objects.get(&known::CLUSTER_SERVICE_VERSION, namespace, name);
    found.filter(|found| is_same_package(found, operator.object))
}

fn install_ready(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    let key = operator.object.key();
    let now = scene.world.now;
    let mut failures = scene.world.failures.of_work(&key);
    // When the pause after a failure is over, it is tried again.
    if let Some((_, failure)) = failures.find(|(_, failure)| now < failure.next_attempt()) {
        let message = format!("install strategy failed: {}", failure.error.message);
        let reason = match failure.error.kind {
            ErrorKind::Forbidden | ErrorKind::Invalid => "InstallComponentFailedNoRetry",
            ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Conflict
            | ErrorKind::Unavailable
            | ErrorKind::Other => "InstallComponentFailed",
        };
        let wake = Some(failure.next_attempt());
        return Next { wake, ..Next::to(Phase::Failed, reason, message) };
    }
    match install::plan(scene, operator) {
        Installation::Refused(error) => Next::to(
            Phase::Failed,
            "InvalidInstallStrategy",
            format!("install strategy invalid: {error}"),
        ),
        Installation::Waiting(actions) => Next { actions, ..Next::default() },
        Installation::Ready { actions, certificates } => Next {
            actions,
            certificates,
            ..Next::to(
                Phase::Installing,
                "InstallSucceeded",
                "waiting for install components to report healthy",
            )
        },
    }
}

fn installing(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    let health = health::of(scene, operator);
    if let Health::Missing { message, deployment } = health {
        // Somebody took it away while it was waited for.
        let guards = vec![Guard::Absent(deployment)];
        return Next { guards, ..Next::to(Phase::InstallReady, "InstallWaiting", message) };
    }
    let mut next = follow_health(&health, Phase::Installing, "InstallWaiting");
    let now = scene.world.now;
    let since = operator.last_transition().unwrap_or(now);
    let deadline = since.after(scene.world.settings.install_timeout);
    let is_waiting = next.change.as_ref().is_none_or(|change| change.phase == Phase::Installing);
    if is_waiting && now >= deadline {
        return Next::to(Phase::Failed, "InstallCheckFailed", "install timeout");
    }
    if is_waiting {
        let soon = since.after(WAITING_IS_NEWS);
        if now < soon {
            return Next { change: None, wake: Some(soon), ..next };
        }
        next.wake = Some(deadline);
    }
    next
}

/// Says what follows from the health of an operator, with what is said when it is not healthy yet.
fn follow_health(health: &Health, phase: Phase, reason: &'static str) -> Next {
    match health {
        Health::Good => Next::to(
            Phase::Succeeded,
            "InstallSucceeded",
            "install strategy completed with no errors",
        ),
        Health::Lost(message) => Next::to(Phase::Failed, "InstallCheckFailed", message.clone()),
        Health::Outdated(message) => Next::to(Phase::InstallReady, reason, message.clone()),
        Health::Waiting(message) | Health::Missing { message, .. } => {
            Next::to(phase, reason, message.clone())
        }
        Health::Uncomputable => {
            Next::to(Phase::Pending, "NeedsReinstall", "calculated deployment install is bad")
        }
    }
}

fn succeeded(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    if let Some(next) = scene.replacing(operator.name()).next() {
        let message = format!("being replaced by csv: {}", next.name());
        return Next::to(Phase::Replacing, "BeingReplaced", message);
    }
    if health::certificates_expire(scene, operator) {
        let message = "CSV owns resources that require a cert refresh";
        return Next::to(Phase::Pending, "NeedsCertRotation", message);
    }
    let found = match requirements::look_at(scene, operator) {
        Ok(found) => found,
        Err(error) => return invalid_strategy(&error),
    };
    if !found.are_met && is_about_to_be_replaced(scene, operator) {
        // What it requires goes away for the one that takes its place.
        return Next::stay().with(found);
    }
    if !found.are_met {
        let message = "requirements no longer met";
        return Next::to(Phase::Failed, "RequirementsNotMet", message).with(found);
    }
    let health = health::of(scene, operator);
    let mut next = follow_health(&health, Phase::Failed, "ComponentUnhealthy").with(found);
    next.wake = health::next_rotation(scene, operator);
    next
}

/// Tells whether a plan that is being carried out brings an operator in place of this one.
fn is_about_to_be_replaced(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    let under_way = scene.plans.iter().filter(|plan| plan.phase() == PlanPhase::Installing);
    let steps = under_way.flat_map(|plan| plan.steps());
    steps
        .filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION)
        .filter_map(|step| Object::from_value(step.manifest().ok()?).ok())
        .any(|arriving| {
            scene.replaced_by(&arriving).is_some_and(|replaced| replaced.name() == operator.name())
        })
}

fn failed(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    if let Some(next) = replaced_after_failure(scene, operator) {
        return next;
    }
    if let Some(next) = after_reason(scene, operator) {
        return next;
    }
    let key = operator.object.key();
    let found = match requirements::look_at(scene, operator) {
        Ok(found) => found,
        // It stays invalid until it is changed.
        Err(error) => return invalid_strategy(&error),
    };
    if !found.are_met {
        return Next::to(Phase::Pending, "RequirementsNotMet", "requirements not met").with(found);
    }
    if is_final(scene, operator) {
        let failures = scene.world.failures.of_work(&key);
        let wake = failures.map(|(_, failure)| failure.next_attempt()).min();
        return Next { wake, ..Next::stay() }.with(found);
    }
    if let Some(actions) = retried_quietly(scene, operator) {
        return Next { actions, ..Next::stay() }.with(found);
    }
    if health::certificates_expire(scene, operator) {
        let message = "owned APIServices need cert refresh";
        return Next::to(Phase::Pending, "NeedsCertRotation", message).with(found);
    }
    match health::of(scene, operator) {
        // A Deployment that missed its own deadline is not installed again and again: when it gets
        // ready after all, the operator has succeeded.
        Health::Lost(_) => Next::stay().with(found),
        Health::Waiting(_) if operator.reason() == "InstallCheckFailed" => Next::stay().with(found),
        health @ (Health::Good
        | Health::Outdated(_)
        | Health::Missing { .. }
        | Health::Waiting(_)
        | Health::Uncomputable) => {
            follow_health(&health, Phase::Pending, "NeedsReinstall").with(found)
        }
    }
}

/// Moves a failed operator to `Replacing` if another version replaces it and may: in a rollback, or by fail
/// forward.
fn replaced_after_failure(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Next> {
    let next = scene.replacing(operator.name()).next()?;
    let belongs_to =
        |csv: &str| csv == operator.name() || chain::follows(scene, csv, operator.name());
    let mut subscriptions = scene.subscriptions.iter();
    let owner = subscriptions.find(|subscription| {
        [subscription.installed_csv(), subscription.current_csv()].into_iter().any(belongs_to)
    });
    let message = if is_rollback(scene, operator, next) {
        format!("being replaced by csv: {}", next.name())
    } else {
        let owner = owner.map(|subscription| subscription.name());
        if fail_forward::forbidden(scene, owner, Some(operator)).is_some() {
            return None;
        }
        format!(
            "Fail Forward is enabled, allowing Failed csv to be replaced by csv: {}",
            next.name()
        )
    };
    Some(Next::to(Phase::Replacing, "BeingReplaced", message))
}

/// Returns what follows from the reason of a failure alone, whatever the requirements are.
fn after_reason(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Next> {
    let again = |message: &str| Some(Next::to(Phase::Pending, "RequirementsUnknown", message));
    match operator.reason() {
        // Whatever changes, the same thing is not tried at full speed.
        "InstallComponentFailedNoRetry" if pause_of(scene, operator).is_some() => {
            Some(Next { wake: pause_of(scene, operator), ..Next::stay() })
        }
        "InstallComponentFailedNoRetry" if rights::changed_since_failure(scene, operator) => {
            let message = "Cluster resources changed state";
            Some(Next::to(Phase::Pending, "DetectedClusterChange", message))
        }
        "InstallComponentFailedNoRetry" => Some(Next::stay()),
        "NoTargetNamespaces"
        | "NoOperatorGroup"
        | "TooManyOperatorGroups"
        | "UnsupportedOperatorGroup" => again("InstallModes now support target namespaces"),
        "InterOperatorGroupOwnerConflict" => {
            again("OperatorGroup no longer intersecting with conflicting owner")
        }
        "CannotModifyStaticOperatorGroupProvidedAPIs" => {
            again("static OperatorGroup and intersecting groups now support providedAPIs")
        }
        _ => None,
    }
}

/// Returns when the pause after a failure of an operator's work is over, if it is not yet.
fn pause_of(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Timestamp> {
    let key = operator.object.key();
    let pauses = scene.world.failures.of_work(&key).map(|(_, failure)| failure.next_attempt());
    pauses.filter(|next| scene.world.now < *next).min()
}

/// Returns what is tried again without a word, because an object of another owner has the name of one
/// of the operator's. Whether it was deleted shows only then: the engine does not see it.
fn retried_quietly(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Vec<Action>> {
    let key = operator.object.key();
    let mut failures = scene.world.failures.of_work(&key);
    let is_taken = operator.reason() == "InstallComponentFailed"
        && failures.any(|(_, failure)| failure.error.kind == ErrorKind::AlreadyExists);
    match install::plan(scene, operator) {
        Installation::Waiting(actions) | Installation::Ready { actions, .. } if is_taken => {
            Some(actions)
        }
        _ => None,
    }
}

/// Tells whether only a change of the operator itself can help.
fn is_final(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    match operator.reason() {
        "InvalidWebhookDescription" => check_webhooks(operator.object).is_err(),
        "OwnerConflict" => owner_conflict(scene, operator).is_some(),
        "InstallComponentFailed" => {
            // It is tried again when the pause after the failure is over.
            pause_of(scene, operator).is_some()
        }
        "InvalidInstallStrategy" => {
            matches!(install::plan(scene, operator), Installation::Refused(_))
        }
        _ => false,
    }
}

fn replacing(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Next {
    if scene.replaced_by(operator.object).is_some() {
        // The chain is taken down from its oldest end.
        return Next::stay();
    }
    let Some(newest) = chain::newest(scene, operator) else {
        if scene.replacing(operator.name()).next().is_none() {
            // Whoever should have replaced it is gone: it runs, and goes on.
            let message = "the operator that was to replace it is gone";
            return Next::to(Phase::Pending, "NeedsReinstall", message);
        }
        return Next::stay();
    };
    if newest.phase() != Phase::Succeeded {
        return Next::stay();
    }
    Next::to(
        Phase::Deleting,
        "Replaced",
        "has been replaced by a newer ClusterServiceVersion that has successfully installed.",
    )
}

/// Returns the operator that a plan went back to while this one, which should have replaced it, had not
/// succeeded.
fn rolled_back_to<'w>(
    scene: &Scene<'w>,
    operator: ServiceVersion<'w>,
) -> Option<ServiceVersion<'w>> {
    let earlier = scene.replaced_by(operator.object)?;
    let is_waiting = earlier.replaces() != operator.name();
    (is_waiting && is_rollback(scene, operator, earlier)).then_some(earlier)
}

/// Tells whether a person went back from an operator to another, and did not update it again since.
fn is_rollback(scene: &Scene<'_>, from: ServiceVersion<'_>, to: ServiceVersion<'_>) -> bool {
    let brings = |plan: &InstallPlan<'_>, operator: ServiceVersion<'_>| {
        plan.operators().any(|brought| brought == operator.name())
    };
    let rollbacks = scene.plans.iter().filter(|plan| {
        plan.object.annotation(names::ROLLBACK_ANNOTATION) == Some(from.name())
            && brings(plan, to)
            && plan.is_approved()
            && plan.phase() != PlanPhase::Failed
            && records::is_unedited(**plan)
    });
    let updates = scene.plans.iter().filter(|plan| brings(plan, from));
    let newest = rollbacks.map(|plan| plan.generation()).max();
    newest.is_some() && newest > updates.map(|plan| plan.generation()).max()
}

fn deleting(operator: ServiceVersion<'_>) -> Next {
    let actions = vec![Action::DeleteUnchanged(operator.object.clone())];
    Next { actions, ..Next::default() }
}
