//! Whether something changed that an installation without hope may have waited for.

use operon_kinds::ServiceVersion;
use operon_object::{Object, Timestamp, known};

use crate::scene::Scene;

/// Tells whether accounts or roles of the namespace, or the operator itself, were written since its
/// installation was refused. After a restart nobody remembers, and it is tried once.
pub(super) fn changed_since_failure(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> bool {
    let key = operator.object.key();
    let failures = scene.world.failures.of_work(&key);
    let Some(last) = failures.map(|(_, failure)| failure.last).max() else { return true };
    // Objects carry whole seconds: what was written in the same second may have come after.
    let last = Timestamp::from_milliseconds(last.milliseconds().div_euclid(1000) * 1000);
    let kinds = [known::SERVICE_ACCOUNT, known::ROLE, known::ROLE_BINDING];
    let here = kinds.iter().flat_map(|kind| scene.world.objects.within(kind, scene.namespace));
    here.chain([operator.object]).any(|object| written(object).is_some_and(|time| time >= last))
}

/// Returns when anything but the status of an object was last written.
fn written(object: &Object) -> Option<Timestamp> {
    let writes = object.metadata("managedFields").elements().iter();
    let times = writes
        .filter(|entry| entry.get("subresource").str().is_empty())
        .filter_map(|entry| Timestamp::parse(entry.get("time").str()));
    times.chain(object.created()).max()
}
