//! Carrying out a plan.
//!
//! All steps are looked at before the first is done: what cannot be done is told at once, and then
//! nothing is. What is done is noted last, so that a plan that was interrupted is looked at again.

use std::{collections::BTreeSet, sync::Arc};

use operon_kinds::{
    Condition, InstallPlan, OperatorGroup, PlanPhase, StepStatus, Subscription, condition, names,
    set_condition,
};
use operon_object::{Kind, ObjectKey, Timestamp, Value, known};

use operon_plan::content_of;

use super::{step, with_steps};
use crate::{
    Action, ErrorKind, Event, Guard, Timing, Verdict, scene::Scene, views::problems::RETRYING,
};

const INSTALLED: &str = "Installed";

/// Carries out what is left of a plan, for those who asked for it.
pub(super) fn execute(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    asked: &[Subscription<'_>],
    verdict: &mut Verdict,
) {
    let now = scene.world.now;
    let mut status = plan.object.status().clone();
    if let Some(waiting) = waits_for_partner(scene, plan) {
        status.set(&["message"], waiting);
        verdict.looks_elsewhere = true;
        verdict.write_status(plan.object, status);
        return;
    }
    if let Err(message) = check_group(scene) {
        let refusal = Condition::new(INSTALLED, false, "InstallCheckFailed", message);
        set_condition(&mut status, &refusal, now);
        verdict.write_status(plan.object, status);
        return;
    }
    if let Err(message) = check_content(plan) {
        end(&mut status, &message, now);
        verdict.write_status(plan.object, status);
        return;
    }
    if condition(&status, INSTALLED).get("reason").str() == "InstallCheckFailed" {
        let cleared = Condition {
            kind: INSTALLED.to_owned(),
            status: "Unknown".to_owned(),
            reason: "Unknown".to_owned(),
            message: String::new(),
        };
        set_condition(&mut status, &cleared, now);
    }
    note_service_account(scene, &mut status);
    let started = plan.started().unwrap_or(now);
    status.set(&["startTime"], started);
    let outcome = step::steps(scene, plan, started);
    if outcome.faults.is_empty() {
        carry_out(scene, plan, asked, &status, outcome, verdict);
    } else {
        refuse(scene, plan, status, started, &outcome.faults.join("; "), false, verdict);
    }
}

/// What the checks of a plan found.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Why the plan cannot be carried out.
    pub(crate) faults: Vec<String>,
    /// The kinds whose objects have to be listed to know.
    pub(crate) unseen_kinds: BTreeSet<Kind>,
    /// The objects that have to be looked up to know.
    pub(crate) unseen_objects: BTreeSet<ObjectKey>,
}

/// Runs the checks of a plan without executing it.
pub(crate) fn check(scene: &Scene<'_>, plan: InstallPlan<'_>) -> Checked {
    // A group that was created just now has no status yet; it gets one before its first plan.
    let is_seen = |group: &OperatorGroup<'_>| !group.status_namespaces().is_empty();
    let group = match scene.groups.iter().all(is_seen) {
        true => check_group(scene),
        false => Ok(()),
    };
    let outcome = step::steps(scene, plan, scene.world.now);
    let faults = group.err().into_iter().chain(check_content(plan).err()).chain(outcome.faults);
    Checked {
        faults: faults.collect(),
        unseen_kinds: outcome.unseen,
        unseen_objects: outcome.unseen_objects.into_keys().collect(),
    }
}

