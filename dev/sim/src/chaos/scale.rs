//! How much it takes to look after many namespaces.

use std::time::{Duration, Instant};

use operon_driver::Driver;
use operon_object::{Object, known, list, map};
use operon_resolve::SourceName;

use super::theatre::settings;
use crate::{Api, BEGINNING, Bundle, Channel, Publication, SimCatalogs, SimCluster};

/// How many operators every namespace has.
const OPERATORS: usize = 20;

/// How many turns may be needed.
const MOST_TURNS: usize = 2_000;

/// What it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// The namespaces.
    pub namespaces: usize,
    /// The operators that run in the end.
    pub operators: usize,
    /// The objects in the end.
    pub objects: usize,
    /// The writes.
    pub writes: u64,
    /// The writes of further turns, of which there should be none.
    pub idle_writes: u64,
    /// The turns.
    pub turns: usize,
    /// The time.
    pub time: Duration,
}

/// Installs twenty operators from one catalog in each of some namespaces.
pub fn measure_scale(namespaces: usize) -> Scale {
    let cluster = SimCluster::new(BEGINNING);
    let catalogs = SimCatalogs::default();
    let source = SourceName { namespace: "olm".to_owned(), name: "demo".to_owned() };
    catalogs.publish(&source, publication());
    let group_version = "operators.coreos.com/v1alpha1";
    let mut object = Object::new(group_version, "CatalogSource", "olm", "demo");
    object.set(&["spec"], map! { "sourceType" => "grpc", "image" => "example.com/demo:1" });
    cluster.force(&object);
    for number in 0..namespaces {
        let name = format!("team-{number}");
        cluster.force(&Object::new("v1", "Namespace", "", &name));
        let mut group = Object::new("operators.coreos.com/v1", "OperatorGroup", &name, &name);
        group.set(&["spec"], map! { "targetNamespaces" => list![name.as_str()] });
        cluster.force(&group);
        for operator in 0..OPERATORS {
            let package = format!("op{operator}");
            let mut object = Object::new(group_version, "Subscription", &name, &package);
            let spec = map! {
                "name" => package, "channel" => "stable", "source" => "demo",
                "sourceNamespace" => "olm",
            };
            object.set(&["spec"], spec);
            cluster.force(&object);
        }
    }
    converge(&cluster, catalogs, namespaces)
}

fn converge(cluster: &SimCluster, catalogs: SimCatalogs, namespaces: usize) -> Scale {
    let begun = Instant::now();
    let mut driver = Driver::new(cluster.clone(), catalogs, settings());
    let mut now = BEGINNING;
    let (mut turns, mut quiet) = (0, 0);
    while quiet < 2 && turns < MOST_TURNS {
        now = now.after(Duration::from_millis(20));
        cluster.advance(now);
        let is_settled = driver.cycle(now).is_ok_and(|cycle| cycle.is_settled);
        quiet = if is_settled { quiet + 1 } else { 0 };
        turns += 1;
    }
    let time = begun.elapsed();
    let writes = cluster.writes();
    for _ in 0..3 {
        now = now.after(Duration::from_secs(600));
        cluster.advance(now);
        drop(driver.cycle(now));
    }
    let objects = driver.objects();
    let running = objects.all(&known::CLUSTER_SERVICE_VERSION);
    let is_running = |object: &&Object| object.status().get("phase").str() == "Succeeded";
    Scale {
        namespaces,
        operators: running.filter(is_running).count(),
        objects: objects.len(),
        writes,
        idle_writes: cluster.writes() - writes,
        turns,
        time,
    }
}

fn publication() -> Publication {
    let mut publication = Publication::default();
    for operator in 0..OPERATORS {
        let package = format!("op{operator}");
        publication.defaults.insert(package.clone(), "stable".to_owned());
        publication.channels.push(Channel {
            package: package.clone(),
            name: "stable".to_owned(),
            entries: vec![map! { "name" => format!("{package}.v1.0.0") }],
        });
        let api = Api {
            kind: format!("Op{operator}"),
            version: "v1".to_owned(),
            group: format!("{package}.example.com"),
        };
        publication.bundles.push(Bundle {
            package,
            version: "1.0.0".to_owned(),
            provides: vec![api],
            ..Bundle::default()
        });
    }
    publication
}
