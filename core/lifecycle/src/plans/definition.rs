//! The step that brings a CustomResourceDefinition.
//!
//! A CRD belongs to the whole cluster and its objects to its users: before one takes the place of
//! another, everything that could be lost is looked at.

use std::collections::{BTreeMap, BTreeSet};

use operon_install::{converts, is_reserved_group};
use operon_kinds::{InstallPlan, ServiceVersion, Step, StepStatus, names};
use operon_object::{
    Kind, Object,
    known::{self, OPERATORS_GROUP},
};
use operon_schema::{
    Definition, Finding, FindingKind, INSTALLED_ALONGSIDE_PREFIX, Severity, check_upgrade,
    installed_alongside,
};

use super::step::Outcome;
use crate::{
    Action, Authority, covers::covers, groups::target_namespaces, objects::component_labels,
    ownership::Claimant, scene::Scene,
};

/// Brings a CRD, or waits until it is served.
pub(super) fn step(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    step: Step<'_>,
    mut object: Object,
    outcome: &mut Outcome,
    before: impl Fn(&Object) -> StepStatus,
) -> StepStatus {
    object.value_mut().remove(&["status"]);
    // Owners and finalizers of a bundle would let it delete the CRD, or block its deletion.
    object.metadata_mut().remove("ownerReferences");
    object.metadata_mut().remove("finalizers");
    // Who uses it is noted here alone.
    without_notes(&mut object);
    let objects = scene.world.objects;
    let live = objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", object.name());
    let is_live = |namespace: &str, name: &str| {
        let operator = objects.get(&known::CLUSTER_SERVICE_VERSION, namespace, name);
        operator.is_some_and(|operator| !ServiceVersion::read(operator).is_copied())
    };
    let mut object = installed_alongside(&object, live, scene.namespace, step.resolving(), is_live);
    let claimant = Claimant::of_step(scene, plan, step);
    let is_converted = claimant.operator.as_ref().is_some_and(|csv| converts(csv, object.name()));
    if is_converted {
        // The installation of the operator says which webhook converts it.
        object.value_mut().remove(&["spec", "conversion"]);
    }
    let is_same = live.is_some_and(|live| is_same_definition(live, &object));
    let is_own = live.is_some_and(|live| is_own(scene, &claimant, live));
    if let Some(live) = live
        && is_same
        && !is_own
    {
        object = noted(live, &object);
    }
    if let Some(live) = live
        && is_same
        && (covers(live.at(&["metadata"]), object.at(&["metadata"])) || is_reserved(&object))
    {
        let is_served = Definition::read(live).is_ok_and(|definition| definition.is_established);
        return if is_served { before(live) } else { StepStatus::WaitingForApi };
    }
    // What is there already is not brought by the bundle.
    let foreign = || live.filter(|_| !is_same).and_then(|live| overwrites(scene, &claimant, live));
    let refusal = || refusal(&object, |name| creates_service(scene, plan, step, name));
    let refusal = if is_same { None } else { refusal() };
    if let Some(refusal) = refusal.or_else(foreign) {
        outcome.faults.push(refusal);
        return StepStatus::Unknown;
    }
    let Some(live) = live else {
        outcome.actions.push((scene.own.clone(), Action::Create(object)));
        return StepStatus::WaitingForApi;
    };
    // Who is noted beside a CRD changes often; only a change of its wishes can do harm.
    if !is_same && !look_for_harm(scene, plan, step, live, &object, outcome) {
        return StepStatus::Unknown;
    }
    let conversion = live.spec().get("conversion");
    if is_converted && !conversion.is_null() {
        object.set(&["spec", "conversion"], conversion.clone());
    }
    // Whoever brought it before stays its owner, and an administrator's word goes on counting.
    component_labels(live).for_each(|label| object.set_label(label, ""));
    if let Some(package) = live.annotation(names::ADOPT_ANNOTATION) {
        object.set_annotation(names::ADOPT_ANNOTATION, package);
    }
    for field in ["resourceVersion", "uid", "ownerReferences", "finalizers"] {
        let value = live.metadata(field);
        if !value.is_null() {
            object.metadata_mut().insert(field, value.clone());
        }
    }
    // What belongs to others changes only if the one who installs may change it. Noting who uses a CRD
    // changes nothing of it.
    let authority = if is_same || is_own { scene.own.clone() } else { scene.authority.clone() };
    outcome.actions.push((authority, Action::Update(object)));
    StepStatus::Present
}

