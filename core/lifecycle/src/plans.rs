//! InstallPlans: made from drafts, approved, carried out, and thrown away.

mod definition;
mod execute;
mod step;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

pub(crate) use self::{
    definition::{conversion_refusal, is_for_users, is_own, may_end_conversion},
    execute::check,
    step::{OwnedObject, as_owned},
};

use operon_kinds::{InstallPlan, PlanPhase, Subscription, names};
use operon_object::{OwnerReference, Value, go_json, known, list, map};
use operon_plan::{Draft, lift_plan, lift_status, plan_name};
use operon_resolve::Reason;

use crate::{
    Action, Authority, Guard, Verdict, generations,
    outlook::{Outlook, TOO_EXPENSIVE, UNREAD},
    scene::Scene,
};

/// The two writes of a plan follow each other within milliseconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(30);

/// What is said of a plan that nobody can carry out.
const NOT_OURS: &str = "somebody made this plan by hand, and it says nothing of what is to be done: plans are \
                        made from Subscriptions; delete it";

/// Decides about the plans of a namespace.
pub(crate) fn decide(scene: &Scene<'_>, outlook: &Outlook, verdict: &mut Verdict) {
    for key in &outlook.wanted {
        if !scene.world.bundles.contains_key(key) {
            let work = known::NAMESPACE.key("", scene.namespace);
            verdict.unpack(&work, key.clone());
        }
    }
    verdict.wanted.extend(outlook.wanted.iter().cloned());
    verdict.used.extend(outlook.used.iter().cloned());
    for draft in &outlook.drafts {
        let is_there = scene.plans.iter().any(|plan| is_plan_of(*plan, draft));
        if !is_there && !is_in_the_way(scene, draft) {
            create(scene, draft, outlook.joined.get(&draft.content), verdict);
        }
    }
    for plan in &scene.plans {
        follow(scene, outlook, *plan, verdict);
    }
    throw_away(scene, verdict);
}

/// Tells whether a plan that is still open carries out a draft.
fn is_plan_of(plan: InstallPlan<'_>, draft: &Draft) -> bool {
    !plan.is_finished() && plan.content() == draft.content
}

/// Tells whether an open plan of other content moves one of a draft's Subscriptions: it has to go first.
fn is_in_the_way(scene: &Scene<'_>, draft: &Draft) -> bool {
    scene.plans.iter().any(|plan| {
        !plan.is_finished() && plan.targets().keys().any(|name| draft.targets.contains_key(name))
    })
}

fn create(
    scene: &Scene<'_>,
    draft: &Draft,
    joined: Option<&BTreeMap<String, String>>,
    verdict: &mut Verdict,
) {
    let generation = next_generation(scene);
    let name = name(scene, draft);
    let mut plan = lift_plan(draft, &name, generation, &owners(scene, draft), &because(draft));
    if let Some(joined) = joined {
        let contents = joined.iter().map(|(namespace, content)| (namespace, Value::text(content)));
        plan.set_annotation(names::JOINT_PLANS_ANNOTATION, &go_json(&Value::map(contents)));
    }
    // What a stale view does not show would be planned twice: the cluster itself is asked.
    let operators = draft.operators.iter().map(|operator| {
        known::CLUSTER_SERVICE_VERSION.key(scene.namespace, &operator.addition.name)
    });
    let referred = scene
        .subscriptions
        .iter()
        .map(|subscription| subscription.plan())
        .filter(|name| !name.is_empty() && scene.plan(name).is_none())
        .map(|name| known::INSTALL_PLAN.key(scene.namespace, name));
    // Whoever made a plan meanwhile has written so to its Subscriptions.
    let moved = scene
        .subscriptions
        .iter()
        .filter(|subscription| draft.targets.contains_key(subscription.name()))
        .map(|subscription| Guard::Unchanged(subscription.object.clone()));
    // The name rests on the newest plan before it.
    let before = newest_related(scene, draft).map(|plan| Guard::Unchanged(plan.object.clone()));
    let guards = operators.chain(referred).map(Guard::Absent).chain(moved).chain(before).collect();
    verdict.act_guarded(&Authority::Controller, &plan.key(), Action::Create(plan), guards);
}

