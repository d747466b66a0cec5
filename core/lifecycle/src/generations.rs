//! The generations of a namespace: what changed, when and why.
//!
//! A generation is written once, when its plan has come to an end or an operator goes, and outlives
//! them. It is a ControllerRevision, the kind that clusters have for exactly this. What it says is
//! never changed; that an operator failed later is noted beside it.

use std::collections::BTreeSet;

use operon_kinds::{InstallPlan, Phase, PlanPhase, ServiceVersion, names};
use operon_object::{Object, Value, fnv64_hex, known, list, map};

use crate::{Action, Verdict, records, scene::Scene};

/// Marks the ControllerRevisions that are generations.
pub const GENERATION_LABEL: &str = "operon.dev/generation";

/// On a generation: when and why an operator that it brought failed after its plan was done.
pub const FAILED_LATER_ANNOTATION: &str = "operon.dev/failed-later";

/// Writes down the generations whose plans have come to an end, and forgets the oldest of those whose
/// plans are gone.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    for plan in scene.plans.iter().filter(|plan| plan.is_finished()) {
        let name = name_of(*plan);
        if scene.world.objects.get(&known::CONTROLLER_REVISION, scene.namespace, &name).is_none() {
            let object = lift(scene, *plan, &name);
            verdict.act(&scene.own, &object.key(), Action::Create(object));
        }
    }
    let mut known: Vec<&Object> = of_namespace(scene).collect();
    known.sort_by_key(|object| object.at(&["revision"]).as_integer());
    note_failures(scene, &known, verdict);
    // The record of a plan that still exists would be created again at once, and repair needs it.
    let plans: BTreeSet<String> = scene.plans.iter().map(|plan| name_of(*plan)).collect();
    let past: Vec<&Object> =
        known.into_iter().filter(|object| !plans.contains(object.name())).collect();
    let surplus = past.len().saturating_sub(scene.world.settings.kept_generations);
    for object in &past[..surplus] {
        verdict.act(&scene.own, &object.key(), Action::DeleteUnchanged((*object).clone()));
    }
}

/// Returns the number of the newest generation that was written down; 0 before the first.
pub(crate) fn newest(scene: &Scene<'_>) -> i64 {
    of_namespace(scene)
        .filter_map(|object| object.at(&["revision"]).as_integer())
        .max()
        .unwrap_or(0)
}

/// Returns the hash of the accounts and roles that a completed plan granted to an operator.
pub(crate) fn recorded_permissions<'w>(
    scene: &Scene<'w>,
    plan: InstallPlan<'_>,
    operator: &str,
) -> Option<&'w str> {
    let revision = known::CONTROLLER_REVISION;
    let generation = scene.world.objects.get(&revision, scene.namespace, &name_of(plan))?;
    let data = generation.at(&["data"]);
    if data.get("plan").str() != plan.name() || data.get("outcome").str() != "done" {
        return None;
    }
    let mut changes = data.get("changes").elements().iter();
    let change = changes.find(|change| change.get("name").str() == operator)?;
    change.get("permissions").as_text().filter(|hash| !hash.is_empty())
}

/// Writes down that an operator goes for good. Whether that can be written keeps nobody from going.
pub(crate) fn note_removal(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    generation: i64,
    verdict: &mut Verdict,
) {
    let is_replaced = matches!(operator.phase(), Phase::Replacing | Phase::Deleting)
        || scene.replacing(operator.name()).next().is_some();
    let home = scene.world.objects.get(&known::NAMESPACE, "", scene.namespace);
    if is_replaced || home.is_none_or(Object::is_deleting) {
        return;
    }
    // Named by the identity, so that it is written once however often it is tried.
    let name = format!("operon-generation-removed-{}", fnv64_hex(operator.object.uid()));
    if scene.world.objects.get(&known::CONTROLLER_REVISION, scene.namespace, &name).is_some() {
        return;
    }
    let because = match scene.subscription_of(operator.name()) {
        Some(subscription) => {
            format!("somebody deleted it; Subscription {} is still there", subscription.name())
        }
        None => "somebody deleted it".to_owned(),
    };
    let mut object = begin(scene, &name, generation);
    let removed = map! { "name" => operator.name(), "version" => operator.version_text() };
    let data = map! {
        "because" => because,
        "outcome" => "done",
        "when" => scene.world.now,
        "removed" => list![removed],
    };
    object.set(&["data"], data);
    verdict.act(&scene.own, &object.key(), Action::Create(object));
}

/// Notes beside the newest generation that brought an operator that it failed; the first time counts.
fn note_failures(scene: &Scene<'_>, known: &[&Object], verdict: &mut Verdict) {
    let failed = scene.operators.iter().filter(|operator| operator.phase() == Phase::Failed);
    for operator in failed {
        let brings = |object: &&&Object| {
            let changes = object.at(&["data", "changes"]).elements();
            changes.iter().any(|change| change.get("name").str() == operator.name())
        };
        let Some(generation) = known.iter().rev().find(brings) else { continue };
        let is_done = generation.at(&["data", "outcome"]).str() == "done";
        if !is_done || generation.annotation(FAILED_LATER_ANNOTATION).is_some() {
            continue;
        }
        let (name, reason, message) = (operator.name(), operator.reason(), operator.message());
        let note = format!("{} {name}: {reason}: {message}", scene.world.now);
        let mut changed = (*generation).clone();
        changed.set_annotation(FAILED_LATER_ANNOTATION, &note);
        verdict.act(&scene.own, &changed.key(), Action::Update(changed));
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

fn begin(scene: &Scene<'_>, name: &str, generation: i64) -> Object {
    let mut object = Object::new("apps/v1", "ControllerRevision", scene.namespace, name);
    object.set_label(GENERATION_LABEL, "true");
    object.set_label(names::MANAGED_LABEL, "true");
    object.set(&["revision"], generation);
    object
}

/// Names the operator that one of a plan took the place of. What a catalog says it replaces need never
/// have run here.
fn replaced<'p>(scene: &Scene<'_>, plan: InstallPlan<'p>, named: &'p str) -> &'p str {
    if let Some(from) = plan.object.annotation(names::ROLLBACK_ANNOTATION) {
        return from;
    }
    let mut earlier: Vec<&Object> = of_namespace(scene)
        .filter(|object| object.at(&["revision"]).as_integer() < Some(plan.generation()))
        .collect();
    earlier.sort_by_key(|object| object.at(&["revision"]).as_integer());
    let last = earlier.iter().rev().find_map(|object| {
        let data = object.at(&["data"]);
        let has = |list: &str| {
            data.get(list).elements().iter().any(|change| change.get("name").str() == named)
        };
        let has_brought = has("changes") && data.get("outcome").str() == "done";
        (has_brought || has("removed")).then_some(has_brought)
    });
    let has_run = scene.operator(named).is_some() || last == Some(true);
    if has_run { named } else { "" }
}

fn lift(scene: &Scene<'_>, plan: InstallPlan<'_>, name: &str) -> Object {
    let mut object = begin(scene, name, plan.generation());
    let changes =
        plan.steps().filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION);
    let changes = changes.map(|step| {
        let manifest = step.manifest().unwrap_or_default();
        let resource = step.value.get("resource");
        map! {
            "name" => step.name(),
            "version" => manifest.at(&["spec", "version"]).clone(),
            "replaces" => replaced(scene, plan, manifest.at(&["spec", "replaces"]).str()),
            "permissions" => records::permissions_hash(plan, step.name()).unwrap_or_default(),
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
