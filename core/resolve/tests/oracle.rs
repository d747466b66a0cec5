//! Random worlds: the resolver's answer is the one that the plainest search finds, whatever the
//! order of the input, and every independent part is what it would be alone.
//!
//! `OPERON_CASES=100000` runs more of them; a failing world prints its seed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod model;

use std::collections::BTreeSet;

use model::generate::{Dice, world};
use model::lower::{catalogs, universe};
use model::oracle::{Reading, preferred};
use model::{NAMESPACE, World};
use operon_resolve::{Answer, Budget, Failure, Limits, Part, Resolution, Semantics, resolve};

/// How many worlds are tried when nothing else is asked for.
const DEFAULT_CASES: u64 = 3_000;

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("OPERON_SEED").unwrap_or(0);
    first..first + number("OPERON_CASES").unwrap_or(DEFAULT_CASES)
}

fn semantics(reading: Reading) -> Semantics {
    match reading {
        Reading::Upstream => Semantics::upstream(),
        // What an operator without a Subscription is taken for is tested with scenarios.
        Reading::Documented => Semantics {
            adopt_freestanding: false,
            release_replaced: false,
            ..Semantics::documented()
        },
    }
}

fn solve(world: &World, semantics: &Semantics) -> Resolution {
    let catalogs = catalogs(world);
    let (universe, requests) = universe(world, &catalogs);
    resolve(&universe, &requests, semantics, &mut Budget::new(&Limits::default()))
}

fn ids(answer: &Answer) -> BTreeSet<String> {
    let added = answer
        .additions
        .iter()
        .map(|added| format!("{}/{}/{}", added.source.name, added.channel, added.name));
    added.chain(answer.kept.iter().map(|kept| format!("installed/{}", kept.name))).collect()
}

fn whole(resolution: &Resolution) -> Result<BTreeSet<String>, ()> {
    let mut all = BTreeSet::new();
    for part in &resolution.parts {
        match &part.result {
            Ok(answer) => all.extend(ids(answer)),
            Err(Failure::Conflicts(_)) => return Err(()),
            Err(other) => panic!("unexpected: {other:?}"),
        }
    }
    Ok(all)
}

fn compare(reading: Reading) -> [u32; 3] {
    let mut counts = [0; 3];
    for seed in cases() {
        let world = world(seed);
        let resolution = solve(&world, &semantics(reading));
        let ours = whole(&resolution);
        match preferred(&world, reading) {
            Ok(expected) => {
                assert_eq!(ours, Ok(expected), "OPERON_SEED={seed} {reading:?}\n{world:#?}");
                counts[0] += 1;
            }
            Err(true) => {
                assert_eq!(ours, Err(()), "OPERON_SEED={seed} {reading:?}\n{world:#?}");
                counts[1] += 1;
            }
            Err(false) => counts[2] += 1,
        }
    }
    println!(
        "{reading:?}: {} with an answer, {} without, {} given up by the oracle",
        counts[0], counts[1], counts[2]
    );
    assert!(counts[0] > 0 && counts[1] > 0, "both kinds of worlds are tried: {counts:?}");
    counts
}

#[test]
fn the_documented_answer_is_the_preferred_one() {
    compare(Reading::Documented);
}

#[test]
fn the_upstream_answer_is_the_preferred_one() {
    compare(Reading::Upstream);
}

/// Cuts a world down to the requests and installed operators of one part.
fn alone(world: &World, part: &Part) -> World {
    let mut world = world.clone();
    world.requests.retain(|request| part.requests.contains(&request.name));
    world.installed.retain(|installed| part.installed.contains(&installed.bundle.name()));
    world
}

#[test]
fn every_part_is_what_it_would_be_alone() {
    let semantics = semantics(Reading::Documented);
    let mut several = 0;
    for seed in cases() {
        let world = world(seed);
        let resolution = solve(&world, &semantics);
        if resolution.parts.len() < 2 {
            continue;
        }
        several += 1;
        for part in &resolution.parts {
            // A request that is put off may be possible where nothing else runs.
            let Ok(answer) = &part.result else { continue };
            let single = solve(&alone(&world, part), &semantics);
            assert_eq!(Ok(ids(answer)), whole(&single), "OPERON_SEED={seed}\n{world:#?}");
        }
    }
    assert!(several > 0, "some worlds have independent parts");
}

#[test]
fn the_order_of_the_input_changes_nothing() {
    const SHUFFLES: u64 = 20;
    for seed in cases().take(200) {
        let world = world(seed);
        let first = format!("{:?}", solve(&world, &Semantics::documented()));
        for shuffle in 0..SHUFFLES {
            let mut dice = Dice::new(seed ^ (shuffle << 32));
            let mut shuffled = world.clone();
            let mut order: Vec<usize> = (0..shuffled.catalogs.len()).collect();
            dice.shuffle(&mut order);
            shuffled.catalogs = order.iter().map(|&old| world.catalogs[old].clone()).collect();
            for request in &mut shuffled.requests {
                request.catalog = order.iter().position(|&old| old == request.catalog).unwrap();
            }
            for catalog in &mut shuffled.catalogs {
                dice.shuffle(&mut catalog.packages);
                for package in &mut catalog.packages {
                    dice.shuffle(&mut package.channels);
                }
            }
            dice.shuffle(&mut shuffled.requests);
            dice.shuffle(&mut shuffled.installed);
            let again = format!("{:?}", solve(&shuffled, &Semantics::documented()));
            assert_eq!(first, again, "OPERON_SEED={seed} in {NAMESPACE}");
        }
    }
}

#[test]
fn conflicts_are_minimal_and_about_the_requests_they_name() {
    let semantics = semantics(Reading::Documented);
    for seed in cases().take(500) {
        let world = world(seed);
        for part in solve(&world, &semantics).parts {
            let Err(Failure::Conflicts(conflicts)) = part.result else { continue };
            assert!(!conflicts.is_empty());
            for conflict in conflicts {
                assert!(conflict.minimal, "OPERON_SEED={seed}");
                // The requests of one conflict fail together even when nothing else is asked for.
                let mut cut = world.clone();
                cut.requests.retain(|request| {
                    conflict.requests.contains(&request.name) || !request.installed.is_empty()
                });
                assert_eq!(whole(&solve(&cut, &semantics)), Err(()), "OPERON_SEED={seed}");
            }
        }
    }
}
