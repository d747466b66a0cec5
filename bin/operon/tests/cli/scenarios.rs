//! The scenarios of `scenarios/resolution`: what `operon resolve` tells people about each.
//!
//! `OPERON_ACCEPT=1` writes what it tells now into `expected.txt`; read it as prose before you keep it.

use std::{fs, path::Path, process::Command};

use operon_api::read_objects;
use operon_object::Value;

use crate::harbour::copy;

#[test]
fn every_scenario_is_told_as_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/resolution");
    let mut scenarios: Vec<_> = fs::read_dir(&root)
        .expect("scenarios")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    scenarios.sort();
    assert!(scenarios.len() > 20, "the scenarios are in {}", root.display());
    let mut differences = Vec::new();
    for scenario in scenarios {
        let name = scenario.file_name().expect("a name").to_string_lossy().into_owned();
        let told = resolve(&scenario);
        let expected = scenario.join("expected.txt");
        if std::env::var_os("OPERON_ACCEPT").is_some() {
            fs::write(&expected, &told).expect("written");
        }
        let text = fs::read_to_string(&expected).unwrap_or_default();
        if told != text {
            differences.push(format!("{name} is expected to say\n{text}\nbut says\n{told}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Does to the objects of a cluster what a way out says, and nothing else.
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
        unreachable!("nobody can follow `{part}`");
    }
}

fn resolve(scenario: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_operon"))
        .args(["resolve", "--no-cache"])
        .arg(scenario)
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn ways_out_work_as_they_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/resolution");
    let mut tried = 0;
    for entry in fs::read_dir(&root).expect("scenarios") {
        let scenario = entry.expect("an entry").path();
        let told = fs::read_to_string(scenario.join("expected.txt")).unwrap_or_default();
        let conflicts = |told: &str| told.matches("Ways out").count();
        let ways = told.lines().filter_map(|line| {
            let (number, way) = line.strip_prefix("  ")?.split_once(". ")?;
            number.parse::<u8>().ok()?;
            (!way.ends_with("(not checked)")).then_some(way)
        });
        for way in ways {
            let directory = tempfile::tempdir().expect("a directory");
            copy(&scenario, directory.path());
            let path = scenario.join("cluster.yaml");
            let text = fs::read_to_string(&path).expect("a cluster");
            let read = read_objects("cluster.yaml", text.as_bytes());
            let objects = read.objects.into_iter().map(|located| located.object.into_value());
            let objects = follow(way, objects.collect());
            let text: Vec<String> =
                objects.iter().map(|object| format!("---\n{object}\n")).collect();
            fs::write(directory.path().join("cluster.yaml"), text.concat()).expect("written");
            let after = resolve(directory.path());
            assert!(
                conflicts(&after) < conflicts(&told),
                "{}: `{way}` does not help:\n{after}",
                scenario.display()
            );
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} ways out were tried");
}
