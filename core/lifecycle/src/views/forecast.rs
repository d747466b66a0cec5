//! The next state of a namespace: the answer to every "what would happen".
//!
//! To ask about a hypothetical change, change the objects or the catalogs of the [`World`] first. The answer
//! is then the one that the engine would act on.

use std::collections::BTreeSet;

use operon_catalog::Bundle;
use operon_install::properties_annotation;
use operon_kinds::{Phase, PlanPhase, ServiceVersion, names};
use operon_object::{Object, known};
use operon_plan::subscription_object;
use operon_resolve::{Addition, Answer, Reason, Request, Resolution, SourceName, Universe, steps};

use super::{preview::Preview, problems};
use crate::{
    Objects, World,
    outlook::{Outlook, universe},
    scene::Scene,
};

/// The next state of a namespace.
#[derive(Debug)]
pub struct Forecast<'w> {
    /// The catalogs and operators that the resolution is about.
    pub universe: Universe<'w>,
    /// What the Subscriptions request, with pins, pauses and blocked updates applied.
    pub requests: Vec<Request>,
    /// The resolution.
    pub resolution: Resolution,
    /// The plans of the engine, and what is blocked.
    pub preview: Preview,
}

/// Forecasts the next state of a namespace.
pub fn forecast<'w>(world: &'w World<'w>, namespace: &'w str) -> Forecast<'w> {
    let scene = Scene::new(world, namespace);
    let (outlook, resolved) = Outlook::with_resolution(&scene);
    Forecast {
        universe: resolved.universe,
        requests: resolved.requests,
        resolution: resolved.resolution,
        preview: Preview::new(&scene, outlook),
    }
}

/// Returns the catalogs that a namespace sees, with their priorities.
pub fn visible_catalogs(world: &World<'_>, namespace: &str) -> Vec<(SourceName, i64)> {
    let universe = universe(&Scene::new(world, namespace));
    universe.sources.into_iter().map(|source| (source.name, source.priority)).collect()
}

/// Returns the objects after a forecast has come true and every operation in progress has succeeded. What
/// failed or is stuck stays as it is.
pub fn carried_out(world: &World<'_>, namespace: &str, forecast: &Forecast<'_>) -> Objects {
    let scene = Scene::new(world, namespace);
    let mut objects = world.objects.clone();
    settle(&scene, &mut objects);
    for part in &forecast.resolution.parts {
        let Ok(answer) = &part.result else { continue };
        let is_deferred = |addition: &Addition| forecast.preview.deferred.contains(&addition.name);
        if !answer.additions.iter().any(is_deferred) {
            carry_out(&scene, forecast, answer, &mut objects);
        }
    }
    objects
}

/// Ends every operation that is in progress and not stuck.
fn settle(scene: &Scene<'_>, objects: &mut Objects) {
    let succeeded = |object: &Object| {
        let mut object = object.clone();
        object.set(&["status", "phase"], Phase::Succeeded.text());
        object
    };
    let is_stuck = |operator: ServiceVersion<'_>| problems::of_operator(operator).is_some();
    for operator in &scene.operators {
        if operator.phase() == Phase::Succeeded || is_stuck(*operator) {
            continue;
        }
        // An operator is deleted only after its successor has succeeded.
        let mut successors = scene.replacing(operator.name()).peekable();
        if operator.object.is_deleting() {
            objects.remove(&operator.object.key());
        } else if successors.peek().is_none() {
            objects.insert(succeeded(operator.object));
        } else if !successors.any(is_stuck) {
            objects.remove(&operator.object.key());
        }
    }
    let mut blocked = BTreeSet::new();
    for plan in scene.plans.iter().filter(|plan| plan.phase() == PlanPhase::Installing) {
        if problems::of_plan(*plan, true).is_some() {
            blocked.extend(plan.operators().map(str::to_owned));
            continue;
        }
        let mut plan = plan.object.clone();
        plan.set(&["status", "phase"], PlanPhase::Complete.text());
        objects.insert(plan);
    }
    for object in scene.arriving.iter().filter(|object| !blocked.contains(object.name())) {
        let replaced = ServiceVersion::read(object).replaces();
        objects.remove(&known::CLUSTER_SERVICE_VERSION.key(scene.namespace, replaced));
        objects.insert(succeeded(object));
    }
}

/// Replaces operators as an answer says, and records on Subscriptions which operator they have then.
fn carry_out(scene: &Scene<'_>, forecast: &Forecast<'_>, answer: &Answer, objects: &mut Objects) {
    let namespace = scene.namespace;
    for addition in &answer.additions {
        objects.remove(&known::CLUSTER_SERVICE_VERSION.key(namespace, &addition.updates));
        objects.insert(installed(namespace, forecast, addition));
    }
    let created = steps(&forecast.universe, &forecast.requests, answer).new_subscriptions;
    for new in &created {
        objects.insert(subscription_object(namespace, new));
    }
    let added = answer.additions.iter().map(|added| (&added.name, &added.reasons));
    let kept = answer.kept.iter().map(|kept| (&kept.name, &kept.reasons));
    let asked = added.chain(kept).flat_map(|(name, reasons)| {
        let requested = reasons.iter().filter_map(|reason| match reason {
            Reason::Requested(request) => Some(request.as_str()),
            Reason::Freestanding | Reason::Needed { .. } => None,
        });
        requested.map(move |request| (request, name.as_str()))
    });
    let started = created.iter().map(|new| (new.name.as_str(), new.starting_csv.as_str()));
    for (subscription, name) in asked.chain(started) {
        let key = known::SUBSCRIPTION.key(namespace, subscription);
        let Some(mut subscription) = objects.find(&key).cloned() else { continue };
        for field in ["installedCSV", "currentCSV"] {
            subscription.set(&["status", field], name);
        }
        objects.insert(subscription);
    }
}

/// Returns an addition as an operator that is installed and has succeeded.
fn installed(namespace: &str, forecast: &Forecast<'_>, addition: &Addition) -> Object {
    let key = known::CLUSTER_SERVICE_VERSION.key(namespace, &addition.name);
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", key.kind.name(), &key.namespace, &key.name);
    let catalog = forecast.universe.catalog(&addition.source);
    let bundle = catalog.and_then(|catalog| catalog.entry_by_id(addition.entry).bundle());
    let properties: Vec<(&str, &str)> = bundle
        .into_iter()
        .flat_map(Bundle::properties)
        .map(|property| (property.kind, property.value))
        .collect();
    object.set_annotation(names::PROPERTIES_ANNOTATION, &properties_annotation(&properties));
    object.set(&["spec", "version"], addition.version.as_str());
    if !addition.replaces.is_empty() {
        object.set(&["spec", "replaces"], addition.replaces.as_str());
    }
    object.set(&["status", "phase"], Phase::Succeeded.text());
    object
}