fn is_reserved(object: &Object) -> bool {
    is_reserved_group(object.spec().get("group").str())
}

/// Returns `true` if the bundle of a step brings a Service, `namespace/name`.
fn creates_service(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    step: Step<'_>,
    wanted: (&str, &str),
) -> bool {
    let (namespace, name) = wanted;
    namespace == scene.namespace
        && plan.steps().any(|other| {
            other.resolving() == step.resolving()
                && other.api_kind().kind == known::SERVICE
                && other.name() == name
        })
}

/// Returns why a CRD is not written, whoever installs it.
fn refusal(object: &Object, creates_service: impl Fn((&str, &str)) -> bool) -> Option<String> {
    let (name, group) = (object.name(), object.spec().get("group").str());
    if group == OPERATORS_GROUP {
        return Some(format!(
            "CustomResourceDefinition {name} cannot be installed by a bundle: its group is Operon's own"
        ));
    }
    if is_reserved(object) {
        return Some(format!(
            "CustomResourceDefinition {name} cannot be installed by a bundle: group {group} is reserved \
             for Kubernetes; if you trust it, apply the bundle's CRD as an administrator first"
        ));
    }
    let conversion = object.spec().get("conversion");
    if conversion.get("strategy").str() != "Webhook" {
        return None;
    }
    let service = conversion.at(&["webhook", "clientConfig", "service"]);
    let service = (service.get("namespace").str(), service.get("name").str());
    (!creates_service(service)).then(|| {
        let (namespace, service) = service;
        format!(
            "CustomResourceDefinition {name} cannot be installed by a bundle: its spec.conversion sends \
             objects to Service {namespace}/{service}, which the bundle does not create here; if you \
             trust it, apply the bundle's CRD as an administrator first"
        )
    })
}

/// Returns why a CRD that exists is not replaced by another one: it was not brought for the operator's
/// package, in whatever namespace, and nobody handed it over.
fn overwrites(scene: &Scene<'_>, claimant: &Claimant, live: &Object) -> Option<String> {
    if is_of_claimant(claimant, live) {
        return None;
    }
    let name = live.name();
    let owner = owners(scene, live)
        .find(|owner| !claimant.is_family(owner.object.namespace(), owner.name()))
        .map_or_else(
            || "was not created by this operator".to_owned(),
            |owner| format!("belongs to {}", owner.object.key()),
        );
    let package = claimant.package();
    Some(format!(
        "CustomResourceDefinition {name} already exists with other contents and {owner}: to let the \
         operator update it, annotate it with {}={package}",
        names::ADOPT_ANNOTATION
    ))
}

/// Returns `true` if a plan of the claimant's package created a CRD, in whatever namespace, or an
/// administrator handed it over.
fn is_of_claimant(claimant: &Claimant, live: &Object) -> bool {
    claimant.is_of_package(live) || claimant.is_handed_over(live)
}

/// Returns `true` if an operator that is removed may end the conversion of a CRD.
pub(crate) fn may_end_conversion(claimant: &Claimant, live: &Object) -> bool {
    !is_reserved(live) && is_of_claimant(claimant, live)
}

/// Returns a CRD that belongs to others with the notes of who uses it.
fn noted(live: &Object, wanted: &Object) -> Object {
    let mut noted = live.clone();
    without_notes(&mut noted);
    for (name, operator) in notes(wanted) {
        noted.set_annotation(name, operator);
    }
    noted
}

fn notes(object: &Object) -> impl Iterator<Item = (&str, &str)> {
    object.annotations().filter(|(name, _)| name.starts_with(INSTALLED_ALONGSIDE_PREFIX))
}

fn without_notes(object: &mut Object) {
    let names: Vec<String> = notes(object).map(|(name, _)| name.to_owned()).collect();
    names.iter().for_each(|name| object.remove_annotation(name));
}

/// Returns `true` if Operon created a CRD for the claimant's package in this namespace, and no other
/// operator owns it. Writing its labels takes the permission to update the CRD.
pub(crate) fn is_own(scene: &Scene<'_>, claimant: &Claimant, live: &Object) -> bool {
    live.label(names::MANAGED_LABEL) == "true"
        && claimant.is_labelled(live)
        && owners(scene, live)
            .all(|owner| claimant.is_family(owner.object.namespace(), owner.name()))
}

