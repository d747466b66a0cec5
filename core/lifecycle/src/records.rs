//! What plans granted: the accounts and roles of an operator, as its newest completed plan holds them.
//!
//! A generation records the hash of these objects when its plan completes. Repair and lifting use the
//! plan's own objects, and only if they still have that hash. Rules are never computed from a live
//! ClusterServiceVersion, which its author may edit, and labels prove nothing.

use operon_kinds::{InstallPlan, PlanPhase};
use operon_object::{Kind, Object, Value, go_json, known, sha256_hex};
use operon_plan::{content_of, object_of};

use crate::{generations, scene::Scene};

/// The kinds that grant permissions.
const KINDS: [Kind; 5] = [
    known::SERVICE_ACCOUNT,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
];

/// The parts of an operator's manifest from which permissions on its APIs follow.
const API_FIELDS: [&str; 3] =
    ["customresourcedefinitions", "apiservicedefinitions", "webhookdefinitions"];

/// What a plan brings for an operator.
#[derive(Debug)]
pub(crate) struct Granted {
    /// The ClusterServiceVersion as the plan holds it.
    pub(crate) operator: Object,
    /// Its accounts and roles.
    pub(crate) objects: Vec<Object>,
}

impl Granted {
    /// Reads what a plan brings for an operator; nothing if a step is damaged.
    fn read(plan: InstallPlan<'_>, operator: &str) -> Option<Self> {
        let steps = || plan.steps().filter(|step| step.resolving() == operator);
        let granting = steps().filter(|step| KINDS.contains(&step.api_kind().kind));
        let objects: Option<Vec<Object>> = granting.map(|step| object_of(step).ok()).collect();
        let mut itself = steps().filter(|step| {
            step.name() == operator && step.api_kind().kind == known::CLUSTER_SERVICE_VERSION
        });
        Some(Self { operator: object_of(itself.next()?).ok()?, objects: objects? })
    }

    fn hash(&self) -> String {
        let objects = self.objects.iter().map(|object| object.value().clone());
        let spec = self.operator.spec();
        let apis = API_FIELDS.iter().map(|field| spec.get(field).clone());
        sha256_hex(go_json(&Value::list(objects.chain(apis))))
    }
}

/// Hashes what a plan grants an operator; nothing if the plan was edited.
pub(crate) fn permissions_hash(plan: InstallPlan<'_>, operator: &str) -> Option<String> {
    Granted::read(plan, operator).filter(|_| is_unedited(plan)).map(|granted| granted.hash())
}

/// Returns `true` if a plan still holds what it was created with.
pub(crate) fn is_unedited(plan: InstallPlan<'_>) -> bool {
    content_of(plan).is_ok_and(|content| content == plan.content())
}

/// Returns what the newest completed plan of an operator granted, if that plan still exists and holds
/// what its generation recorded.
pub(crate) fn granted(scene: &Scene<'_>, operator: &str) -> Option<Granted> {
    let completed = plans_of(scene, operator)
        .filter(|plan| plan.phase() == PlanPhase::Complete && plan.is_approved());
    let newest = completed.max_by_key(|plan| (plan.generation(), plan.name()))?;
    let recorded = generations::recorded_permissions(scene, newest, operator)?;
    Granted::read(newest, operator).filter(|granted| granted.hash() == recorded)
}

/// Returns a ClusterServiceVersion as the newest plan of the operator holds it, if that plan was not
/// edited. It may not be completed yet.
pub(crate) fn planned_operator(scene: &Scene<'_>, operator: &str) -> Option<Object> {
    let plans = plans_of(scene, operator).filter(|plan| plan.is_approved());
    let newest = plans.max_by_key(|plan| (plan.generation(), plan.name()))?;
    let granted = Granted::read(newest, operator).filter(|_| is_unedited(newest))?;
    Some(granted.operator)
}

fn plans_of<'s, 'w>(
    scene: &'s Scene<'w>,
    operator: &'s str,
) -> impl Iterator<Item = InstallPlan<'w>> + use<'s, 'w> {
    let plans = scene.plans.iter().copied();
    plans.filter(move |plan| plan.operators().any(|name| name == operator))
}
