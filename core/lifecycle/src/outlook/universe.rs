//! A namespace as a resolution sees it.

use operon_kinds::{CatalogSource, ServiceVersion, lower_service_version, lower_subscription};
use operon_object::known;
use operon_resolve::{Content, Request, Source, Universe};

use super::{Hold, Outlook, pinned};
use crate::{fail_forward::group_fails_forward, ownership::is_same_package, scene::Scene};

/// Puts together what a namespace sees.
pub(crate) fn universe<'w>(scene: &Scene<'w>) -> Universe<'w> {
    let world = scene.world;
    let sources = world
        .objects
        .all(&known::CATALOG_SOURCE)
        .map(CatalogSource::read)
        .filter(|source| scene.sees(&source.source_name()))
        .map(|source| {
            let name = source.source_name();
            let state = world.catalogs.get(&name);
            let content = match state.and_then(|state| state.catalog.as_deref()) {
                Some(catalog) => Content::Ready(catalog),
                None => Content::Unavailable(match state {
                    Some(state) if !state.problem.is_empty() => state.problem.clone(),
                    _ => "it was not read yet".to_owned(),
                }),
            };
            Source { name, priority: source.priority(), content }
        });
    Universe {
        namespace: scene.namespace.to_owned(),
        sources: sources.collect(),
        installed: scene
            .operators
            .iter()
            .copied()
            .chain(scene.arriving.iter().map(ServiceVersion::read))
            .map(|operator| {
                let mut installed = lower_service_version(operator);
                let named = scene.operator(&installed.replaces);
                if named.is_some_and(|named| !is_same_package(named.object, operator.object)) {
                    installed.replaces.clear();
                }
                installed
            })
            .collect(),
        // Whether a failed operator may be moved on is decided for each of them; upstream decides for all.
        fail_forward: world.settings.semantics.release_replaced
            || scene.group().is_some_and(group_fails_forward),
        native_apis: world.settings.native_apis.clone(),
    }
}

/// Returns what is asked for. A Subscription that is paused, or whose pin cannot be read, asks for
/// what it has, or for nothing.
pub(super) fn requests(
    scene: &Scene<'_>,
    universe: &Universe<'_>,
    outlook: &mut Outlook,
) -> Vec<Request> {
    let mut requests = Vec::new();
    for subscription in &scene.subscriptions {
        let mut request = lower_subscription(*subscription);
        // A Subscription that was told to become something that never came still has what it had.
        if scene.is_arriving(&request.current_csv) {
            // What a plan under way brings for it counts as here.
            request.installed_csv.clone_from(&request.current_csv);
        } else if scene.operator(&request.current_csv).is_none() {
            let had = scene.operator(&request.installed_csv);
            request.current_csv = had.map(|had| had.name().to_owned()).unwrap_or_default();
        }
        let hold = if subscription.is_paused() {
            Some(Hold::paused())
        } else {
            match subscription.pin() {
                None => None,
                Some(Err(error)) => Some(Hold::bad_pin(&error)),
                Some(Ok(pin)) => {
                    request.allowed = Some(pinned::allowed(universe, &request, &pin));
                    None
                }
            }
        };
        if let Some(hold) = hold {
            let has_operator = scene.operator(&request.installed_csv).is_some();
            if let Some(prospect) = outlook.prospects.get_mut(&request.name) {
                prospect.hold = Some(hold);
            }
            if !has_operator {
                continue;
            }
            request.allowed = Some(operon_resolve::Allowed::default());
        }
        requests.push(request);
    }
    requests
}
