//! What a Subscription says about deprecations of what it has.

use operon_kinds::{Condition, Subscription, remove_condition, set_condition};
use operon_object::Value;

use crate::scene::Scene;

const ROLL_UP: &str = "Deprecated";

/// Says whether the package, the channel or the bundle of a Subscription's operator is deprecated.
pub(super) fn note(scene: &Scene<'_>, subscription: Subscription<'_>, status: &mut Value) {
    let installed = status.get("installedCSV").str().to_owned();
    let found = if installed.is_empty() {
        [None, None, None]
    } else {
        deprecations(scene, subscription, &installed)
    };
    let now = scene.world.now;
    let kinds = ["PackageDeprecated", "ChannelDeprecated", "BundleDeprecated"];
    for (kind, message) in kinds.into_iter().zip(&found) {
        note_one(status, kind, message.as_deref(), now);
    }
    let all: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
    let all = all.join("; ");
    note_one(status, ROLL_UP, (!all.is_empty()).then_some(all.as_str()), now);
}

fn note_one(status: &mut Value, kind: &str, message: Option<&str>, now: operon_object::Timestamp) {
    match message {
        Some(message) => {
            set_condition(status, &Condition::new(kind, true, kind, message), now);
        }
        None => {
            remove_condition(status, kind);
        }
    }
}

fn deprecations(
    scene: &Scene<'_>,
    subscription: Subscription<'_>,
    installed: &str,
) -> [Option<String>; 3] {
    let catalog = subscription
        .source()
        .and_then(|source| scene.world.catalogs.get(&source))
        .and_then(|state| state.catalog.as_deref());
    let Some(package) = catalog.and_then(|catalog| catalog.package(subscription.package())) else {
        return [None, None, None];
    };
    let name = subscription.channel();
    let channel = if name.is_empty() { package.default_channel() } else { package.channel(name) };
    let bundle = package.bundles().find(|bundle| bundle.name() == installed);
    let of_channel = channel.filter(|_| !name.is_empty()).and_then(|channel| channel.deprecation());
    [
        package.deprecation().map(|text| format!("olm.package/{}: {text}", package.name())),
        of_channel.map(|text| format!("olm.channel/{name}: {text}")),
        bundle
            .and_then(|bundle| bundle.deprecation())
            .map(|text| format!("olm.bundle/{installed}: {text}")),
    ]
}
