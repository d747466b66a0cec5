//! What a Subscription says about its InstallPlan.

use operon_kinds::{Condition, InstallPlan, PlanPhase, condition, remove_condition, set_condition};
use operon_object::Value;

use crate::scene::Scene;

/// Tells whether the plan that a status refers to has failed.
pub(super) fn failed(scene: &Scene<'_>, status: &Value) -> bool {
    referred(scene, status).is_some_and(|plan| plan.phase() == PlanPhase::Failed)
}

/// Projects the plan that a status refers to onto the Subscription's conditions.
pub(super) fn note(scene: &Scene<'_>, status: &mut Value) {
    let name = status.at(&["installPlanRef", "name"]).str().to_owned();
    let said = match referred(scene, status) {
        _ if name.is_empty() => None,
        None => Some(Condition::new(
            "InstallPlanMissing",
            true,
            "ReferencedInstallPlanNotFound",
            format!("InstallPlan {name} is not there any more"),
        )),
        Some(plan) => condition_of(plan),
    };
    for kind in ["InstallPlanMissing", "InstallPlanPending", "InstallPlanFailed"] {
        match &said {
            Some(condition) if condition.kind == kind => {
                set_condition(status, condition, scene.world.now);
            }
            _ => {
                remove_condition(status, kind);
            }
        }
    }
}

fn referred<'w>(scene: &Scene<'w>, status: &Value) -> Option<InstallPlan<'w>> {
    scene.plan(status.at(&["installPlanRef", "name"]).str())
}

fn condition_of(plan: InstallPlan<'_>) -> Option<Condition> {
    let installed = condition(plan.object.status(), "Installed");
    let message = match installed.get("message").str() {
        "" => plan.message(),
        message => message,
    };
    let pending = |reason| Some(Condition::new("InstallPlanPending", true, reason, message));
    match plan.phase() {
        PlanPhase::None => pending("InstallPlanNotYetReconciled"),
        PlanPhase::RequiresApproval | PlanPhase::Installing => pending(plan.phase().text()),
        PlanPhase::Failed => {
            let reason = installed.get("reason").as_text().unwrap_or("InstallPlanFailed");
            Some(Condition::new("InstallPlanFailed", true, reason, message))
        }
        PlanPhase::Complete => None,
    }
}