/// Names the next plan of a draft. Only what concerns its own Subscriptions and operators counts: a view
/// that lacks a plan of others must come to the same name.
pub(crate) fn name(scene: &Scene<'_>, draft: &Draft) -> String {
    let is_moved = |name: &str| draft.targets.contains_key(name);
    let plan = newest_related(scene, draft).map(|plan| plan.generation());
    let moved = scene.subscriptions.iter().filter(|subscription| is_moved(subscription.name()));
    let noted = moved.map(|subscription| subscription.plan_generation());
    plan_name(draft, noted.chain(plan).max().unwrap_or(0) + 1)
}

/// Returns the newest plan that moves a Subscription, or brings an operator, of a draft.
fn newest_related<'w>(scene: &Scene<'w>, draft: &Draft) -> Option<InstallPlan<'w>> {
    let brings = |plan: &InstallPlan<'_>| {
        let mut operators = draft.operators.iter();
        operators.any(|operator| plan.operators().any(|name| name == operator.addition.name))
    };
    let moves =
        |plan: &InstallPlan<'_>| plan.targets().keys().any(|name| draft.targets.contains_key(name));
    let related = scene.plans.iter().copied().filter(|plan| brings(plan) || moves(plan));
    related.max_by_key(|plan| (plan.generation(), plan.name()))
}

/// Returns the generation of what comes next. What was written down counts too: plans and Subscriptions
/// go with what is uninstalled, and history goes on.
pub(crate) fn next_generation(scene: &Scene<'_>) -> i64 {
    let plans = scene.plans.iter().map(|plan| plan.generation());
    let noted = scene.subscriptions.iter().map(|subscription| subscription.plan_generation());
    plans.chain(noted).chain([generations::newest(scene)]).max().unwrap_or(0) + 1
}

fn owners(scene: &Scene<'_>, draft: &Draft) -> Vec<OwnerReference> {
    let moved = scene
        .subscriptions
        .iter()
        .filter(|subscription| draft.targets.contains_key(subscription.name()));
    moved.map(|subscription| subscription.object.owner_reference()).collect()
}

/// Says in a line why a plan is made, for whoever looks at the history.
fn because(draft: &Draft) -> String {
    let told = draft.operators.iter().map(|operator| {
        let addition = &operator.addition;
        let asked = addition.reasons.iter().find_map(|reason| match reason {
            _ if !addition.updates.is_empty() => {
                Some(format!("catalog {} offers it", addition.source))
            }
            Reason::Requested(request) => Some(format!("Subscription {request} asks for it")),
            Reason::Needed { by, requirement, .. } => Some(format!("{by} needs {requirement}")),
            Reason::Freestanding => None,
        });
        format!("{}: {}", addition.name, asked.unwrap_or_default())
    });
    told.collect::<Vec<String>>().join("; ")
}

fn follow(scene: &Scene<'_>, outlook: &Outlook, plan: InstallPlan<'_>, verdict: &mut Verdict) {
    let draft = outlook.drafts.iter().find(|draft| is_plan_of(plan, draft));
    match (plan.phase(), draft) {
        (PlanPhase::None, Some(draft)) => {
            verdict.write_status(plan.object, lift_status(draft, plan.is_approved()));
        }
        (PlanPhase::RequiresApproval, _) if plan.is_approved() && draft.is_some() => {
            let mut status = plan.object.status().clone();
            status.set(&["phase"], PlanPhase::Installing.text());
            status.remove(&["message"]);
            verdict.write_status(plan.object, status);
        }
        (PlanPhase::None, None) if plan.content().is_empty() => {
            let status = map! {
                "phase" => PlanPhase::Failed.text(),
                "catalogSources" => list![],
                "message" => NOT_OURS,
            };
            verdict.write_status(plan.object, status);
        }
        (PlanPhase::None | PlanPhase::RequiresApproval, None) => {
            if is_superseded(outlook, plan) || is_abandoned(scene, plan, verdict) {
                verdict.act(
                    &Authority::Controller,
                    &plan.object.key(),
                    Action::DeleteUnchanged(plan.object.clone()),
                );
            }
        }
        (PlanPhase::Installing, _) if plan.content().is_empty() => {
            // Another program began it, and what was planned is not recorded: a new one is made.
            verdict.act(
                &Authority::Controller,
                &plan.object.key(),
                Action::DeleteUnchanged(plan.object.clone()),
            );
        }
        (PlanPhase::Installing, _) if !plan.is_approved() => {
            // Whoever wrote the phase, or took the approval back, decides nothing: a person approves.
            let mut status = plan.object.status().clone();
            status.set(&["phase"], PlanPhase::RequiresApproval.text());
            verdict.write_status(plan.object, status);
        }
        (PlanPhase::Installing, _) => {
            if let Some(asked) = whose_wish(scene, plan) {
                execute::execute(scene, plan, &asked, verdict);
            }
        }
        // No approval is required any more: a new plan is created, approved. Who may change a Subscription
        // could delete it and create an automatic one as well, so this gives no permission away.
        (PlanPhase::RequiresApproval, Some(draft))
            if draft.manual.is_empty() && !plan.is_rejected() =>
        {
            verdict.act(
                &Authority::Controller,
                &plan.object.key(),
                Action::DeleteUnchanged(plan.object.clone()),
            );
        }
        (PlanPhase::RequiresApproval, Some(_)) | (PlanPhase::Complete | PlanPhase::Failed, _) => {}
    }
}

