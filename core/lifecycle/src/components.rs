//! Operators as people count them: a package in a namespace, and everything that belongs to it.
//!
//! What Operon makes carries the label from the beginning; only what people made is labelled here.

use std::{collections::BTreeSet, time::Duration};

use operon_install::{COMPONENT_LABEL_PREFIX, can_be_labelled, component_label};
use operon_kinds::{Phase, ServiceVersion};
use operon_object::{Object, Timestamp, Value, known, list, map};

use crate::{Action, Verdict, objects::component_labels, scene::Scene};

/// How long an operator may be on its way before its summary says so. Most arrive sooner, and then it is
/// written once.
const ARRIVAL: Duration = Duration::from_secs(3);

/// Labels Subscriptions, and keeps an Operator object for every package of a namespace.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    let asking = scene.subscriptions.iter();
    for subscription in asking.filter(|subscription| can_be_labelled(subscription.package())) {
        let label = component_label(subscription.package(), scene.namespace);
        if !subscription.object.metadata("labels").as_map().is_some_and(|map| map.contains(&label))
        {
            let mut changed = subscription.object.clone();
            changed.set_label(&label, "");
            verdict.act(&scene.own, &subscription.object.key(), Action::Update(changed));
        }
    }
    label_adopted(scene, verdict);
    let asked = scene.subscriptions.iter().map(|subscription| subscription.object);
    let running = scene.operators.iter().map(|operator| operator.object);
    let labels: BTreeSet<&str> = asked.chain(running).flat_map(component_labels).collect();
    for label in &labels {
        keep(scene, label, verdict);
    }
}

/// Labels operators that a user created and that a Subscription adopted, so that updates of the package may
/// replace them.
fn label_adopted(scene: &Scene<'_>, verdict: &mut Verdict) {
    let is_of_none = |operator: &&ServiceVersion<'_>| {
        !operator.object.is_deleting() && component_labels(operator.object).next().is_none()
    };
    for operator in scene.operators.iter().filter(is_of_none) {
        let Some(subscription) = scene.subscription_of(operator.name()) else { continue };
        if can_be_labelled(subscription.package()) {
            let mut changed = operator.object.clone();
            changed.set_label(&component_label(subscription.package(), scene.namespace), "");
            verdict.act(&scene.own, &operator.object.key(), Action::Update(changed));
        }
    }
}

/// Removes the Operator objects of packages that nothing is left of.
pub(crate) fn clean_up(scene: &Scene<'_>, verdict: &mut Verdict) {
    let here = scene.world.objects.owned_from(scene.namespace);
    for object in here.filter(|object| object.kind() == known::OPERATOR && !object.is_deleting()) {
        let label = format!("{COMPONENT_LABEL_PREFIX}{}", object.name());
        if scene.world.objects.components(&label).next().is_none() {
            verdict.act(&scene.own, &object.key(), Action::DeleteUnchanged(object.clone()));
        }
    }
}

fn keep(scene: &Scene<'_>, label: &str, verdict: &mut Verdict) {
    let Some(name) = label.strip_prefix(COMPONENT_LABEL_PREFIX) else { return };
    let Some(live) = scene.world.objects.get(&known::OPERATOR, "", name) else {
        let object = Object::new("operators.coreos.com/v1", "Operator", "", name);
        verdict.act_at_rest(&scene.own, &object.key(), Action::Create(object));
        return;
    };
    let arrivals = scene.world.objects.components(label).filter_map(arrival);
    if let Some(arrival) = arrivals.filter(|arrival| scene.world.now < *arrival).min() {
        verdict.wake_at(arrival);
        return;
    }
    let mut references: Vec<Value> = scene.world.objects.components(label).map(reference).collect();
    references.sort_by(|left, right| rank(left).cmp(&rank(right)));
    let selector = map! {
        "matchExpressions" => list![map! { "key" => label, "operator" => "Exists" }],
    };
    let components = map! { "labelSelector" => selector, "refs" => references };
    let mut status = live.status().clone();
    status.set(&["components"], components);
    verdict.write_summary(live, status);
}

/// Returns until when an operator that is on its way is expected to arrive.
fn arrival(object: &Object) -> Option<Timestamp> {
    if object.kind() != known::CLUSTER_SERVICE_VERSION {
        return None;
    }
    let moved = Timestamp::parse(object.status().get("lastTransitionTime").str());
    match ServiceVersion::read(object).phase() {
        Phase::None | Phase::Pending | Phase::InstallReady | Phase::Installing => {
            Some(moved.or(object.created())?.after(ARRIVAL))
        }
        Phase::Succeeded | Phase::Failed | Phase::Unknown | Phase::Replacing | Phase::Deleting => {
            None
        }
    }
}

fn rank(reference: &Value) -> [&str; 4] {
    ["kind", "apiVersion", "namespace", "name"].map(|name| reference.get(name).str())
}

fn reference(object: &Object) -> Value {
    let mut reference = map! {
        "apiVersion" => object.api_version(),
        "kind" => object.value().get("kind").clone(),
        "name" => object.name(),
    };
    if !object.namespace().is_empty() {
        reference.set(&["namespace"], object.namespace());
    }
    if object.kind() == known::CLUSTER_SERVICE_VERSION {
        let operator = ServiceVersion::read(object);
        let condition = map! {
            "type" => operator.phase().text(),
            "status" => "True",
            "reason" => operator.reason(),
            "message" => operator.message(),
            "lastTransitionTime" => object.status().get("lastTransitionTime").clone(),
        };
        reference.set(&["conditions"], list![condition]);
    }
    reference
}
