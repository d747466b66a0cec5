//! Ways out in the scenarios of `scenarios/resolution`: following one removes a conflict.

use std::{fs, path::Path, process::Command};

use operon_api::read_objects;
use operon_object::Value;

/// Starts the list of ways out of a conflict.
const WAYS_OUT: &str = "Ways out";

/// Applies a way out to the objects of a cluster.
fn follow(way: &str, objects: Vec<Value>) -> Vec<Value> {
    let is = |object: &Value, kind: &str, name: &str| {
        object.get("kind").str() == kind && object.at(&["metadata", "name"]).str() == name
    };
    if let Some(removed) = way.strip_prefix("remove the operator ") {
        let (name, _) = removed.split_once(',').expect("a name");
        let others = objects.into_iter();
        return others.filter(|object| !is(object, "ClusterServiceVersion", name)).collect();
    }
    if let Some(removed) = way.strip_prefix("remove Subscription ") {
        let (name, operator) = match removed.strip_suffix(" and its operator") {
            Some(name) => (name, true),
            None => (removed, false),
        };
        let subscription = objects.iter().find(|object| is(object, "Subscription", name));
        let installed = subscription.expect("it exists").at(&["status", "installedCSV"]);
        let installed = installed.str().to_owned();
        let is_removed = |object: &Value| {
            is(object, "Subscription", name)
                || operator && is(object, "ClusterServiceVersion", &installed)
        };
        let others = objects.into_iter().filter(|object| !is_removed(object));
        return others.collect();
    }
    let (parts, name) = way.split_once(" in Subscription ").expect("a Subscription");
    let name = name.split(',').next().expect("a name");
    let edited = objects.into_iter().map(|mut object| {
        if is(&object, "Subscription", name) {
            for part in parts.split(", ").flat_map(|part| part.split(" and ")) {
                edit(part, &mut object);
            }
        }
        object
    });
    edited.collect()
}

fn edit(part: &str, subscription: &mut Value) {
    let mut set = |field: &str, value: &str| subscription.set(&["spec", field], value);
    let mut name_catalog = |catalog: &str| {
        let (namespace, name) = catalog.split_once('/').expect("a catalog");
        set("source", name);
        set("sourceNamespace", namespace);
    };
    if part == "leave out startingCSV" {
        subscription.remove(&["spec", "startingCSV"]);
    } else if let Some(catalog) = part.strip_prefix("name the catalog ") {
        name_catalog(catalog);
    } else if let Some(package) = part.strip_prefix("ask for package ") {
        set("name", package);
    } else if let Some(channel) = part.strip_prefix("follow channel ") {
        match channel.split_once(" of catalog ") {
            Some((channel, catalog)) => {
                name_catalog(catalog);
                subscription.set(&["spec", "channel"], channel);
            }
            None => set("channel", channel),
        }
    } else {
        unreachable!("unknown way out `{part}`");
    }
}

/// Runs `operon plan` on manifests and the catalogs of a scenario; returns its standard output.
fn plan(scenario: &Path, manifests: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_operon"));
    command.args(["plan", "--no-cache", "--cluster"]).arg(manifests);
    for entry in fs::read_dir(scenario.join("catalogs")).expect("catalogs") {
        let catalog = entry.expect("an entry").path();
        let name = catalog.file_name().expect("a name").to_string_lossy();
        command.arg("--catalog").arg(format!("olm/{name}={}", catalog.display()));
    }
    let output = command.output().expect("the binary runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the ways out that were checked.
fn checked_ways_out(plan: &str) -> impl Iterator<Item = &str> {
    plan.lines().filter_map(|line| {
        let (number, way) = line.trim_start().split_once(". ")?;
        number.parse::<u8>().ok()?;
        (!way.ends_with("(not checked)")).then_some(way)
    })
}

#[test]
fn ways_out_remove_a_conflict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/resolution");
    let mut tried = 0;
    for entry in fs::read_dir(&root).expect("scenarios") {
        let scenario = entry.expect("an entry").path();
        let manifests = scenario.join("cluster.yaml");
        let before = plan(&scenario, &manifests);
        let text = fs::read(&manifests).expect("manifests");
        for way in checked_ways_out(&before) {
            let read = read_objects("cluster.yaml", &text);
            let objects = read.objects.into_iter().map(|located| located.object.into_value());
            let objects = follow(way, objects.collect());
            let edited: Vec<String> =
                objects.iter().map(|object| format!("---\n{object}\n")).collect();
            let directory = tempfile::tempdir().expect("a directory");
            let manifests = directory.path().join("cluster.yaml");
            fs::write(&manifests, edited.concat()).expect("written");
            let after = plan(&scenario, &manifests);
            assert!(
                after.matches(WAYS_OUT).count() < before.matches(WAYS_OUT).count(),
                "{}: `{way}` does not help:\n{after}",
                scenario.display()
            );
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} ways out were tried");
}
