//! What keeps an answer from being carried out.
//!
//! Two things do: work that is under way, which ends by itself and is not worth a word; and
//! something that a person has to decide, which is said.

use operon_kinds::{InstallPlan, Phase, PinError, PlanPhase, ServiceVersion};
use operon_plan::Draft;
use operon_resolve::Addition;

use crate::{fail_forward, scene::Scene};

/// Why an answer is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    /// One word for programs.
    pub(crate) reason: &'static str,
    /// A sentence for people.
    pub(crate) message: String,
}

/// Whether something may be carried out now.
pub(super) enum Weight {
    /// It may.
    Free,
    /// Something is under way.
    Busy,
    /// Something has to be decided.
    Held(Hold),
}

impl Hold {
    /// A person wants nothing to change.
    pub(super) fn paused() -> Self {
        Self { reason: "Paused", message: "the Subscription is paused".to_owned() }
    }

    /// A pin cannot be read.
    pub(super) fn bad_pin(error: &PinError) -> Self {
        Self { reason: "InvalidPin", message: format!("the pin cannot be read: {error}") }
    }
}

/// Decides whether an operator may be moved on now.
pub(super) fn weigh_update(
    scene: &Scene<'_>,
    addition: &Addition,
    operator: ServiceVersion<'_>,
) -> Weight {
    match operator.phase() {
        Phase::Succeeded => {
            // One step at a time: what it replaced has to be gone first.
            match scene.replaced_by(operator.object) {
                Some(_) => Weight::Busy,
                None => Weight::Free,
            }
        }
        Phase::Failed => {
            let subscription = scene.subscription_of(operator.name());
            let subscription = subscription.map(|subscription| subscription.name());
            match fail_forward::forbidden(scene, subscription, Some(operator)) {
                None => Weight::Free,
                Some(why) => Weight::Held(Hold {
                    reason: "OperatorFailed",
                    message: format!(
                        "{} is offered, but {} failed ({}) and {why}",
                        addition.name,
                        operator.name(),
                        operator.message()
                    ),
                }),
            }
        }
        Phase::None
        | Phase::Pending
        | Phase::InstallReady
        | Phase::Installing
        | Phase::Unknown
        | Phase::Replacing
        | Phase::Deleting => Weight::Busy,
    }
}

/// Decides whether a draft may become a plan, by the plans that are there.
pub(super) fn weigh_draft(scene: &Scene<'_>, draft: &Draft) -> Weight {
    // A draft may move no Subscription, as when only a dependency comes again.
    let mut same = scene.plans.iter().filter(|plan| plan.content() == draft.content);
    if let Some(plan) = same.find(|plan| plan.phase() == PlanPhase::Failed) {
        return weigh_plan(scene, "", *plan, draft);
    }
    for name in draft.targets.keys() {
        let Some(plan) = scene.newest_plan(name) else { continue };
        match weigh_plan(scene, name, plan, draft) {
            Weight::Free => {}
            other @ (Weight::Busy | Weight::Held(_)) => return other,
        }
    }
    Weight::Free
}

fn weigh_plan(scene: &Scene<'_>, name: &str, plan: InstallPlan<'_>, draft: &Draft) -> Weight {
    let is_same = plan.content() == draft.content;
    match plan.phase() {
        PlanPhase::None | PlanPhase::Complete => Weight::Free,
        PlanPhase::RequiresApproval if is_same && plan.is_rejected() => Weight::Held(Hold {
            reason: "PlanRejected",
            message: format!("InstallPlan {} was rejected", plan.name()),
        }),
        PlanPhase::RequiresApproval => Weight::Free,
        PlanPhase::Installing if is_same => Weight::Free,
        PlanPhase::Installing => Weight::Busy,
        PlanPhase::Failed if is_same => Weight::Held(Hold {
            reason: "PlanFailed",
            message: format!(
                "InstallPlan {} failed ({}), and the catalogs offer nothing else; delete it to try again",
                plan.name(),
                plan.message()
            ),
        }),
        PlanPhase::Failed => match fail_forward::forbidden(scene, Some(name), None) {
            None => Weight::Free,
            Some(why) => Weight::Held(Hold {
                reason: "PlanFailed",
                message: format!(
                    "{} is offered, but InstallPlan {} failed ({}) and {why}",
                    draft.targets.get(name).map_or("", String::as_str),
                    plan.name(),
                    plan.message()
                ),
            }),
        },
    }
}
