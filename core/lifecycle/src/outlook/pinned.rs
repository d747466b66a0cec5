//! Which bundles a pinned Subscription may move to.
//!
//! The versions that the pin names, and the versions that lie on the way to one of them: an operator
//! moves one step at a time, and a pin must not keep it from arriving.

use std::collections::BTreeSet;

use operon_catalog::Channel;
use operon_kinds::Pin;
use operon_resolve::{Allowed, Request, Universe};

/// Works out which bundles a request may move to.
pub(super) fn allowed(universe: &Universe<'_>, request: &Request, pin: &Pin) -> Allowed {
    let mut bundles = BTreeSet::new();
    let is_installed = !request.installed_csv.is_empty();
    let catalogs = universe.sources.iter().filter_map(|source| universe.catalog(&source.name));
    for package in catalogs.filter_map(|catalog| catalog.package(&request.package)) {
        let channels = package.channels();
        let followed = channels
            .filter(|channel| request.channel.is_empty() || channel.name() == request.channel);
        for channel in followed {
            add_channel(&mut bundles, channel, pin, is_installed);
        }
    }
    Allowed { bundles, because: format!("it is pinned to {pin}") }
}

/// Adds the entries of a channel that a pin names and, for an operator that runs, those that a named
/// one replaces, however indirectly.
fn add_channel(
    bundles: &mut BTreeSet<String>,
    channel: Channel<'_>,
    pin: &Pin,
    is_installed: bool,
) {
    let named = channel.entries().filter(|entry| {
        let version = entry.bundle().and_then(|bundle| bundle.version());
        version.is_some_and(|version| pin.allows(&version))
    });
    let mut waiting: Vec<&str> = named.map(|entry| entry.name()).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        bundles.insert(name.to_owned());
        let Some(entry) = channel.entry(name).filter(|_| is_installed) else { continue };
        waiting.extend(entry.replaces().filter(|replaced| !replaced.is_empty()));
    }
}
