//! What happens when something is wrong: a catalog that cannot be read, an operator that cannot be installed,
//! and whether peace returns.

use std::{slice, thread, time::Duration, time::Instant};

use operon_object::known;

use super::{
    Fleet, IDLE, Row,
    fleet::VERSIONS,
    idle, installed, installed_from_its_own, seconds, since,
    stand::{Stand, catalog, catalog_key, place, place_with},
};

/// The name of a catalog that nobody can read.
const BROKEN: &str = "sunk";

/// How long nobody may write anything when all is done.
const PEACE: Duration = Duration::from_secs(30);

/// Installs from a healthy catalog while another cannot be read.
pub(crate) fn broken_catalog(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let image = format!("{}/fleet/nowhere:latest", stand.rig.registry());
    stand.apply(&catalog(BROKEN, &image))?;
    stand.until("the catalog is said to be broken", |stand| {
        let state = ["status", "connectionState", "lastObservedState"];
        let found = stand.get(&catalog_key(BROKEN));
        found.is_some_and(|source| source.at(&state).str() == "TRANSIENT_FAILURE")
    })?;
    let mut times = Vec::new();
    let mut is_named = true;
    for ship in &fleet.beside_broken {
        stand.apply(&place(&ship.name))?;
        stand.rest()?;
        times.push(installed(stand, ship)?);
        let subscription = stand.get(&known::SUBSCRIPTION.key(&ship.name, &ship.name));
        let conditions = subscription.map(|found| found.status().get("conditions").clone());
        let says = |condition: &operon_object::Value| {
            condition.get("type").str() == "CatalogSourcesUnhealthy"
                && condition.get("message").str().contains(BROKEN)
        };
        is_named &= conditions.is_some_and(|all| all.elements().iter().any(says));
    }
    stand.remove_catalog(BROKEN)?;
    let named = if is_named { "names" } else { "does NOT name" };
    Ok(vec![Row {
        work: "an operator while another catalog cannot be read".to_owned(),
        figure: format!("{}; its condition {named} the broken one", seconds(&times)),
        wanted: "installs; named",
        upstream: "blocks the namespace",
    }])
}

/// Goes on from a version whose Deployment the API server rejects.
pub(crate) fn fail_forward(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let idle = idle(stand)?;
    let ship = &fleet.flawed;
    let name = installed_from_its_own(stand, ship)?;
    stand.apply(&place_with(&ship.name, "upgradeStrategy: TechPreviewUnsafeFailForward"))?;
    stand.publish(&name, slice::from_ref(ship), 2)?;
    stand.has_phase(&ship.name, &ship.operator(VERSIONS[1]), "Failed")?;
    let before = stand.asked()?;
    thread::sleep(IDLE);
    let failing = since(before, stand.asked()?).without(idle, IDLE);
    let begun = Instant::now();
    stand.publish(&name, slice::from_ref(ship), 3)?;
    stand.succeeded(&ship.name, &ship.operator(VERSIONS[2]))?;
    let took = begun.elapsed();
    stand.remove_catalog(&name)?;
    stand.rest()?;
    let rate = failing.requests.max(0.0) / IDLE.as_secs_f64();
    Ok(vec![Row {
        work: "fail forward from an operator whose Deployment the API server rejects".to_owned(),
        figure: format!(
            "recovers in {:.2} s; {rate:.1} requests a second while it fails",
            took.as_secs_f64()
        ),
        wanted: "recovers; no hot loop",
        upstream: "110 requests a second, not recovered",
    }])
}

/// Counts what is written when nothing is left to do.
pub(crate) fn peace(stand: &mut Stand<'_>, _fleet: &Fleet) -> Result<Vec<Row>, String> {
    stand.rest()?;
    let written = |stand: &Stand<'_>| stand.controller.written().ok_or("the controller is silent");
    let before = written(stand)?;
    thread::sleep(PEACE);
    let count = written(stand)? - before;
    Ok(vec![Row {
        work: format!("writes in {} s after all that, besides the lease", PEACE.as_secs()),
        figure: format!("{count:.0}"),
        wanted: "0",
        upstream: "0 between resyncs",
    }])
}

/// Returns the phases that an operator went through, as its history tells.
pub(crate) fn history(stand: &Stand<'_>, namespace: &str, operator: &str) -> Option<String> {
    let found = stand.get(&known::CLUSTER_SERVICE_VERSION.key(namespace, operator))?;
    let mut phases: Vec<&str> = Vec::new();
    for condition in found.status().get("conditions").elements() {
        let phase = condition.get("phase").str();
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
    }
    Some(phases.join(" → "))
}
