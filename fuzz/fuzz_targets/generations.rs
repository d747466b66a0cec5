//! Recorded generations and plans: any objects of a namespace give a decision, the same one each time, and every
//! view of them.
//!
//! The input is manifests. The catalogs are fixed, so that plans and rollbacks get as far as a draft.

#![no_main]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use libfuzzer_sys::fuzz_target;
use operon_api::read_objects;
use operon_driver::{CatalogRequest, Catalogs};
use operon_lifecycle::{
    Failures, Objects, Settings, World, decide,
    views::{
        Extent, RollbackError, carried_out, forecast, history, metrics, removal_within, rollback, tree,
    },
};
use operon_object::known;
use operon_resolve::Limits;
use operon_sim::{BEGINNING, SimCatalogs, Step, parse_scenario};

/// Catalogs of the scenarios that the seeds are made of.
const CATALOGS: &str = "
about: catalogs
catalogs:
  olm/demo:
    etcd: { provides: [EtcdCluster.v1.etcd.example.com], channels: { stable: [0.9.0, 0.9.2 replaces 0.9.0, 0.9.4 replaces 0.9.2] } }
    vault: { requires: [EtcdCluster.v1.etcd.example.com], channels: { stable: [1.0.0, 1.1.0 replaces 1.0.0] } }
script: []
";

/// How often a decision may request contents of bundles before it has them all.
const ROUNDS: usize = 3;

/// How many operators and Subscriptions of an input each view is asked about.
const MAX_NAMES: usize = 4;

static FIXED: LazyLock<(SimCatalogs, Settings)> = LazyLock::new(|| {
    let catalogs = SimCatalogs::default();
    for step in parse_scenario(CATALOGS).expect("a scenario").steps {
        if let Step::Publish(name, publication) = step {
            catalogs.publish(&name, publication);
        }
    }
    let limits =
        Limits { steps: 4_000_000, bytes: 64 << 20, conflict_steps: 1_000_000, conflicts: 3 };
    let settings = Settings {
        kube_version: "v1.33.0".to_owned(),
        kept_generations: 3,
        limits,
        ..Settings::default()
    };
    (catalogs, settings)
});

fuzz_target!(|data: &[u8]| {
    let (catalogs, settings) = &*FIXED;
    let mut objects = Objects::default();
    for located in read_objects("cluster.yaml", data).objects {
        objects.insert(located.object);
    }
    let request = |source| CatalogRequest { source, config_map: None, pull_secrets: Vec::new() };
    let requests: Vec<CatalogRequest<'_>> =
        objects.all(&known::CATALOG_SOURCE).map(request).collect();
    let states = catalogs.read(&requests, BEGINNING);
    let (failures, seen) = (Failures::default(), BTreeSet::new());
    let mut bundles = BTreeMap::new();
    for _ in 0..ROUNDS {
        let world = World {
            now: BEGINNING,
            objects: &objects,
            catalogs: &states,
            bundles: &bundles,
            failures: &failures,
            seen: &seen,
            settings,
        };
        let verdict = decide(&world);
        let mut wanted = verdict.wanted.clone();
        for (namespace, name) in names(&objects) {
            if let Err(RollbackError::Wanted(key)) = rollback(&world, &namespace, &name, None) {
                wanted.insert(key);
            }
        }
        if wanted.iter().all(|key| bundles.contains_key(key)) {
            let again = decide(&world);
            assert_eq!(format!("{verdict:?}"), format!("{again:?}"), "decisions are deterministic");
            show(&world);
            return;
        }
        for key in wanted {
            let state = catalogs.bundle(&key);
            bundles.insert(key, state);
        }
    }
});

/// Returns operators and Subscriptions with their namespaces.
fn names(objects: &Objects) -> Vec<(String, String)> {
    let operators = objects.all(&known::CLUSTER_SERVICE_VERSION).take(MAX_NAMES);
    let subscriptions = objects.all(&known::SUBSCRIPTION).take(MAX_NAMES);
    let both = operators.chain(subscriptions);
    both.map(|object| (object.namespace().to_owned(), object.name().to_owned())).collect()
}

/// Computes every view.
fn show(world: &World<'_>) {
    metrics(world);
    tree(world.objects, None);
    let revisions = world.objects.all(&known::CONTROLLER_REVISION);
    let namespaces: BTreeSet<&str> = revisions.map(|revision| revision.namespace()).collect();
    for namespace in namespaces {
        let generations = history(world.objects, namespace);
        assert!(generations.is_sorted_by_key(|generation| std::cmp::Reverse(generation.number)));
        let forecast = forecast(world, namespace);
        carried_out(world, namespace, &forecast);
    }
    for (namespace, name) in names(world.objects) {
        for to in [None, Some("1.0.0")] {
            if let Err(error) = rollback(world, &namespace, &name, to) {
                assert!(!error.to_string().is_empty());
            }
        }
        let extent = Extent { with_dependants: true, with_leftovers: true };
        let _ = removal_within(world, &namespace, &name, extent);
    }
}
