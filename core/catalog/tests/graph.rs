//! The upgrade graph against brute force on small channels.

use operon_catalog::graph::{GraphEntry, OrderError, Rules, Upgrades, chain, order};
use operon_version::{Version, VersionRange};
use proptest::prelude::*;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(Debug, Clone)]
struct Sketch {
    replaces: Option<usize>,
    skips: Vec<usize>,
    range: Option<(u64, u64)>,
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let sketch = (
        prop::option::of(0..NAMES.len()),
        prop::collection::vec(0..NAMES.len(), 0..3),
        prop::option::weighted(0.3, (0..6u64, 0..6u64)),
    )
        .prop_map(|(replaces, skips, range)| Sketch { replaces, skips, range });
    prop::collection::vec(sketch, 1..=NAMES.len())
}

fn entries(sketches: &[Sketch]) -> Vec<GraphEntry<'static>> {
    sketches
        .iter()
        .enumerate()
        .map(|(position, sketch)| GraphEntry {
            name: NAMES[position],
            replaces: sketch.replaces.map_or("", |name| NAMES[name]),
            skips: sketch.skips.iter().map(|&name| NAMES[name]).collect(),
            skip_range: sketch.range.and_then(|(low, high)| {
                VersionRange::parse(&format!(">={low}.0.0 <{high}.0.0")).ok()
            }),
            version: Some(Version::new(position as u64, 0, 0)),
            deprecated: false,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What a registry accepts, a resolver can order with the same head; but for a circle hidden
    /// behind a skipped entry, which a registry does not walk into.
    #[test]
    fn a_valid_chain_has_an_order(sketches in sketches()) {
        let entries = entries(&sketches);
        if let Ok(chain) = chain(&entries) {
            match order(&entries) {
                Ok(order) => prop_assert_eq!(order[0], chain.head),
                Err(error) => prop_assert!(matches!(error, OrderError::Cycle(_)), "{error}"),
            }
        }
    }

    /// The order holds no skipped entry and follows replaces.
    #[test]
    fn the_order_is_a_path_of_replaces(sketches in sketches()) {
        let entries = entries(&sketches);
        let Ok(order) = order(&entries) else { return Ok(()) };
        let skipped: Vec<&str> = entries.iter().flat_map(|entry| entry.skips.clone()).collect();
        for &entry in &order {
            prop_assert!(!skipped.contains(&entries[entry].name));
        }
        let mut unique = order.clone();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), order.len());
    }

    /// Hops equal those of a naive search that asks every entry about every other.
    #[test]
    fn reach_equals_naive_search(sketches in sketches(), start in 0..NAMES.len(), v1 in any::<bool>()) {
        let rules = if v1 { Rules::V1 } else { Rules::V0 };
        let entries = entries(&sketches);
        let start = start % entries.len();
        let upgrades = Upgrades::new(entries.clone());
        let reach = upgrades.reach(entries[start].name, entries[start].version.as_ref(), rules);
        prop_assert!(reach.complete);
        let order = upgrades.order().map(<[usize]>::to_vec).unwrap_or_default();
        let allowed = |entry: usize| rules == Rules::V1 || order.contains(&entry);
        let mut naive: Vec<Option<u32>> = vec![None; entries.len()];
        let mut frontier = vec![start];
        for hops in 1..=entries.len() as u32 {
            let mut next = Vec::new();
            for &from in &frontier {
                for to in 0..entries.len() {
                    let edge = entries[to].updates(entries[from].name, entries[from].version.as_ref());
                    if edge && allowed(to) && to != start && naive[to].is_none() && to != from {
                        naive[to] = Some(hops);
                        next.push(to);
                    }
                }
            }
            frontier = next;
        }
        prop_assert_eq!(&reach.hops, &naive);
        for (target, hops) in reach.hops.iter().enumerate() {
            let path = upgrades.shortest_path(entries[start].name, entries[start].version.as_ref(), target, rules);
            prop_assert_eq!(path.map(|path| path.len() as u32), *hops);
        }
    }
}

#[test]
fn a_channel_of_a_million_entries_is_ordered_in_one_pass() {
    let names: Vec<String> = (0..1_000_000).map(|number| format!("op.v{number}")).collect();
    let entries: Vec<GraphEntry<'_>> = names
        .iter()
        .enumerate()
        .map(|(position, name)| GraphEntry {
            name,
            replaces: if position == 0 { "" } else { &names[position - 1] },
            skips: Vec::new(),
            skip_range: None,
            version: None,
            deprecated: false,
        })
        .collect();
    assert_eq!(order(&entries).map(|order| order.len()), Ok(1_000_000));
    assert!(chain(&entries).is_ok());
}
