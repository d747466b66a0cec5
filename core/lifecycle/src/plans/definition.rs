//! The step that brings a CustomResourceDefinition.
//!
//! A CRD belongs to the whole cluster and its objects to its users: before one takes the place of
//! another, everything that could be lost is looked at.

use std::collections::{BTreeMap, BTreeSet};

use operon_kinds::{InstallPlan, ServiceVersion, Step, StepStatus, names};
use operon_object::{Kind, Object, known};
use operon_schema::{Definition, FindingKind, Severity, check_upgrade, installed_alongside};

use super::step::Outcome;
use crate::{Action, covers::covers, scene::Scene};

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
    let objects = scene.world.objects;
    let live = objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", object.name());
    let is_live = |namespace: &str, name: &str| {
        let operator = objects.get(&known::CLUSTER_SERVICE_VERSION, namespace, name);
        operator.is_some_and(|operator| !ServiceVersion::read(operator).is_copied())
    };
    let mut object = installed_alongside(&object, live, scene.namespace, step.resolving(), is_live);
    let Some(live) = live else {
        outcome.actions.push(Action::Create(object));
        return StepStatus::WaitingForApi;
    };
    let is_same = is_same_definition(live, &object);
    if is_same && covers(live.at(&["metadata"]), object.at(&["metadata"])) {
        let is_served = Definition::read(live).is_ok_and(|definition| definition.is_established);
        return if is_served { before(live) } else { StepStatus::WaitingForApi };
    }
    // Who is noted beside a CRD changes often; only a change of its wishes can do harm.
    if !is_same && !look_for_harm(scene, plan, step, live, &object, outcome) {
        return StepStatus::Unknown;
    }
    object.metadata_mut().insert("resourceVersion", live.resource_version());
    object.metadata_mut().insert("uid", live.uid());
    outcome.actions.push(Action::Update(object));
    StepStatus::Present
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
    let versions = live.spec().get("versions").elements().iter();
    let existing: BTreeMap<String, Result<Vec<Object>, String>> = versions
        .map(|version| (version.get("name").str().to_owned(), Ok(objects.clone())))
        .collect();
    let report = check_upgrade(live, new, &existing);
    let waived = waived(scene, plan, step);
    let mut is_harmless = true;
    for finding in &report.findings {
        let blocks = match finding.severity {
            Severity::Blocks => true,
            Severity::Warns => false,
            // A version that goes away is nobody's business but the only owner's.
            Severity::Notes => {
                owners(scene, plan, live.name()) > 1
                    && matches!(finding.kind, FindingKind::ServedVersionRemoved { .. })
            }
        };
        if waived.contains(finding.name().as_str()) {
            continue;
        }
        if blocks {
            is_harmless = false;
            outcome.faults.push(format!(
                "{} (to accept it, annotate the Subscription with {}={})",
                finding,
                names::WAIVE_ANNOTATION,
                finding.name()
            ));
        } else if finding.severity == Severity::Warns {
            outcome.warnings.push(("CRDValidation", finding.to_string()));
        }
    }
    is_harmless
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
fn owners(scene: &Scene<'_>, plan: InstallPlan<'_>, name: &str) -> usize {
    let owns = |operator: &ServiceVersion<'_>| {
        operator.owned_crds().iter().any(|crd| crd.get("name").str() == name)
    };
    let arriving =
        plan.steps().filter(|step| step.api_kind().kind == known::CLUSTER_SERVICE_VERSION);
    let replaced: BTreeSet<String> = arriving
        .filter_map(|step| step.manifest().ok())
        .map(|manifest| manifest.at(&["spec", "replaces"]).str().to_owned())
        .collect();
    let all = scene.world.objects.all(&known::CLUSTER_SERVICE_VERSION).map(ServiceVersion::read);
    let others =
        all.filter(|operator| !operator.is_copied() && owns(operator)).filter(|operator| {
            let is_here = operator.object.namespace() == scene.namespace;
            let arrives = plan.operators().any(|name| name == operator.name());
            let goes = replaced.contains(operator.name());
            !(is_here && (arrives || goes))
        });
    others.count() + 1
}
