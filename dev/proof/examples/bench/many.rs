//! Fifty operators at once, and the objects of as many operators applied without a manager.
//!
//! Both sides begin with empty namespaces, send as many requests at a time, and end when their Deployments are
//! observed. The controller also writes ClusterServiceVersions, InstallPlans and statuses, so the comparison of
//! single writes stands next to that of the whole.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use operon_kube::PARALLEL_REQUESTS;
use operon_object::known;

use super::{
    AT_ONCE, CATALOG, Fleet, Row,
    fleet::{Ship, VERSIONS},
    since,
    stand::{Asked, Stand, place, subscription},
};

/// The objects of one operator: CRD, ServiceAccount, Role, RoleBinding and Deployment.
const OBJECTS_BY_HAND: f64 = 5.0;

/// What the controller needed.
struct Installed {
    /// Until every Subscription was created.
    requested: Duration,
    /// Until every Deployment was observed.
    deployed: Duration,
    /// Until every operator had succeeded.
    succeeded: Duration,
    asked: Asked,
}

pub(super) fn measure(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let installed = install(stand, &fleet.many)?;
    let by_hand = apply_by_hand(stand, &fleet.many_by_hand)?.as_secs_f64();
    let Installed { requested, deployed, succeeded, asked: Asked { requests, writes } } = installed;
    let [requested, deployed, succeeded] =
        [requested, deployed, succeeded].map(|duration| duration.as_secs_f64());
    let writes_by_hand = OBJECTS_BY_HAND * AT_ONCE as f64;
    let row = |work: &str, figure: String, wanted, upstream| Row {
        work: work.to_owned(),
        figure,
        wanted,
        upstream,
    };
    Ok(vec![
        row(
            &format!("{AT_ONCE} Subscriptions in {AT_ONCE} namespaces at once, without pods"),
            format!("{succeeded:.1} s, of which {requested:.1} s to create them"),
            "< 20 s",
            "266 s",
        ),
        row("… until their Deployments are observed", format!("{deployed:.1} s"), "", ""),
        row(
            &format!(
                "… CRD, ServiceAccount, Role, RoleBinding and Deployment of as many operators applied by hand, \
                 {PARALLEL_REQUESTS} requests at a time, until the Deployments are observed"
            ),
            format!("{by_hand:.1} s"),
            "",
            "",
        ),
        row("… as a multiple of that", format!("{:.1}", deployed / by_hand), "≤ 1.5", ""),
        row(
            "… a single write, as a multiple of one by hand",
            format!("{:.2}", (succeeded / writes) / (by_hand / writes_by_hand)),
            "",
            "",
        ),
        row(
            "… writes in a second: the controller's, and by hand",
            format!("{:.0}, {:.0}", writes / succeeded, writes_by_hand / by_hand),
            "",
            "",
        ),
        row(
            "… requests of the controller, and of them writes",
            format!("{requests:.0}, {writes:.0}"),
            "< 3,500",
            "20,500",
        ),
    ])
}

/// Creates a Subscription in each namespace.
fn install(stand: &Stand<'_>, ships: &[Ship]) -> Result<Installed, String> {
    create_namespaces(stand, ships)?;
    let before = stand.asked()?;
    let begun = Instant::now();
    concurrently(ships, |ship| stand.apply(&subscription(&ship.name, &ship.name, CATALOG)))?;
    let requested = begun.elapsed();
    wait_for_deployments(stand, ships)?;
    let deployed = begun.elapsed();
    for ship in ships {
        stand.succeeded(&ship.name, &ship.operator(VERSIONS[0]))?;
    }
    let succeeded = begun.elapsed();
    stand.rest()?;
    let asked = since(before, stand.asked()?);
    Ok(Installed { requested, deployed, succeeded, asked })
}

/// Applies the objects of operators; returns how long it takes until their Deployments are observed.
fn apply_by_hand(stand: &Stand<'_>, ships: &[Ship]) -> Result<Duration, String> {
    create_namespaces(stand, ships)?;
    let begun = Instant::now();
    concurrently(ships, |ship| stand.apply(&ship.by_hand(&ship.name)))?;
    wait_for_deployments(stand, ships)?;
    Ok(begun.elapsed())
}

fn create_namespaces(stand: &Stand<'_>, ships: &[Ship]) -> Result<(), String> {
    for ship in ships {
        stand.apply(&place(&ship.name))?;
    }
    stand.rest()
}

fn wait_for_deployments(stand: &Stand<'_>, ships: &[Ship]) -> Result<(), String> {
    for ship in ships {
        let key = known::DEPLOYMENT.key(&ship.name, &ship.name);
        stand.until("the Deployment is observed", |stand| {
            let found = stand.get(&key);
            found.is_some_and(|it| it.status().get("observedGeneration").as_integer() >= Some(1))
        })?;
    }
    Ok(())
}

/// Works on ships, as many at a time as the controller sends requests.
fn concurrently(
    ships: &[Ship],
    work: impl Fn(&Ship) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(ship) = ships.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(ship)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..PARALLEL_REQUESTS).map(|_| scope.spawn(run)).collect();
        let ended =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a panic".to_owned())?);
        ended.collect::<Result<(), String>>()
    })
}
