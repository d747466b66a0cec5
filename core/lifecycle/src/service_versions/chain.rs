//! Who replaces whom.

use std::collections::BTreeSet;

use operon_kinds::ServiceVersion;
use operon_object::Object;

use crate::scene::Scene;

/// Returns the operators before and after one, by `replaces`; a circle is walked once.
pub(super) fn relatives<'w>(scene: &Scene<'w>, operator: ServiceVersion<'w>) -> BTreeSet<&'w str> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![operator.name()];
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        waiting.extend(scene.replacing(name).map(ServiceVersion::name));
        let replaced = scene.operator(name).and_then(|found| scene.replaced_by(found.object));
        waiting.extend(replaced.map(ServiceVersion::name));
    }
    seen
}

/// Returns the newest operator that takes the place of one, however indirectly; nothing in a circle.
pub(super) fn newest<'w>(
    scene: &Scene<'w>,
    operator: ServiceVersion<'w>,
) -> Option<ServiceVersion<'w>> {
    let mut seen = BTreeSet::from([operator.name()]);
    let mut newest = scene.replacing(operator.name()).next()?;
    while seen.insert(newest.name()) {
        match scene.replacing(newest.name()).next() {
            Some(next) => newest = next,
            None => return Some(newest),
        }
    }
    None
}

/// Returns an operator and those that it replaces, however indirectly.
pub(super) fn ancestors<'w>(scene: &Scene<'w>, operator: ServiceVersion<'w>) -> BTreeSet<&'w str> {
    let mut seen = BTreeSet::new();
    let mut next = Some(operator);
    while let Some(operator) = next.filter(|operator| seen.insert(operator.name())) {
        next = scene.replaced_by(operator.object);
    }
    seen
}

/// Returns an operator without `spec.replaces` if it is the oldest of a circle, in which each operator
/// replaces another: an earlier version that was rolled back to replaced the later one, and one of them
/// is now taking the place of the other again.
pub(super) fn out_of_circle(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Object> {
    let mut circle = vec![operator];
    let mut next = scene.replaced_by(operator.object)?;
    while next.name() != operator.name() {
        if circle.iter().any(|seen| seen.name() == next.name()) {
            return None;
        }
        circle.push(next);
        next = scene.replaced_by(next.object)?;
    }
    // Objects carry whole seconds: what was created in the same one is told apart by its plan.
    let age = |operator: &ServiceVersion<'_>| {
        let name = operator.name();
        let plans =
            scene.plans.iter().filter(|plan| plan.operators().any(|brought| brought == name));
        let generation = plans.map(|plan| plan.generation()).max();
        (operator.object.created(), generation, name.to_owned())
    };
    let oldest = circle.iter().min_by_key(|operator| age(operator))?;
    if oldest.name() != operator.name() {
        return None;
    }
    let mut changed = operator.object.clone();
    changed.value_mut().remove(&["spec", "replaces"]);
    Some(changed)
}

/// Tells whether an operator takes the place of another, however indirectly.
pub(super) fn follows(scene: &Scene<'_>, name: &str, earlier: &str) -> bool {
    scene.operator(name).is_some_and(|operator| ancestors(scene, operator).contains(earlier))
}
