//! ClusterServiceVersions: the operators of a namespace, from the first look to the last.
//!
//! One sync of an operator is: its finalizer, the gates, its phase. Each world moves an operator by
//! one step, so that whoever watches sees every phase.

pub(crate) mod chain;
mod change;
mod gates;
mod heal;
mod health;
mod install;
mod phases;
mod remove;
mod requirements;
mod rights;

use std::{collections::BTreeSet, sync::Arc};

use operon_kinds::{Phase, ServiceVersion, names};
use operon_object::{Object, Value};

use self::{change::Change, gates::Gate, phases::Next};
use crate::{
    Action, Event, Guard, Timing, Verdict,
    groups::{target_namespaces, with_provided_apis},
    ownership::Claimant,
    scene::Scene,
    watched::is_watched_whole,
};

/// Decides about the operators of a namespace.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    let mut listing = Listing::default();
    for operator in &scene.operators {
        if operator.object.is_deleting() {
            remove::decide(scene, *operator, verdict);
        } else {
            sync(scene, *operator, &mut listing, verdict);
        }
    }
    listing.write(scene, verdict);
}

/// What the operators of a namespace put on the list of their group, and take off it: one write for
/// all, or they would come one after the other, each in a world of its own.
#[derive(Debug, Default)]
struct Listing {
    added: BTreeSet<String>,
    removed: BTreeSet<String>,
}

impl Listing {
    fn write(self, scene: &Scene<'_>, verdict: &mut Verdict) {
        let Self { added, removed } = self;
        let Some(group) = scene.group() else { return };
        if added.is_empty() && removed.is_empty() {
            return;
        }
        let key = group.object.key();
        if verdict.effects().iter().any(|effect| *effect.work() == key) {
            // A group that is written in this world is looked at again in the next.
            return;
        }
        let listed: BTreeSet<String> = group.provided_apis().collect();
        let wanted = listed.union(&added).filter(|api| !removed.contains(*api)).cloned().collect();
        if wanted != listed {
            verdict.act(&scene.own, &key, Action::Update(with_provided_apis(group, &wanted)));
        }
    }
}

/// Lets the operators go that are being deleted, and touches no other.
pub(crate) fn let_go(scene: &Scene<'_>, verdict: &mut Verdict) {
    for operator in scene.operators.iter().filter(|operator| operator.object.is_deleting()) {
        remove::decide(scene, *operator, verdict);
    }
}

fn sync(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    listing: &mut Listing,
    verdict: &mut Verdict,
) {
    let object = operator.object;
    if let Some(changed) = chain::out_of_circle(scene, operator) {
        verdict.act(&scene.own, &object.key(), Action::Update(changed));
        return;
    }
    let gate = gates::ask(scene, operator);
    if !object.finalizers().any(|name| name == names::CSV_FINALIZER)
        && scene.own.unknown_reason().is_none()
    {
        // Both changes of its metadata are one write.
        let mut changed = match gate {
            Gate::Adjust(changed) => changed,
            Gate::Open | Gate::Ignore | Gate::Fail { .. } | Gate::List(_) | Gate::Unlist(_) => {
                object.clone()
            }
        };
        add_finalizer(&mut changed);
        verdict.act(&scene.own, &object.key(), Action::Update(changed));
        return;
    }
    match gate {
        Gate::Ignore => {}
        Gate::Adjust(changed) => verdict.act(&scene.own, &object.key(), Action::Update(changed)),
        Gate::List(apis) => listing.added.extend(apis),
        Gate::Unlist(apis) => listing.removed.extend(apis),
        Gate::Fail { change, removes_deployments } => {
            if removes_deployments {
                remove::deployments(scene, operator, verdict);
            }
            write(scene, operator, Next { change: Some(change), ..Next::default() }, verdict);
        }
        Gate::Open if scene.authority.unknown_reason().is_some() => {
            write(scene, operator, phases::without_authority(scene, operator), verdict);
        }
        Gate::Open => {
            heal::decide(scene, operator, verdict);
            write(scene, operator, phases::next(scene, operator), verdict);
        }
    }
}

/// Gives an operator that a plan makes what it would be given as soon as it is seen: that saves a write.
pub(crate) fn prepare(scene: &Scene<'_>, operator: &mut Object) {
    add_finalizer(operator);
    if let Some(group) = scene.group() {
        let targets = target_namespaces(scene.world, group);
        for (name, value) in gates::group_annotations(group, &targets) {
            operator.set_annotation(name, &value);
        }
    }
}

/// Says why an operator that a plan brings would not come up here, as far as that is known before the plan
/// is executed.
pub(crate) fn refusals(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Vec<String> {
    let group = scene.group().and_then(|group| gates::group_refusal(scene, operator, group));
    let group = group.map(|(_, message)| message);
    group.into_iter().chain(requirements::lacking(scene, operator)).collect()
}

fn add_finalizer(operator: &mut Object) {
    if !operator.finalizers().any(|name| name == names::CSV_FINALIZER) {
        let finalizers = operator.metadata_mut().place("finalizers").make_list();
        finalizers.push(names::CSV_FINALIZER.into());
    }
}

/// Returns what must hold before an object that the engine does not see is written.
fn foreign_guards(scene: &Scene<'_>, operator: ServiceVersion<'_>, action: &Action) -> Vec<Guard> {
    let key = match action {
        Action::Apply(_) | Action::Certify(_) => action.target(),
        _ => None,
    };
    let unseen =
        key.filter(|key| scene.world.objects.find(key).is_none() && !is_watched_whole(&key.kind));
    let claimant = || Arc::new(Claimant::new(scene, operator.object));
    unseen.map(|key| Guard::NotForeign(key, claimant())).into_iter().collect()
}

fn write(scene: &Scene<'_>, operator: ServiceVersion<'_>, next: Next, verdict: &mut Verdict) {
    let object = operator.object;
    let key = object.key();
    for action in next.actions {
        let guards = foreign_guards(scene, operator, &action);
        verdict.act_guarded(scene.authority_for(operator, &action), &key, action, guards);
    }
    if let Some(wake) = next.wake {
        verdict.wake_at(wake);
    }
    let mut status = object.status().clone();
    let change = next.change.filter(|change| !change.is_known(operator));
    if let Some(change) = &change {
        change.write(&mut status, scene.world.now);
    }
    if let Some(requirements) = next.requirements
        && *status.get("requirementStatus") != Value::from(requirements.clone())
        && !(requirements.is_empty() && status.get("requirementStatus").is_null())
    {
        status.set(&["requirementStatus"], requirements);
    }
    if let Some((made, rotate)) = next.certificates {
        status.set(&["certsLastUpdated"], made);
        status.set(&["certsRotateAt"], rotate);
    }
    if verdict.write_status_when(object, status, next.guards, Timing::InOrder)
        && let Some(Change { phase, reason, message }) = change
    {
        let event = Event::about(object, phase == Phase::Failed, reason, &message);
        verdict.emit(&key, event, Timing::InOrder);
    }
}
