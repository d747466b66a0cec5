//! Measures the controller that ships on a real cluster; `cargo xtask bench --cluster` runs it.
//!
//! `OPERON_MEASUREMENT=<part of a title>` measures less.
//! It prints the rows of a table. Every figure is of this run; what upstream needs was measured elsewhere
//! and only stands beside it.

mod fleet;
mod many;
mod stand;
mod trouble;

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
    slice, thread,
    time::{Duration, Instant},
};

use operon_object::known;
use operon_rig::{Rig, RigOptions, rig_for_test};

use self::{
    fleet::{Ship, VERSIONS},
    stand::{Asked, Stand, catalog, place, polled_catalog, wish},
};

/// How many Subscriptions are made at once.
const AT_ONCE: usize = 50;

/// How many namespaces a large cluster has.
const NAMESPACES: usize = 1000;

/// How long an operator is left alone before it is updated.
const SETTLING: Duration = Duration::from_secs(2);

/// How long it is counted what is asked while nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// What the measurement of the large catalog is called.
const LARGE: &str = "the large catalog";

/// The catalog of everything that is measured but the large one.
const CATALOG: &str = "fleet";

/// What was measured of one work.
struct Row {
    work: String,
    figure: String,
    wanted: &'static str,
    upstream: &'static str,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = env::args_os().skip(1);
    let program: PathBuf = arguments.next().ok_or("wanted: the program `operon`")?.into();
    let runs: usize = arguments
        .next()
        .and_then(|runs| runs.to_str()?.parse().ok())
        .filter(|runs| *runs > 0)
        .ok_or("wanted: how often, after the program")?;
    let large: Option<PathBuf> = arguments.next().map(Into::into);
    let rig = match env::var("OPERON_PROOF_RIG") {
        Ok(name) => Some(Rig::find(&name).map_err(|error| error.to_string())?),
        Err(_) => rig_for_test(RigOptions::cluster("bench")).map_err(|error| error.to_string())?,
    };
    let rig = rig.ok_or("no cluster can run here")?;
    let rows = rig
        .inside(|| measure(&rig, &program, runs, large.as_deref()))
        .map_err(|error| error.to_string())??;
    println!("| work | measured | wanted | upstream |\n|---|---:|---:|---:|");
    for Row { work, figure, wanted, upstream } in rows {
        println!("| {work} | {figure} | {wanted} | {upstream} |");
    }
    Ok(())
}

fn measure(
    rig: &Rig,
    program: &Path,
    runs: usize,
    large: Option<&Path>,
) -> Result<Vec<Row>, String> {
    let mut stand = Stand::new(rig, program)?;
    let fleet = Fleet::launch(&stand, runs)?;
    let mut rows = Vec::new();
    let wanted = env::var("OPERON_MEASUREMENT").ok();
    let is_wanted = |title: &str| wanted.as_ref().is_none_or(|wanted| title.contains(wanted));
    for (title, measure) in MEASUREMENTS.iter().filter(|(title, _)| is_wanted(title)) {
        eprintln!("  {title}");
        rows.extend(measure(&mut stand, &fleet)?);
    }
    if let Some(large) = large.filter(|_| is_wanted(LARGE)) {
        eprintln!("  {LARGE}");
        rows.extend(large_catalog(&mut stand, large)?);
    }
    Ok(rows)
}

type Measurement = (&'static str, fn(&mut Stand<'_>, &Fleet) -> Result<Vec<Row>, String>);

const MEASUREMENTS: &[Measurement] = &[
    ("one operator", one),
    ("an update, and one in two hops", updates),
    ("an operator and what it needs", pairs),
    ("many at once", many::measure),
    ("beside a broken catalog", trouble::broken_catalog),
    ("fail forward", trouble::fail_forward),
    ("among many namespaces", among_many),
    ("peace", trouble::peace),
];

/// The ships of this run; every one is installed once, so that nothing is in any cache.
struct Fleet {
    singles: Vec<Ship>,
    by_hand: Vec<Ship>,
    updated: Vec<Ship>,
    pairs: Vec<(Ship, Ship)>,
    many: Vec<Ship>,
    many_by_hand: Vec<Ship>,
    late: Vec<Ship>,
    beside_broken: Vec<Ship>,
    /// The one whose second version no API server takes.
    flawed: Ship,
}