fn carry_out(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    asked: &[Subscription<'_>],
    status: &Value,
    outcome: step::Outcome,
    verdict: &mut Verdict,
) {
    let now = scene.world.now;
    let key = plan.object.key();
    let started = plan.started().unwrap_or(now);
    // What somebody else has done meanwhile is no failure any more.
    let unseen = outcome.unseen.iter().map(|kind| kind.key("", ""));
    let targets: BTreeSet<ObjectKey> =
        outcome.actions.iter().filter_map(|(_, action)| action.target()).chain(unseen).collect();
    let mut failures = scene.world.failures.of_work(&key);
    if let Some((_, failure)) = failures.find(|(target, _)| targets.contains(target)) {
        let is_forbidden = failure.error.kind == ErrorKind::Forbidden;
        let retry = failure.next_attempt();
        let timeout = scene.world.settings.plan_retry_timeout;
        // A plan that waited for a permission is not ended by the first failure of another kind.
        let begun = started.max(failure.since);
        let is_over = !is_forbidden && now.since(begun) >= timeout;
        if is_over || now < retry {
            let message = &failure.error.message;
            refuse(scene, plan, status.clone(), begun, message, is_forbidden, verdict);
            verdict.wake_at(retry);
            return;
        }
    }
    if !outcome.unseen.is_empty() {
        // Nothing is done before everything that could be harmed was seen.
        let kinds = outcome.unseen.into_iter();
        return kinds.for_each(|kind| verdict.watch(&key, kind));
    }
    for (authority, action) in outcome.actions {
        // A view in which the plan is still to be done may be older than the day its operator was removed.
        let mut guards = vec![Guard::Unchanged(plan.object.clone())];
        // Nothing is written before it is known that nothing of others is overwritten.
        let unseen = outcome.unseen_objects.iter();
        guards.extend(
            unseen.map(|(key, claimant)| Guard::NotForeign(key.clone(), Arc::clone(claimant))),
        );
        if matches!(&action, Action::Create(_)) {
            // So may one in which its Subscriptions are still there.
            let first = asked.first().map(|subscription| subscription.object.clone());
            guards.extend(first.map(Guard::Alive));
        }
        verdict.act_guarded(&authority, &key, action, guards);
    }
    for (reason, message) in outcome.warnings {
        let event = Event::about(plan.object, true, reason, &message);
        verdict.emit(&key, event, Timing::InOrder);
    }
    let mut status = with_steps(status, &outcome.steps);
    let is_done = |step: &Value| {
        let done = [StepStatus::Created, StepStatus::Present, StepStatus::UnsupportedResource];
        done.map(StepStatus::text).contains(&step.get("status").str())
    };
    if outcome.steps.iter().all(is_done) {
        status.set(&["phase"], PlanPhase::Complete.text());
        status.remove(&["message"]);
        let done = Condition {
            kind: INSTALLED.to_owned(),
            status: "True".to_owned(),
            reason: String::new(),
            message: String::new(),
        };
        set_condition(&mut status, &done, now);
        verdict.write_status(plan.object, status);
    } else if step::counts_from_its_creation(plan) {
        // Which steps are done shows in what they made; most often the rest follows at once.
        verdict.write_summary(plan.object, status);
    } else {
        verdict.write_status(plan.object, status);
    }
}

/// Says why a plan cannot be carried out, and ends it when its time is over. What lacks a right is tried
/// for ever: somebody may grant it.
fn refuse(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    mut status: Value,
    started: Timestamp,
    message: &str,
    is_forbidden: bool,
    verdict: &mut Verdict,
) {
    let now = scene.world.now;
    let timeout = scene.world.settings.plan_retry_timeout;
    let is_over = !is_forbidden && now.since(started) >= timeout;
    if is_over {
        end(&mut status, message, now);
    } else {
        status.set(&["message"], format!("{RETRYING}{message}"));
        if !is_forbidden {
            verdict.wake_at(started.after(timeout));
        }
    }
    verdict.write_status(plan.object, status);
}

/// Ends a plan that cannot be carried out.
fn end(status: &mut Value, message: &str, now: Timestamp) {
    status.set(&["phase"], PlanPhase::Failed.text());
    status.set(&["message"], message);
    let failed = Condition::new(INSTALLED, false, "InstallComponentFailed", message);
    set_condition(status, &failed, now);
}

/// Checks that a plan still holds what was planned, and what was approved.
fn check_content(plan: InstallPlan<'_>) -> Result<(), String> {
    let found = content_of(plan)
        .map_err(|error| format!("{error}; delete the plan, and a new one is made"))?;
    if found == plan.content() {
        return Ok(());
    }
    Err("the steps of this plan were changed after it was made: delete it, and a new one is made"
        .to_owned())
}

/// Says which plan of another namespace has to be approved before this one may begin.
fn waits_for_partner(scene: &Scene<'_>, plan: InstallPlan<'_>) -> Option<String> {
    let partners = plan.object.annotation(names::JOINT_PLANS_ANNOTATION)?;
    if plan.started().is_some() {
        return None;
    }
    let partners = Value::parse_json(partners).unwrap_or_default();
    partners.entries().find_map(|(namespace, content)| {
        let plans = scene.world.objects.within(&known::INSTALL_PLAN, namespace);
        let is_ready = plans.map(InstallPlan::read).any(|partner| {
            partner.content() == content.str()
                && partner.is_approved()
                && partner.phase() != PlanPhase::None
        });
        (!is_ready)
            .then(|| format!("waits for the plan of namespace {namespace} that it goes with"))
    })
}

/// Says why nothing may be installed into a namespace now.
fn check_group(scene: &Scene<'_>) -> Result<(), String> {
    let ready = |group: &&OperatorGroup<'_>| !group.status_namespaces().is_empty();
    let groups: Vec<&OperatorGroup<'_>> = scene.groups.iter().filter(ready).collect();
    match groups[..] {
        [] => return Err("no operator group found that is managing this namespace".to_owned()),
        [_] => {}
        _ => {
            let count = groups.len();
            return Err(format!(
                "more than one operator group(s) are managing this namespace count={count}"
            ));
        }
    }
    match scene.authority.unknown_reason() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(()),
    }
}

fn note_service_account(scene: &Scene<'_>, status: &mut Value) {
    let group = scene.group().map(|group| group.object);
    let reference =
        group.map_or(Value::Null, |group| group.status().get("serviceAccountRef").clone());
    if reference.is_null() {
        status.remove(&["attenuatedServiceAccountRef"]);
    } else {
        status.set(&["attenuatedServiceAccountRef"], reference);
    }
}

/// Returns the reference by which an operator owns what its plan writes.
pub(super) fn owner_of(scene: &Scene<'_>, name: &str) -> Option<operon_object::OwnerReference> {
    scene.operator(name).map(|operator| operator.object.owner_reference())
}

/// Returns a step with another status.
pub(super) fn with_status(step: &Value, status: StepStatus) -> Value {
    let mut step = step.clone();
    step.set(&["status"], status.text());
    step
}