/// Returns `true` if users may reach an API because an operator provides it: Operon created the CRD for
/// the operator's package. Where the controller installs, a CRD that was there before will do.
pub(crate) fn is_for_users(scene: &Scene<'_>, claimant: &Claimant, live: &Object) -> bool {
    let is_brought = live.label(names::MANAGED_LABEL) == "true" && claimant.is_of_package(live);
    !is_reserved(live) && (is_brought || scene.authority == Authority::Controller)
}

/// Returns why an operator must not set the conversion of a CRD.
pub(crate) fn conversion_refusal(
    scene: &Scene<'_>,
    claimant: &Claimant,
    live: &Object,
) -> Option<String> {
    let name = live.name();
    if is_reserved(live) {
        let group = live.spec().get("group").str();
        return Some(format!(
            "the conversion of CustomResourceDefinition {name} cannot be changed by an operator: group \
             {group} is reserved"
        ));
    }
    let is_foreign =
        |owner: &ServiceVersion<'_>| !claimant.is_family(owner.object.namespace(), owner.name());
    if let Some(owner) = owners(scene, live).find(is_foreign) {
        return Some(format!(
            "the conversion of CustomResourceDefinition {name} cannot be changed: {} owns it, too",
            owner.object.key()
        ));
    }
    (!is_of_claimant(claimant, live)).then(|| {
        format!(
            "the conversion of CustomResourceDefinition {name} cannot be changed: the CRD was not created \
             by this operator; to let the operator convert it, annotate it with {}={}",
            names::ADOPT_ANNOTATION,
            claimant.package()
        )
    })
}

/// Returns the operators of the cluster that own a CRD, and that a plan brought: a plan labels what it
/// creates, and notes who else uses it. That an operator says so itself proves nothing.
fn owners<'w>(scene: &Scene<'w>, live: &Object) -> impl Iterator<Item = ServiceVersion<'w>> {
    let labels: BTreeSet<String> = component_labels(live).map(str::to_owned).collect();
    let noted: BTreeSet<String> = notes(live).map(|(_, operator)| operator.to_owned()).collect();
    claiming(scene, live.name()).filter(move |operator| {
        let object = operator.object;
        noted.contains(&format!("{}/{}", object.namespace(), object.name()))
            || component_labels(object).any(|label| labels.contains(label))
    })
}

/// Returns the operators of the cluster that say they own a CRD.
fn claiming<'w>(scene: &Scene<'w>, name: &str) -> impl Iterator<Item = ServiceVersion<'w>> {
    let owns = move |operator: &ServiceVersion<'_>| {
        operator.owned_crds().iter().any(|crd| crd.get("name").str() == name)
    };
    let all = scene.world.objects.all(&known::CLUSTER_SERVICE_VERSION).map(ServiceVersion::read);
    all.filter(move |operator| !operator.is_copied() && owns(operator))
}

/// Tells whether a CRD wishes what another wishes. Versions are compared to the letter, because a schema
/// that says less is another one; elsewhere the API server fills in what was not said.
fn is_same_definition(live: &Object, wanted: &Object) -> bool {
    let rest = |object: &Object| {
        let mut spec = object.spec().clone();
        spec.remove(&["versions"]);
        spec
    };
    live.at(&["spec", "versions"]) == wanted.at(&["spec", "versions"])
        && covers(&rest(live), &rest(wanted))
}