impl Fleet {
    fn launch(stand: &Stand<'_>, runs: usize) -> Result<Self, String> {
        let ships = |name: &str, count: usize, replicas: usize| -> Vec<Ship> {
            (0..count).map(|run| Ship::new(format!("{name}{run:02}"), replicas)).collect()
        };
        let pairs = ships("pilot", runs, 1).into_iter().zip(ships("tanker", runs, 1));
        let pairs = pairs.map(|(pilot, tanker)| {
            let needs = Some(pilot.name.clone());
            (pilot, Ship { needs, ..tanker })
        });
        let fleet = Self {
            singles: ships("sloop", runs, 1),
            by_hand: ships("raft", runs, 1),
            updated: ships("ferry", 2 * runs, 1),
            pairs: pairs.collect(),
            many: ships("barge", AT_ONCE, 0),
            many_by_hand: ships("canoe", AT_ONCE, 0),
            late: ships("yacht", runs, 1),
            beside_broken: ships("dinghy", runs, 1),
            flawed: Ship { flawed: Some(VERSIONS[1]), ..Ship::new("wreck", 1) },
        };
        eprintln!("  pushing {} bundles", fleet.in_catalog().len() * VERSIONS.len());
        let work = stand.rig.directory().join("bench/bundles");
        for ship in fleet.in_catalog() {
            ship.push(stand, &work)?;
        }
        let image = stand.publish(CATALOG, &fleet.in_catalog(), 1)?;
        stand.apply(&catalog(CATALOG, &image))?;
        stand.catalog_is_ready(CATALOG)?;
        stand.rest()?;
        Ok(fleet)
    }

    /// The ships whose versions are published together. Those that are updated have catalogs of their own.
    fn in_catalog(&self) -> Vec<Ship> {
        let pairs = self.pairs.iter().flat_map(|(pilot, tanker)| [pilot, tanker]);
        let ships = self.singles.iter().chain(&self.updated).chain(pairs);
        let ships = ships.chain(&self.many).chain(&self.late).chain(&self.beside_broken);
        ships.chain([&self.flawed]).cloned().collect()
    }
}

fn one(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let idle = idle(stand)?;
    let mut times = Vec::new();
    let mut asked = Vec::new();
    for ship in &fleet.singles {
        stand.apply(&place(&ship.name))?;
        stand.rest()?;
        let (begun, before) = (Instant::now(), stand.asked()?);
        times.push(installed(stand, ship)?);
        stand.rest()?;
        let after = stand.asked()?;
        asked.push(since(before, after).without(idle, begun.elapsed()));
    }
    let mut by_hand = Vec::new();
    for ship in &fleet.by_hand {
        stand.apply(&place(&ship.name))?;
        let begun = Instant::now();
        stand.apply(&ship.by_hand(&ship.name))?;
        let key = known::DEPLOYMENT.key(&ship.name, &ship.name);
        stand.until("the Deployment is available", |stand| {
            let found = stand.get(&key);
            found.is_some_and(|it| it.status().get("availableReplicas").as_integer() == Some(1))
        })?;
        by_hand.push(begun.elapsed());
    }
    let ratio = median(&times).as_secs_f64() / median(&by_hand).as_secs_f64();
    Ok(vec![
        Row {
            work: "Subscription created → CSV Succeeded".to_owned(),
            figure: seconds(&times),
            wanted: "< 3 s",
            upstream: "9.9 s",
        },
        Row {
            work: "… the same objects applied by hand, until the Deployment is available"
                .to_owned(),
            figure: seconds(&by_hand),
            wanted: "",
            upstream: "",
        },
        Row {
            work: "… as a multiple of that".to_owned(),
            figure: format!("{ratio:.2}"),
            wanted: "≤ 1.5",
            upstream: "",
        },
        Row {
            work: "… requests of the controller, and of them writes, besides those for its lease"
                .to_owned(),
            figure: counts(&asked),
            wanted: "< 80, < 40",
            upstream: "600, 130–160",
        },
    ])
}

/// Returns what is asked in a second when nothing happens: the lease is kept.
fn idle(stand: &Stand<'_>) -> Result<Asked, String> {
    let before = stand.asked()?;
    thread::sleep(IDLE);
    let Asked { requests, writes } = since(before, stand.asked()?);
    Ok(Asked { requests: requests / IDLE.as_secs_f64(), writes: writes / IDLE.as_secs_f64() })
}

fn updates(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let (single, double) = fleet.updated.split_at(fleet.updated.len() / 2);
    let mut rows = Vec::new();
    let mut histories = BTreeSet::new();
    for (ships, versions, work, wanted, upstream) in [
        (
            single,
            2,
            "catalog built, pushed and noticed (polled each second) → upgraded CSV Succeeded",
            "< 4 s",
            "28 s",
        ),
        (double, 3, "… in two hops", "< 6 s", "35 s"),
    ] {
        let mut times = Vec::new();
        for ship in ships {
            times.push(updated(stand, ship, versions)?);
            let last = VERSIONS.get(versions - 1).ok_or("bug: no such version")?;
            histories.extend(trouble::history(stand, &ship.name, &ship.operator(last)));
        }
        let figure = seconds(&times);
        rows.push(Row { work: work.to_owned(), figure, wanted, upstream });
    }
    rows.push(Row {
        work: "phases of the new CSV in all of these updates".to_owned(),
        figure: histories.into_iter().collect::<Vec<_>>().join("; or "),
        wanted: "never flaps",
        upstream: "Succeeded → Failed → Pending → Succeeded",
    });
    Ok(rows)
}

