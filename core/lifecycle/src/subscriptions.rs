//! Subscriptions: how far each has come.
//!
//! The whole status follows from the world: from the newest plan that moves a Subscription, from the
//! operators that exist, and from what is in sight. Losing a write is therefore harmless.

mod catalogs;
mod deprecation;
mod plan;

use operon_kinds::{
    Condition, InstallPlan, Subscription, SubscriptionState, condition, names, remove_condition,
    set_condition,
};
use operon_object::{Value, known, map};

use crate::{
    Action, Event, Guard, Timing, Verdict, fail_forward,
    outlook::{Outlook, Prospect},
    scene::Scene,
};

/// Writes the status of the Subscriptions of a namespace.
pub(crate) fn decide(scene: &Scene<'_>, outlook: &Outlook, verdict: &mut Verdict) {
    let is_plan_ending = is_plan_ending(verdict);
    for subscription in &scene.subscriptions {
        let old = subscription.object.status();
        let mut status = old.clone();
        let nothing = Prospect::default();
        let prospect = outlook.prospects.get(subscription.name()).unwrap_or(&nothing);
        follow_plan(scene, *subscription, &mut status);
        follow_operator(scene, *subscription, prospect, &mut status);
        plan::note(scene, &mut status);
        catalogs::note(scene, *subscription, &mut status);
        deprecation::note(scene, *subscription, &mut status);
        let news = note_prospect(scene, prospect, &mut status);
        if status != *old {
            let is_passing = differs_only_in_waiting(old, &status);
            status.set(&["lastUpdated"], scene.world.now);
            let guards = guards(scene, *subscription, &status);
            let at_rest = |is_late| if is_late { Timing::AtRest } else { Timing::InOrder };
            let timing = at_rest(is_passing || is_plan_ending);
            verdict.write_status_when(subscription.object, status, guards, timing);
            for condition in news {
                record(scene, *subscription, &condition, at_rest(is_plan_ending), verdict);
            }
        }
    }
}

/// Tells whether a plan comes to its end in this world: what is said of Subscriptions would be out of date at
/// once. That a plan comes is said without delay, because nobody else may make one then.
fn is_plan_ending(verdict: &Verdict) -> bool {
    verdict.effects().iter().any(|effect| match effect.action() {
        Action::UpdateStatus(object) if object.kind() == known::INSTALL_PLAN => {
            InstallPlan::read(object).is_finished()
        }
        _ => false,
    })
}

/// Tells whether a Subscription only waits for its plan in another way than before. Plans move fast: that
/// is worth saying when nothing moves.
fn differs_only_in_waiting(old: &Value, new: &Value) -> bool {
    let [old, new] = [old, new].map(|status| {
        let mut status = status.clone();
        remove_condition(&mut status, "InstallPlanPending");
        status
    });
    old == new
}

/// A Subscription lets go of a plan and an operator only if the cluster itself has neither: kinds overtake
/// each other, and what it names may merely not have been seen yet.
fn guards(scene: &Scene<'_>, subscription: Subscription<'_>, status: &Value) -> Vec<Guard> {
    let (plan, operator) = (subscription.plan(), subscription.current_csv());
    let lets_go = !operator.is_empty() && status.get("currentCSV").str() != operator;
    let is_unseen = scene.plan(plan).is_none() && scene.operator(operator).is_none();
    if !lets_go || !is_unseen || plan.is_empty() {
        return Vec::new();
    }
    vec![
        Guard::Absent(known::INSTALL_PLAN.key(scene.namespace, plan)),
        Guard::Absent(known::CLUSTER_SERVICE_VERSION.key(scene.namespace, operator)),
    ]
}

/// Points at the newest plan that moves the Subscription.
fn follow_plan(scene: &Scene<'_>, subscription: Subscription<'_>, status: &mut Value) {
    let generator = subscription.object.annotation(names::GENERATED_BY_ANNOTATION);
    let newest = scene.newest_plan(subscription.name());
    let (plan, current) = match (newest, generator) {
        (Some(plan), _) => {
            (plan, plan.targets().get(subscription.name()).cloned().unwrap_or_default())
        }
        // A dependency's Subscription is made by the plan that brings its operator.
        (None, Some(generator)) if status.get("currentCSV").is_empty() => {
            let Some(plan) = scene.plan(generator) else { return };
            (plan, subscription.starting_csv().to_owned())
        }
        (None, _) => return forget_plan(scene, status),
    };
    let is_older = plan.generation() < subscription.plan_generation();
    let is_gone = scene.plan(subscription.plan()).is_none()
        && scene.operator(subscription.current_csv()).is_none();
    if is_older && !is_gone {
        return;
    }
    let reference = map! {
        "apiVersion" => plan.object.api_version(),
        "kind" => "InstallPlan",
        "name" => plan.name(),
        "uuid" => plan.object.uid(),
    };
    status.set(&["installplan"], reference);
    let reference = map! {
        "apiVersion" => plan.object.api_version(),
        "kind" => "InstallPlan",
        "namespace" => plan.object.namespace(),
        "name" => plan.name(),
        "uid" => plan.object.uid(),
    };
    status.set(&["installPlanRef"], reference);
    // It never goes back: names of plans rest on it.
    let generation = plan.generation().max(subscription.plan_generation());
    status.set(&["installPlanGeneration"], generation);
    status.set(&["currentCSV"], current);
}

