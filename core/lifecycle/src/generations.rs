//! The generations of a namespace: what changed, when and why.
//!
//! A generation is written once, when its plan has come to an end, and outlives the plan. It is a
//! ControllerRevision, the kind that clusters have for exactly this.

use operon_kinds::{InstallPlan, PlanPhase, names};
use operon_object::{Object, Value, known, map};

use crate::{Action, Verdict, scene::Scene};

/// Marks the ControllerRevisions that are generations.
pub const GENERATION_LABEL: &str = "operon.dev/generation";

/// Writes down the generations whose plans have come to an end, and forgets the oldest.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    for plan in scene.plans.iter().filter(|plan| plan.is_finished()) {
        let name = name_of(*plan);
        if scene.world.objects.get(&known::CONTROLLER_REVISION, scene.namespace, &name).is_none() {
            let object = lift(scene, *plan, &name);
            verdict.act(&object.key(), Action::Create(object));
        }
    }
    let mut known: Vec<&Object> = of_namespace(scene).collect();
    known.sort_by_key(|object| object.at(&["revision"]).as_integer());
    let surplus = known.len().saturating_sub(scene.world.settings.kept_generations);
    for object in &known[..surplus] {
        verdict.act(&object.key(), Action::DeleteUnchanged((*object).clone()));
    }
}

fn of_namespace<'w>(scene: &Scene<'w>) -> impl Iterator<Item = &'w Object> {
    let revisions = scene.world.objects.within(&known::CONTROLLER_REVISION, scene.namespace);
    revisions.filter(|object| !object.label(GENERATION_LABEL).is_empty())
}

fn name_of(plan: InstallPlan<'_>) -> String {
    // Independent plans that are made in the same moment share a generation.
    let digits = plan.name().rsplit('-').next().unwrap_or_default();
    format!("operon-generation-{}-{digits}", plan.generation())
}

fn lift(scene: &Scene<'_>, plan: InstallPlan<'_>, name: &str) -> Object {
    let mut object = Object::new("apps/v1", "ControllerRevision", scene.namespace, name);
    object.set_label(GENERATION_LABEL, "true");
    object.set_label(names::MANAGED_LABEL, "true");
    object.set(&["revision"], plan.generation());
    let changes =
        plan.steps().filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION);
    let changes = changes.map(|step| {
        let manifest = Value::parse_json(step.manifest()).unwrap_or_default();
        let resource = step.value.get("resource");
        map! {
            "name" => step.name(),
            "version" => manifest.at(&["spec", "version"]).clone(),
            "replaces" => manifest.at(&["spec", "replaces"]).clone(),
            "catalog" => format!(
                "{}/{}",
                resource.get("sourceNamespace").str(),
                resource.get("sourceName").str()
            ),
        }
    });
    let data = map! {
        "plan" => plan.name(),
        "approval" => plan.object.spec().get("approval").clone(),
        "because" => plan.object.annotation(names::BECAUSE_ANNOTATION).unwrap_or_default(),
        "outcome" => if plan.phase() == PlanPhase::Failed { "failed" } else { "done" },
        "message" => plan.message(),
        "when" => scene.world.now,
        "changes" => Value::list(changes),
    };
    object.set(&["data"], data);
    object
}