/// Installs a ship from a catalog of its own and publishes more versions; returns how long that and the update
/// took. When the new tag is seen cannot be told from outside without missing it, so the clock starts before the
/// image is built: building, pushing and waiting for the next poll are in the figure.
fn updated(stand: &Stand<'_>, ship: &Ship, versions: usize) -> Result<Duration, String> {
    let name = installed_from_its_own(stand, ship)?;
    thread::sleep(SETTLING);
    let begun = Instant::now();
    stand.publish(&name, slice::from_ref(ship), versions)?;
    let last = VERSIONS.get(versions - 1).ok_or("bug: no such version")?;
    stand.succeeded(&ship.name, &ship.operator(last))?;
    let took = begun.elapsed();
    stand.remove_catalog(&name)?;
    stand.rest()?;
    Ok(took)
}

/// Installs the first version of a ship from a catalog that has nothing else; returns the name of the catalog.
fn installed_from_its_own(stand: &Stand<'_>, ship: &Ship) -> Result<String, String> {
    let name = format!("of-{}", ship.name);
    let image = stand.publish(&name, slice::from_ref(ship), 1)?;
    stand.apply(&polled_catalog(&name, &image))?;
    stand.catalog_is_ready(&name)?;
    stand.apply(&wish(&ship.name, &ship.name, &name))?;
    stand.succeeded(&ship.name, &ship.operator(VERSIONS[0]))?;
    Ok(name)
}

fn pairs(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    let mut times = Vec::new();
    for (pilot, tanker) in &fleet.pairs {
        stand.apply(&place(&tanker.name))?;
        let begun = Instant::now();
        stand.apply(&wish(&tanker.name, &tanker.name, CATALOG))?;
        stand.succeeded(&tanker.name, &pilot.operator(VERSIONS[0]))?;
        stand.succeeded(&tanker.name, &tanker.operator(VERSIONS[0]))?;
        times.push(begun.elapsed());
        stand.rest()?;
    }
    Ok(vec![Row {
        work: "an operator and one that it needs".to_owned(),
        figure: seconds(&times),
        wanted: "< 4 s",
        upstream: "16.5 s",
    }])
}

fn among_many(stand: &mut Stand<'_>, fleet: &Fleet) -> Result<Vec<Row>, String> {
    for namespace in 0..NAMESPACES {
        let name = format!("crowd-{namespace:04}");
        stand.apply(&format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {name} }}\n"))?;
    }
    stand.rest()?;
    let mut times = Vec::new();
    for ship in &fleet.late {
        stand.apply(&place(&ship.name))?;
        stand.rest()?;
        times.push(installed(stand, ship)?);
        stand.rest()?;
    }
    let memory = stand.controller.metric("process_resident_memory_bytes").unwrap_or_default();
    Ok(vec![Row {
        work: format!("a Subscription when there are {NAMESPACES} namespaces"),
        figure: format!("{}; {:.0} MB of memory", seconds(&times), memory / 1e6),
        wanted: "< 4 s",
        upstream: "69 s",
    }])
}

fn large_catalog(stand: &mut Stand<'_>, directory: &Path) -> Result<Vec<Row>, String> {
    let tag = format!("{}/fleet/catalog-large:latest", stand.rig.registry());
    stand.build("catalog", directory, &tag)?;
    stand.renew()?;
    stand.rest()?;
    let begun = Instant::now();
    stand.apply(&catalog("large", &tag))?;
    stand.catalog_is_ready("large")?;
    let took = begun.elapsed();
    stand.rest()?;
    thread::sleep(Duration::from_secs(1));
    let memory = stand.controller.metric("process_resident_memory_bytes").unwrap_or_default();
    let peak = stand.controller.peak_memory().unwrap_or_default();
    Ok(vec![
        Row {
            work: "image of the whole community catalog → READY".to_owned(),
            figure: format!("{:.2} s", took.as_secs_f64()),
            wanted: "< 6 s",
            upstream: "44 s",
        },
        Row {
            work: "… memory of the controller then, and at most".to_owned(),
            figure: format!("{:.0} MB, {:.0} MB", memory / 1e6, peak as f64 / 1e6),
            wanted: "< 120 MB",
            upstream: "1.7 GB in five processes",
        },
    ])
}

/// Asks for a ship in a namespace that is there; returns how long it took until it succeeded.
fn installed(stand: &Stand<'_>, ship: &Ship) -> Result<Duration, String> {
    let begun = Instant::now();
    stand.apply(&wish(&ship.name, &ship.name, CATALOG))?;
    stand.succeeded(&ship.name, &ship.operator(VERSIONS[0]))?;
    Ok(begun.elapsed())
}

fn since(before: Asked, after: Asked) -> Asked {
    Asked { requests: after.requests - before.requests, writes: after.writes - before.writes }
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn seconds(times: &[Duration]) -> String {
    let shortest = times.iter().min().copied().unwrap_or_default().as_secs_f64();
    let longest = times.iter().max().copied().unwrap_or_default().as_secs_f64();
    format!("{:.2} s ({shortest:.2} – {longest:.2})", median(times).as_secs_f64())
}

/// Tells the run with the most requests.
fn counts(asked: &[Asked]) -> String {
    let most = |of: fn(&Asked) -> f64| asked.iter().map(of).fold(0.0, f64::max);
    format!("at most {:.0}, {:.0}", most(|it| it.requests), most(|it| it.writes))
}