/// A plan that is gone before its operator came is planned again.
fn forget_plan(scene: &Scene<'_>, status: &mut Value) {
    let is_waiting = !status.get("installPlanRef").is_null()
        && scene.plan(status.at(&["installPlanRef", "name"]).str()).is_none()
        && scene.operator(status.get("currentCSV").str()).is_none();
    if is_waiting {
        for name in ["installPlanRef", "installplan", "currentCSV", "state"] {
            status.remove(&[name]);
        }
        let installed = status.get("installedCSV").clone();
        if scene.operator(installed.str()).is_some() {
            status.set(&["currentCSV"], installed);
        }
    }
}

/// Says whether the operator that it should have is here.
fn follow_operator(
    scene: &Scene<'_>,
    subscription: Subscription<'_>,
    prospect: &Prospect,
    status: &mut Value,
) {
    if let Some(adopted) = &prospect.adopts {
        status.set(&["currentCSV"], adopted.as_str());
    }
    let current = status.get("currentCSV").str().to_owned();
    let state = if current.is_empty() {
        SubscriptionState::None
    } else if scene.operator(&current).is_some() {
        status.set(&["installedCSV"], current);
        SubscriptionState::AtLatestKnown
    } else if plan::failed(scene, status)
        && fail_forward::forbidden(scene, Some(subscription.name()), None).is_none()
    {
        SubscriptionState::UpgradeFailed
    } else {
        SubscriptionState::UpgradePending
    };
    match state {
        SubscriptionState::None => drop(status.remove(&["state"])),
        SubscriptionState::UpgradePending
        | SubscriptionState::UpgradeFailed
        | SubscriptionState::AtLatestKnown => status.set(&["state"], state.text()),
    }
}

/// Says what is in sight, and returns what was not said before. While something is under way, what was
/// said before stays.
fn note_prospect(scene: &Scene<'_>, prospect: &Prospect, status: &mut Value) -> Vec<Condition> {
    let mut news = Vec::new();
    if prospect.is_busy {
        // What was unpacked is on its way.
        remove_condition(status, "BundleUnpacking");
        remove_condition(status, "BundleUnpackFailed");
        // What a person said is over when it is not said any more.
        let held = condition(status, "Held").get("reason").str();
        if prospect.hold.is_none() && ["Paused", "InvalidPin"].contains(&held) {
            remove_condition(status, "Held");
        }
        return news;
    }
    let now = scene.world.now;
    let mut note = |kind: &str, said: Option<(&str, &str)>| match said {
        Some((reason, message)) => {
            let condition = Condition::new(kind, true, reason, message);
            if set_condition(status, &condition, now) {
                news.push(condition);
            }
        }
        None => {
            remove_condition(status, kind);
        }
    };
    let failure = prospect.failure.as_ref();
    note("ResolutionFailed", failure.map(|(reason, message)| (*reason, message.as_str())));
    let hold = prospect.hold.as_ref();
    note("Held", hold.map(|hold| (hold.reason, hold.message.as_str())));
    let unpacking = prospect.unpacking.as_deref();
    note("BundleUnpacking", unpacking.map(|message| ("UnpackingInProgress", message)));
    let failure = prospect.unpack_failure.as_deref();
    note("BundleUnpackFailed", failure.map(|message| ("BundleUnpackFailed", message)));
    news
}

/// Records an event about what keeps a Subscription from what it asks for.
fn record(
    scene: &Scene<'_>,
    subscription: Subscription<'_>,
    condition: &Condition,
    timing: Timing,
    verdict: &mut Verdict,
) {
    let Condition { kind, message, .. } = condition;
    let event = match kind.as_str() {
        // Upstream: a resolution is the namespace's matter.
        "ResolutionFailed" => {
            let namespace = scene.world.objects.get(&known::NAMESPACE, "", scene.namespace);
            namespace.map(|namespace| Event::about(namespace, true, kind, message))
        }
        "BundleUnpackFailed" | "Held" => {
            Some(Event::about(subscription.object, true, kind, message))
        }
        _ => None,
    };
    if let Some(event) = event {
        verdict.emit(&subscription.object.key(), event, timing);
    }
}
