//! The steps of a plan: what each still has to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use operon_install::{has_reserved_name, label_owner_key, step_handling};
use operon_kinds::{InstallPlan, Step, StepStatus, names};
use operon_object::{
    ApiKind, Kind, Object, ObjectKey, Timestamp, Value,
    known::{self, KNOWN_KINDS},
};

use operon_plan::object_of;

use super::{
    definition,
    execute::{owner_of, with_status},
};
use crate::{
    Action, Authority, covers::covers, ownership::Claimant, scene::Scene, service_versions,
    watched::is_watched_whole,
};

/// What is left of a plan.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The steps as they are after the actions.
    pub(super) steps: Vec<Value>,
    /// What is to be done and on whose authority, in order.
    pub(super) actions: Vec<(Authority, Action)>,
    /// Why the plan cannot be carried out.
    pub(super) faults: Vec<String>,
    /// What people should know although it stops nothing: in a word, and in a sentence.
    pub(super) warnings: Vec<(&'static str, String)>,
    /// Objects that are not seen, and must not belong to others.
    pub(super) unseen_objects: BTreeMap<ObjectKey, Arc<Claimant>>,
    /// The kinds whose objects have to be seen before a step can be done.
    pub(super) unseen: BTreeSet<Kind>,
}

/// Works out what is left of a plan that was begun at a time.
pub(super) fn steps(scene: &Scene<'_>, plan: InstallPlan<'_>, started: Timestamp) -> Outcome {
    let mut outcome = Outcome { faults: brought_twice(scene, plan), ..Outcome::default() };
    for step in plan.steps() {
        let status = match step.status() {
            done
            @ (StepStatus::Present | StepStatus::Created | StepStatus::UnsupportedResource) => done,
            StepStatus::Unknown | StepStatus::NotPresent | StepStatus::WaitingForApi => {
                look_at(scene, plan, step, started, &mut outcome)
            }
        };
        outcome.steps.push(with_status(step.value, status));
    }
    outcome
}

/// Says which objects two operators of a plan bring: one would overwrite the other's.
fn brought_twice(scene: &Scene<'_>, plan: InstallPlan<'_>) -> Vec<String> {
    let shared =
        [known::CLUSTER_SERVICE_VERSION, known::SUBSCRIPTION, known::CUSTOM_RESOURCE_DEFINITION];
    let mut bringing: BTreeMap<ObjectKey, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    for step in plan.steps() {
        let kind = object_kind(step);
        if shared.contains(&kind) {
            continue;
        }
        let is_namespaced = is_namespaced(scene, &kind).unwrap_or(true);
        let key = kind.key(if is_namespaced { scene.namespace } else { "" }, step.name());
        let first = *bringing.entry(key.clone()).or_insert(step.resolving());
        if first != step.resolving() {
            faults.push(format!(
                "both {first} and {} bring {key}: install them in different namespaces, or only one of them",
                step.resolving()
            ));
        }
    }
    faults
}

fn look_at(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    step: Step<'_>,
    started: Timestamp,
    outcome: &mut Outcome,
) -> StepStatus {
    let kind = object_kind(step);
    let step_kind_name = step.value.at(&["resource", "kind"]).str();
    let object = match object_of(step) {
        Ok(mut object) => {
            // Authors leave `creationTimestamp: null` behind, and nothing on a cluster has it.
            object.forget_server_metadata();
            object
        }
        Err(error) => {
            outcome.faults.push(error);
            return StepStatus::Unknown;
        }
    };
    let since = plan.object.created().filter(|_| counts_from_its_creation(plan));
    let since = whole_second(since.unwrap_or(started));
    let before = |live: &Object| {
        let is_new = live.created().is_some_and(|created| created >= since);
        if is_new { StepStatus::Created } else { StepStatus::Present }
    };
    if has_reserved_name(&object) {
        outcome.faults.push(format!(
            "{} {} cannot be installed by a bundle: names that begin with `system:` are reserved for the \
             cluster",
            kind.name(),
            step.name()
        ));
        return StepStatus::Unknown;
    }
    if !is_served(scene, &object.api_kind()) {
        outcome.faults.push(not_served(&kind, step));
        return StepStatus::Unknown;
    }
    if kind == known::CUSTOM_RESOURCE_DEFINITION {
        return definition::step(scene, plan, step, object, outcome, before);
    }
    if kind == known::CLUSTER_SERVICE_VERSION || kind == known::SUBSCRIPTION {
        return create_once(scene, plan, object, outcome, before);
    }
    if is_custom_resource(&object) {
        // Upstream takes it for the kind of the same name that it knows, and writes an empty one.
        let message = format!(
            "{} {} of group {} is left out: a bundle brings no custom resources",
            kind.name(),
            step.name(),
            object.kind().group()
        );
        outcome.warnings.push(("LeftOut", message));
        return StepStatus::UnsupportedResource;
    }
    if step_handling(step_kind_name).is_none() {
        outcome.faults.push(format!(
            "{} {} cannot be installed by a bundle: the kind is not supported",
            kind.name(),
            step.name()
        ));
        return StepStatus::Unknown;
    }
    if is_namespaced(scene, &kind).is_none() {
        outcome.faults.push(not_served(&kind, step));
        return StepStatus::Unknown;
    }
    ensure(scene, plan, step, object, outcome, before)
}

/// Tells whether everything since a plan was made counts as its work: nobody was asked in between.
pub(super) fn counts_from_its_creation(plan: InstallPlan<'_>) -> bool {
    plan.object.spec().get("approval").str() == "Automatic"
}

