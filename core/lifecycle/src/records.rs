//! What plans granted: the accounts and roles of an operator, as its newest completed plan holds them.
//!
//! A generation records the hash of these objects when its plan completes. Repair and lifting use the
//! plan's own objects, and only if they still have that hash. Rules are never computed from a live
//! ClusterServiceVersion, which its author may edit, and labels prove nothing.

use operon_kinds::{InstallPlan, PlanPhase};
use operon_object::{Kind, Object, Value, go_json, known, sha256_hex};
use operon_plan::object_of;

use crate::{generations, scene::Scene};

/// The kinds that grant permissions.
const KINDS: [Kind; 5] = [
    known::SERVICE_ACCOUNT,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
];

/// Returns the accounts and roles that a plan brings for an operator; nothing if a step is damaged.
fn planned(plan: InstallPlan<'_>, operator: &str) -> Option<Vec<Object>> {
    let steps = plan.steps().filter(|step| step.resolving() == operator);
    let granting = steps.filter(|step| KINDS.contains(&step.api_kind().kind));
    granting.map(|step| object_of(step).ok()).collect()
}

/// Hashes the accounts and roles that a plan brings for an operator.
pub(crate) fn permissions_hash(plan: InstallPlan<'_>, operator: &str) -> Option<String> {
    Some(hash(&planned(plan, operator)?))
}

fn hash(objects: &[Object]) -> String {
    sha256_hex(go_json(&Value::list(objects.iter().map(|object| object.value().clone()))))
}

/// Returns the accounts and roles that the newest completed plan of an operator granted, if that plan
/// still exists and holds what its generation recorded.
pub(crate) fn granted(scene: &Scene<'_>, operator: &str) -> Option<Vec<Object>> {
    let bringing = scene.plans.iter().filter(|plan| {
        plan.phase() == PlanPhase::Complete && plan.operators().any(|name| name == operator)
    });
    let newest = bringing.max_by_key(|plan| (plan.generation(), plan.name()))?;
    let recorded = generations::recorded_permissions(scene, *newest, operator)?;
    planned(*newest, operator).filter(|objects| hash(objects) == recorded)
}
