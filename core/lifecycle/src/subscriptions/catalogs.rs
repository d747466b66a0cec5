//! What a Subscription says about the catalogs it sees.

use operon_kinds::{CatalogSource, Condition, Subscription, condition, set_condition};
use operon_object::{Value, known, map};
use operon_resolve::SourceName;

use crate::{catalog_sources::is_healthy, scene::Scene};

const UNHEALTHY: &str = "CatalogSourcesUnhealthy";

/// Lists the catalogs that a Subscription sees, and says whether any cannot be read.
pub(super) fn note(scene: &Scene<'_>, subscription: Subscription<'_>, status: &mut Value) {
    let world = scene.world;
    let mut seen: Vec<CatalogSource<'_>> = world
        .objects
        .all(&known::CATALOG_SOURCE)
        .map(CatalogSource::read)
        .filter(|source| scene.sees(&source.source_name()))
        .collect();
    seen.sort_by_key(|source| (source.object.namespace(), source.object.name()));
    let old = status.get("catalogHealth").clone();
    let new: Vec<Value> = seen.iter().map(|source| entry(scene, *source, &old)).collect();
    if !new.is_empty() || !old.is_null() {
        status.set(&["catalogHealth"], new);
    }
    let found = verdict(scene, subscription, &seen);
    // What was said about the same catalogs before is kept, so that a reason tells the last change.
    let said = condition(status, UNHEALTHY);
    let is_same =
        said.get("status").str() == found.status && said.get("message").str() == found.message;
    if !is_same {
        set_condition(status, &found, world.now);
    }
}

fn entry(scene: &Scene<'_>, source: CatalogSource<'_>, old: &Value) -> Value {
    let healthy = is_healthy(scene.world, source);
    let reference = map! {
        "apiVersion" => source.object.api_version(),
        "kind" => "CatalogSource",
        "namespace" => source.object.namespace(),
        "name" => source.object.name(),
        "uid" => source.object.uid(),
    };
    let mut entries = old.elements().iter();
    let same = entries.find(|entry| {
        *entry.get("catalogSourceRef") == reference
            && entry.get("healthy").as_bool() == Some(healthy)
    });
    let updated =
        same.map_or_else(|| scene.world.now.into(), |same| same.get("lastUpdated").clone());
    map! { "catalogSourceRef" => reference, "healthy" => healthy, "lastUpdated" => updated }
}

fn verdict(
    scene: &Scene<'_>,
    subscription: Subscription<'_>,
    seen: &[CatalogSource<'_>],
) -> Condition {
    if seen.is_empty() {
        return Condition::new(
            UNHEALTHY,
            true,
            "NoCatalogSourcesFound",
            "dependency resolution requires at least one catalogsource",
        );
    }
    let wanted = subscription.source();
    let is_wanted = |source: &&CatalogSource<'_>| Some(source.source_name()) == wanted;
    match (seen.iter().find(is_wanted), wanted.as_ref()) {
        (None, Some(wanted)) => Condition::new(
            UNHEALTHY,
            true,
            "UnhealthyCatalogSourceFound",
            format!("targeted catalogsource {wanted} missing"),
        ),
        (Some(source), Some(wanted)) if !is_healthy(scene.world, *source) => Condition::new(
            UNHEALTHY,
            true,
            "UnhealthyCatalogSourceFound",
            format!("targeted catalogsource {wanted} unhealthy"),
        ),
        (Some(_), _) | (None, None) => beside(scene, wanted.as_ref(), seen),
    }
}

/// Says which catalogs cannot be read beside the one that is asked for. They keep nobody from anything, but
/// what they offer may be missed. Upstream names the one that is asked for, whichever it is.
fn beside(scene: &Scene<'_>, wanted: Option<&SourceName>, seen: &[CatalogSource<'_>]) -> Condition {
    let unhealthy = seen.iter().filter(|source| !is_healthy(scene.world, **source));
    let names: Vec<String> = unhealthy.map(|source| source.source_name().to_string()).collect();
    if names.is_empty() {
        let message = "all available catalogsources are healthy";
        return Condition::new(UNHEALTHY, false, "AllCatalogSourcesHealthy", message);
    }
    let names = names.join(", ");
    let message = match wanted {
        None => format!("unhealthy: {names}"),
        Some(wanted) => {
            format!("targeted catalogsource {wanted} healthy; unhealthy beside it: {names}")
        }
    };
    Condition::new(UNHEALTHY, true, "UnhealthyCatalogSourceFound", message)
}
