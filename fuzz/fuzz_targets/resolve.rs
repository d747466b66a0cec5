//! The whole way: any catalog and any manifests give a resolution that stands its own check, in both
//! dialects, and every conflict can be explained.
//!
//! The input is a catalog, a line `%%%`, and manifests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_api::{Cluster, lower_service_version, lower_subscription, read_manifests};
use operon_fbc::{MemoryFile, read_catalog};
use operon_resolve::{
    Budget, Content, Failure, Limits, Request, Semantics, Source, SourceName, Universe, explain,
    resolve,
};

const LIMITS: Limits =
    Limits { steps: 4_000_000, bytes: 64 << 20, conflict_steps: 1_000_000, conflicts: 3 };

fuzz_target!(|data: &[u8]| {
    let marker = b"\n%%%\n";
    let place = data.windows(marker.len()).position(|window| window == marker);
    let (catalog, manifests) = match place {
        Some(place) => (&data[..place], &data[place + marker.len()..]),
        None => (data, &[][..]),
    };
    let file = MemoryFile { path: "catalog.yaml".to_owned(), content: catalog.to_vec() };
    let catalog = read_catalog(&[file]);
    let cluster = Cluster::new(read_manifests("cluster.yaml", manifests), "operators");
    let view = cluster.view("operators", "olm");
    let sources = view.catalog_sources.iter().map(|source| Source {
        name: SourceName {
            namespace: source.metadata.namespace.clone(),
            name: source.metadata.name.clone(),
        },
        priority: source.priority,
        content: Content::Ready(&catalog),
    });
    let universe = Universe {
        namespace: "operators".to_owned(),
        sources: sources.collect(),
        installed: view.service_versions.iter().map(|csv| lower_service_version(csv)).collect(),
        fail_forward: view.fails_forward(),
        native_apis: None,
    };
    let requests: Vec<Request> =
        view.subscriptions.iter().map(|subscription| lower_subscription(subscription)).collect();
    for semantics in [Semantics::documented(), Semantics::upstream()] {
        let mut budget = Budget::new(&LIMITS);
        for part in resolve(&universe, &requests, &semantics, &mut budget).parts {
            match part.result {
                Err(Failure::Defect(complaint)) => panic!("{semantics:?}: {complaint}"),
                Err(Failure::Conflicts(conflicts)) => {
                    for conflict in conflicts {
                        explain(&universe, &requests, &semantics, &mut budget, &conflict);
                    }
                }
                Ok(_) | Err(Failure::Error(_) | Failure::TooExpensive(_)) => {}
            }
        }
    }
});