/// Tells whether the cluster still has a kind of its own in a version. What it says nothing about may come.
fn is_served(scene: &Scene<'_>, wanted: &ApiKind) -> bool {
    let (group, name) = (wanted.kind.group(), wanted.kind.name());
    let native = scene.world.settings.native_apis.iter().flatten();
    let mut versions = native.filter(|api| api.group == group && api.kind == name).peekable();
    versions.peek().is_none() || versions.any(|api| api.version == wanted.version)
}

fn not_served(kind: &Kind, step: Step<'_>) -> String {
    format!(
        "api-server resource not found installing {} {}: GroupVersionKind {}, Kind={} not found on the cluster. \
         This API may have been deprecated and removed, see \
         https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information.",
        kind.name(),
        step.name(),
        step.api_kind().api_version(),
        kind.name()
    )
}

/// Tells whether an object only has the name of a kind that bundles bring, such as the `Role` of a cloud.
fn is_custom_resource(object: &Object) -> bool {
    let kind = object.kind();
    let mut namesakes = KNOWN_KINDS.iter().filter(|known| known.kind.name() == kind.name());
    step_handling(kind.name()).is_some()
        && namesakes.clone().next().is_some()
        && !namesakes.any(|known| known.kind == kind)
}

/// Makes an operator or a Subscription; one that is there is left as it is.
fn create_once(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    mut object: Object,
    outcome: &mut Outcome,
    before: impl Fn(&Object) -> StepStatus,
) -> StepStatus {
    object.set_namespace(scene.namespace);
    if let Some(live) = scene.world.objects.find(&object.key()) {
        return before(live);
    }
    if object.kind() == known::SUBSCRIPTION {
        let package = object.spec().get("name").str();
        if scene.subscriptions.iter().any(|other| other.package() == package) {
            // Somebody has subscribed to the dependency meanwhile.
            return StepStatus::Present;
        }
        object.set_annotation(names::GENERATED_BY_ANNOTATION, plan.name());
    } else {
        service_versions::prepare(scene, &mut object);
    }
    outcome.actions.push((scene.own.clone(), Action::Create(object)));
    StepStatus::Created
}

/// An object as its operator owns it.
#[derive(Debug)]
pub(crate) enum OwnedObject {
    /// It can be written.
    Ready(Object),
    /// Its operator does not exist yet.
    WithoutOwner,
}

/// Returns an object of a plan in its place, marked as an operator's.
pub(crate) fn as_owned(scene: &Scene<'_>, operator: &str, mut object: Object) -> OwnedObject {
    object.set_label(names::MANAGED_LABEL, "true");
    if is_namespaced(scene, &object.kind()).unwrap_or(true) {
        object.set_namespace(scene.namespace);
        let Some(owner) = owner_of(scene, operator) else { return OwnedObject::WithoutOwner };
        object.value_mut().remove(&["metadata", "ownerReferences"]);
        object.add_owner(&owner);
    } else {
        object.value_mut().remove(&["metadata", "namespace"]);
        object.value_mut().remove(&["metadata", "ownerReferences"]);
        label_owner_key(
            &mut object,
            &known::CLUSTER_SERVICE_VERSION.key(scene.namespace, operator),
        );
    }
    OwnedObject::Ready(object)
}

/// Makes an object be there as the bundle has it.
fn ensure(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    step: Step<'_>,
    object: Object,
    outcome: &mut Outcome,
    before: impl Fn(&Object) -> StepStatus,
) -> StepStatus {
    let is_namespaced = is_namespaced(scene, &object.kind()).unwrap_or(true);
    let namespace = if is_namespaced { scene.namespace } else { "" };
    let key = object.kind().key(namespace, object.name());
    let live = scene.world.objects.find(&key);
    if live.is_none() && !is_watched_whole(&object.kind()) {
        let claimant = Arc::new(Claimant::of_step(scene, plan, step));
        outcome.unseen_objects.insert(key, claimant);
    }
    // Asked before its owner is created: a plan that is refused leaves nothing behind.
    if let Some(refusal) = live.and_then(|live| Claimant::of_step(scene, plan, step).refusal(live))
    {
        outcome.faults.push(refusal);
        return StepStatus::Unknown;
    }
    let mut object = match as_owned(scene, step.resolving(), object) {
        OwnedObject::Ready(object) => object,
        // Its owner was created just now; its identity is seen in the next world.
        OwnedObject::WithoutOwner => return StepStatus::Unknown,
    };
    if let Some(live) = live {
        if object.kind() == known::SERVICE_ACCOUNT {
            // A service account is shared by the old and the new operator until the old one is gone.
            live.owners().for_each(|owner| object.add_owner(&owner));
        }
        if covers(live.value(), object.value()) {
            return before(live);
        }
    }
    let status = live.map_or(StepStatus::Created, before);
    outcome.actions.push((scene.authority.clone(), Action::Apply(object)));
    status
}

/// Returns the kind of the object that a step makes: Secrets of bundles have a name of their own
/// in plans.
fn object_kind(step: Step<'_>) -> Kind {
    let kind = step.api_kind().kind;
    if kind.name() == operon_install::BUNDLE_SECRET_KIND { known::SECRET } else { kind }
}

fn is_namespaced(scene: &Scene<'_>, kind: &Kind) -> Option<bool> {
    if let Some(known) = known::known_kind(kind) {
        return Some(known.is_namespaced);
    }
    let definitions = scene.world.objects.all(&known::CUSTOM_RESOURCE_DEFINITION);
    let mut found = definitions.filter(|definition| {
        let spec = definition.spec();
        spec.get("group").str() == kind.group() && spec.at(&["names", "kind"]).str() == kind.name()
    });
    found.next().map(|definition| definition.spec().get("scope").str() == "Namespaced")
}

/// Objects carry whole seconds: what was made in the same second may have been made just before.
fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_milliseconds(time.milliseconds().div_euclid(1000) * 1000)
}
