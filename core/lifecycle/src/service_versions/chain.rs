//! Who replaces whom.

use std::collections::BTreeSet;

use operon_kinds::ServiceVersion;

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
        let replaced = scene.operator(name).and_then(|found| scene.operator(found.replaces()));
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
        next = scene.operator(operator.replaces());
    }
    seen
}

/// Tells whether an operator takes the place of another, however indirectly.
pub(super) fn follows(scene: &Scene<'_>, name: &str, earlier: &str) -> bool {
    scene.operator(name).is_some_and(|operator| ancestors(scene, operator).contains(earlier))
}