/// Returns the Subscriptions that a plan is carried out for; a plan need not have any. One whose
/// Subscriptions are all gone is left to the cluster's garbage collector, which may be late: going on would
/// bring back what people have just taken away.
fn whose_wish<'w>(scene: &Scene<'w>, plan: InstallPlan<'_>) -> Option<Vec<Subscription<'w>>> {
    let owners: Vec<OwnerReference> =
        plan.object.owners().filter(|owner| owner.kind == known::SUBSCRIPTION.name()).collect();
    let is_owner = |subscription: &&Subscription<'_>| {
        owners.iter().any(|owner| owner.uid == subscription.object.uid())
    };
    let asked: Vec<Subscription<'w>> =
        scene.subscriptions.iter().filter(is_owner).copied().collect();
    (owners.is_empty() || !asked.is_empty()).then_some(asked)
}

/// Tells whether nothing stands behind a plan any more that nobody has begun: what its Subscriptions
/// should become is known, and it is something else.
fn is_superseded(outlook: &Outlook, plan: InstallPlan<'_>) -> bool {
    if plan.object.annotation(names::ROLLBACK_ANNOTATION).is_some() {
        // A person made it, and no resolution stands behind it.
        return false;
    }
    if plan.is_rejected() {
        // It is remembered until there is something else to say yes or no to.
        let targets = plan.targets();
        return outlook
            .drafts
            .iter()
            .any(|draft| draft.targets.keys().any(|name| targets.contains_key(name)));
    }
    plan.targets().keys().all(|name| {
        let Some(prospect) = outlook.prospects.get(name) else { return true };
        // What could not be read says nothing about what the Subscription should become.
        let is_unread = prospect.unpacking.is_some()
            || prospect.unpack_failure.is_some()
            || prospect
                .failure
                .as_ref()
                .is_some_and(|(reason, _)| [UNREAD, TOO_EXPENSIVE].contains(reason));
        !prospect.is_busy && !is_unread
    })
}

/// Tells whether whoever made a plan for going back did not come to writing its steps.
fn is_abandoned(scene: &Scene<'_>, plan: InstallPlan<'_>, verdict: &mut Verdict) -> bool {
    let is_rollback = plan.object.annotation(names::ROLLBACK_ANNOTATION).is_some();
    if !is_rollback || plan.phase() != PlanPhase::None {
        return false;
    }
    let deadline = plan.object.created().unwrap_or(scene.world.now).after(ABANDONED_AFTER);
    verdict.wake_at(deadline);
    scene.world.now >= deadline
}

/// Throws away the oldest finished plans.
fn throw_away(scene: &Scene<'_>, verdict: &mut Verdict) {
    let newest: BTreeSet<&str> = scene
        .subscriptions
        .iter()
        .filter_map(|subscription| scene.newest_plan(subscription.name()))
        .map(|plan| plan.name())
        .collect();
    let mut finished: Vec<&InstallPlan<'_>> = scene
        .plans
        .iter()
        .filter(|plan| plan.is_finished() && !newest.contains(plan.name()))
        .collect();
    finished.sort_by_key(|plan| (plan.generation(), plan.name()));
    let kept = scene.world.settings.kept_plans.saturating_sub(newest.len());
    let surplus = finished.len().saturating_sub(kept);
    for plan in &finished[..surplus] {
        verdict.act(
            &Authority::Controller,
            &plan.object.key(),
            Action::DeleteUnchanged(plan.object.clone()),
        );
    }
}

/// Puts the status of each step into a plan's status.
fn with_steps(status: &Value, steps: &[Value]) -> Value {
    let mut status = status.clone();
    status.set(&["plan"], steps.to_vec());
    status
}