/// Notes everything that would be lost; tells whether nothing would.
fn look_for_harm(
    scene: &Scene<'_>,
    plan: InstallPlan<'_>,
    step: Step<'_>,
    live: &Object,
    new: &Object,
    outcome: &mut Outcome,
) -> bool {
    let kind = Kind::new(live.spec().get("group").str(), live.spec().at(&["names", "kind"]).str());
    if !scene.world.seen.contains(&kind) {
        outcome.unseen.insert(kind);
        return false;
    }
    let objects: Vec<Object> = scene.world.objects.all(&kind).cloned().collect();
    let report = check_upgrade(live, new, &by_version(live, &objects));
    let waived = waived(scene, plan, step);
    let foreign = foreign_harm(scene, live, new, &objects);
    let has_outside_owners = has_outside_owners(scene, live.name());
    let mut is_harmless = true;
    for finding in &report.findings {
        let blocks = match finding.severity {
            // Upstream: with a conversion webhook an object that becomes invalid is only a warning. Which
            // webhook it is says the bundle, so it proves nothing.
            Severity::Blocks | Severity::Warns => true,
            // A version that goes away is nobody's business but the only owner's.
            Severity::Notes => {
                remaining_owners(scene, plan, live.name()) > 1
                    && matches!(finding.kind, FindingKind::ServedVersionRemoved { .. })
            }
        };
        // That a version goes away is no finding about an object: it concerns those who provide it.
        let is_foreign = foreign.contains(&finding.name())
            || (finding.severity == Severity::Notes && has_outside_owners);
        if !blocks || (waived.contains(finding.name().as_str()) && !is_foreign) {
            continue;
        }
        is_harmless = false;
        outcome.faults.push(match is_foreign {
            true => format!(
                "{finding} (it concerns objects outside the namespaces of this OperatorGroup, so it \
                 cannot be accepted here)"
            ),
            false => format!(
                "{finding} (to accept it, annotate the Subscription with {}={})",
                names::WAIVE_ANNOTATION,
                finding.name()
            ),
        });
    }
    is_harmless
}

/// Returns the names of the findings that concern objects outside the target namespaces: a Subscription
/// cannot accept the loss of what belongs to others.
fn foreign_harm(
    scene: &Scene<'_>,
    live: &Object,
    new: &Object,
    objects: &[Object],
) -> BTreeSet<String> {
    let targets = scene.group().map(|group| target_namespaces(scene.world, group));
    let targets = targets.unwrap_or_default();
    let is_foreign = |object: &&Object| {
        targets != [""] && !targets.iter().any(|target| target == object.namespace())
    };
    let foreign: Vec<Object> = objects.iter().filter(is_foreign).cloned().collect();
    if foreign.is_empty() {
        return BTreeSet::new();
    }
    let report = check_upgrade(live, new, &by_version(live, &foreign));
    report.findings.iter().map(Finding::name).collect()
}

/// Returns `true` if an operator outside the target namespaces owns a CRD.
fn has_outside_owners(scene: &Scene<'_>, name: &str) -> bool {
    let targets = scene.group().map(|group| target_namespaces(scene.world, group));
    let targets = targets.unwrap_or_default();
    targets != [""]
        && claiming(scene, name)
            .map(|owner| owner.object.namespace())
            .any(|home| home != scene.namespace && !targets.iter().any(|target| target == home))
}

/// Lists the objects of a CRD as each of its versions would.
fn by_version(live: &Object, objects: &[Object]) -> BTreeMap<String, Result<Vec<Object>, String>> {
    let versions = live.spec().get("versions").elements().iter();
    versions.map(|version| (version.get("name").str().to_owned(), Ok(objects.to_vec()))).collect()
}

/// Returns the findings that people accepted for the Subscriptions of a step's operator.
fn waived<'w>(scene: &Scene<'w>, plan: InstallPlan<'_>, step: Step<'_>) -> BTreeSet<&'w str> {
    let targets = plan.targets();
    let asking = scene.subscriptions.iter().filter(|subscription| {
        targets.get(subscription.name()).is_some_and(|target| target == step.resolving())
    });
    asking.flat_map(|subscription| subscription.waived()).collect()
}

/// Counts the operators of the cluster that own a CRD and stay when the plan is done.
fn remaining_owners(scene: &Scene<'_>, plan: InstallPlan<'_>, name: &str) -> usize {
    let arriving =
        plan.steps().filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION);
    let replaced: BTreeSet<&str> = arriving
        .filter_map(|step| Object::from_value(step.manifest().ok()?).ok())
        .filter_map(|operator| scene.replaced_by(&operator))
        .map(|replaced| replaced.name())
        .collect();
    let others = claiming(scene, name).filter(|operator| {
        let is_here = operator.object.namespace() == scene.namespace;
        let arrives = plan.operators().any(|name| name == operator.name());
        let goes = replaced.contains(operator.name());
        !(is_here && (arrives || goes))
    });
    others.count() + 1
}
