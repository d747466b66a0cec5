//! The main way: subscribe, install, upgrade, settle.

use std::{collections::BTreeMap, time::Duration};

use operon_driver::Driver;
use operon_lifecycle::Settings;
use operon_object::{Object, Timestamp, known, list, map};
use operon_resolve::SourceName;
use operon_sim::{Api, Bundle, Channel, Publication, SimCatalogs, SimCluster};

const BEGIN: Timestamp = Timestamp::from_milliseconds(1_800_000_000_000);

fn etcd(versions: &[&str]) -> Publication {
    let api = Api::parse("EtcdCluster.v1.etcd.example.com").expect("an API");
    let bundles = versions.iter().map(|version| Bundle {
        package: "etcd".to_owned(),
        version: (*version).to_owned(),
        provides: vec![api.clone()],
        ..Bundle::default()
    });
    let entries = versions.iter().enumerate().map(|(index, version)| {
        let mut entry = map! { "name" => format!("etcd.v{version}") };
        if index > 0 {
            entry.set(&["replaces"], format!("etcd.v{}", versions[index - 1]));
        }
        entry
    });
    Publication {
        defaults: BTreeMap::from([("etcd".to_owned(), "stable".to_owned())]),
        channels: vec![Channel {
            package: "etcd".to_owned(),
            name: "stable".to_owned(),
            entries: entries.collect(),
        }],
        bundles: bundles.collect(),
        documents: vec![],
    }
}

fn run(driver: &mut Driver<SimCluster, SimCatalogs>, now: &mut Timestamp) {
    for turn in 0..400 {
        driver.cluster().advance(*now);
        let cycle = driver.cycle(*now).expect("the cluster answers");
        for object in driver.objects().all(&known::CLUSTER_SERVICE_VERSION) {
            let status = object.status();
            eprintln!(
                "{turn} {} {} {} {}",
                object.name(),
                status.get("phase").str(),
                status.get("reason").str(),
                status.get("message").str()
            );
        }
        for object in driver.objects().all(&known::INSTALL_PLAN) {
            eprintln!(
                "{turn} plan {} {} {} {}",
                object.name(),
                object.status().get("phase").str(),
                object.status().get("message").str(),
                object.spec().get("clusterServiceVersionNames")
            );
        }
        if cycle.is_settled {
            eprintln!("settled after {turn} turns, {} writes", driver.cluster().writes());
            return;
        }
        *now = now.after(Duration::from_millis(20));
    }
    panic!("it does not settle");
}

#[test]
fn an_operator_is_installed_and_upgraded() {
    let cluster = SimCluster::new(BEGIN);
    let catalogs = SimCatalogs::default();
    let demo = SourceName { namespace: "olm".to_owned(), name: "demo".to_owned() };
    catalogs.publish(&demo, etcd(&["0.9.0"]));
    cluster.force(&Object::new("v1", "Namespace", "", "shop"));
    let mut source = Object::new("operators.coreos.com/v1alpha1", "CatalogSource", "olm", "demo");
    source.set(&["spec"], map! { "sourceType" => "grpc", "image" => "example.com/demo:latest" });
    cluster.force(&source);
    let mut group = Object::new("operators.coreos.com/v1", "OperatorGroup", "shop", "shop");
    group.set(&["spec"], map! { "targetNamespaces" => list!["shop"] });
    cluster.force(&group);
    let mut subscription =
        Object::new("operators.coreos.com/v1alpha1", "Subscription", "shop", "etcd");
    subscription.set(
        &["spec"],
        map! { "name" => "etcd", "channel" => "stable", "source" => "demo", "sourceNamespace" => "olm" },
    );
    cluster.force(&subscription);
    let mut driver = Driver::new(cluster.clone(), catalogs.clone(), Settings::default());
    let mut now = BEGIN;
    run(&mut driver, &mut now);
    let csv = driver.objects().get(&known::CLUSTER_SERVICE_VERSION, "shop", "etcd.v0.9.0");
    assert_eq!(csv.expect("it is installed").status().get("phase").str(), "Succeeded");
    let subscription = driver.objects().get(&known::SUBSCRIPTION, "shop", "etcd").expect("sub");
    eprintln!("{}", subscription.status());
    catalogs.publish(&demo, etcd(&["0.9.0", "0.9.2", "0.9.4"]));
    run(&mut driver, &mut now);
    let names: Vec<&str> =
        driver.objects().all(&known::CLUSTER_SERVICE_VERSION).map(Object::name).collect();
    assert_eq!(names, ["etcd.v0.9.4"]);
}
