//! The definitions that a cluster always has: brought up to date, and restored after any change.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use operon_driver::{Cluster as _, Interest};
use operon_lifecycle::ErrorKind;
use operon_local::LocalCluster;
use operon_object::{Object, Value, known, list, map};

use crate::support::Home;

fn definition(maximum: i64) -> Object {
    let size = map! { "type" => "integer", "maximum" => maximum };
    let spec = map! { "type" => "object", "properties" => map! { "size" => size } };
    let schema = map! { "type" => "object", "properties" => map! { "spec" => spec } };
    let version = map! {
        "name" => "v1",
        "served" => true,
        "storage" => true,
        "schema" => map! { "openAPIV3Schema" => schema },
    };
    let name = "widgets.example.com";
    let mut definition =
        Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name);
    definition.set(&["spec"], map! {
        "group" => "example.com",
        "scope" => "Namespaced",
        "names" => map! { "plural" => "widgets", "singular" => "widget", "kind" => "Widget", "listKind" => "WidgetList" },
        "versions" => list![version],
    });
    definition
}

#[test]
fn definitions_are_brought_up_to_date() {
    let home = Home::new();
    let open = |maximum| {
        let mut options = home.options();
        options.definitions = vec![definition(maximum)];
        LocalCluster::open(&home.file(), options).unwrap()
    };
    let mut widget = Object::new("example.com/v1", "Widget", "default", "large");
    widget.set(&["spec", "size"], 5);
    let cluster = open(3);
    assert_eq!(cluster.create(&widget).unwrap_err().kind, ErrorKind::Invalid);
    let point = cluster.list(&BTreeSet::new()).unwrap().cursor;
    drop(cluster);
    let cluster = open(3);
    let same = cluster.list(&BTreeSet::new()).unwrap().cursor;
    assert_eq!(same, point, "the same definitions write nothing");
    drop(cluster);
    let cluster = open(5);
    let widget = cluster.create(&widget).unwrap();
    // Deleted namespaces are not created again.
    let olm = cluster.get(&known::NAMESPACE.key("", "olm")).unwrap().unwrap();
    cluster.delete(&olm.key(), olm.uid()).unwrap();
    drop(cluster);
    let cluster = open(5);
    assert_eq!(cluster.get(&olm.key()).unwrap(), None);
    assert_eq!(cluster.get(&widget.key()).unwrap(), Some(widget));
    drop(cluster);
    let mut options = home.options();
    options.definitions = vec![Object::new("v1", "Nonsense", "", "x")];
    let error = LocalCluster::open(&home.file(), options).unwrap_err().to_string();
    assert!(error.contains("cannot begin with Nonsense x"), "{error}");
}

/// Opens the cluster with the definition of widgets, and returns the notices of the opening.
fn open(home: &Home) -> (LocalCluster, Vec<String>) {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let mut options = home.options();
    options.definitions = vec![definition(3)];
    options.notify = Arc::new(move |notice| sink.lock().unwrap().push(notice.to_owned()));
    let cluster = LocalCluster::open(&home.file(), options).unwrap();
    let notices = notices.lock().unwrap().clone();
    (cluster, notices)
}

/// Returns the definition of widgets with a new storage version `v1evil`.
fn with_evil_version() -> Object {
    let mut changed = definition(3);
    let versions = changed.value_mut().place(&["spec", "versions"]).make_list();
    let mut evil = versions[0].clone();
    evil.set(&["name"], "v1evil");
    let anything = map! { "type" => "object", "x-kubernetes-preserve-unknown-fields" => true };
    evil.set(&["schema", "openAPIV3Schema"], anything);
    versions[0].set(&["storage"], false);
    versions.push(evil);
    changed
}

fn with_webhook(mut changed: Object) -> Object {
    let service = map! { "namespace" => "default", "name" => "evil" };
    let webhook = map! {
        "clientConfig" => map! { "service" => service },
        "conversionReviewVersions" => list!["v1"],
    };
    changed.set(&["spec", "conversion"], map! { "strategy" => "Webhook", "webhook" => webhook });
    changed
}

fn widget(version: &str, name: &str) -> Object {
    let mut widget = Object::new(&format!("example.com/{version}"), "Widget", "default", name);
    widget.set(&["spec", "size"], 2);
    widget
}

#[test]
fn changed_definitions_are_restored_and_reported_once() {
    let mut short_names = definition(3);
    short_names.set(&["spec", "names", "shortNames"], list!["w"]);
    // What another writer applies, and a part of the notice.
    let claims = [
        (with_evil_version(), "dropped the versions: `v1evil`; objects kept in another version: "),
        (with_webhook(definition(3)), "was restored"),
        (with_webhook(with_evil_version()), "`v1evil`"),
        (short_names, "was restored"),
    ];
    let key = definition(3).key();
    for (changed, expected) in claims {
        for manager in ["person", operon_local::APPLY_MANAGER] {
            let home = Home::new();
            let (cluster, notices) = open(&home);
            assert_eq!(notices, Vec::<String>::new());
            let original = cluster.get(&key).unwrap().unwrap();
            let early = cluster.create(&widget("v1", "early")).unwrap();
            let mut changed = changed.clone();
            changed.set(&["metadata", "labels"], map! { "noted" => "yes" });
            let made = cluster.apply_as(&changed, manager).unwrap();
            assert_ne!(made.spec(), original.spec());
            let has_evil = made.at(&["spec", "versions"]).elements().len() > 1;
            if has_evil {
                cluster.create(&widget("v1evil", "late")).unwrap();
                let mut early = cluster.get(&early.key()).unwrap().unwrap();
                early.set(&["spec", "size"], 1);
                cluster.update(&early).unwrap();
            }
            drop(cluster);

            let (cluster, notices) = open(&home);
            let restored = cluster.get(&key).unwrap().unwrap();
            assert_eq!(restored.spec(), original.spec(), "{manager}: {expected}");
            assert_eq!(restored.at(&["status", "storedVersions"]), &list!["v1"]);
            let label = restored.at(&["metadata", "labels", "noted"]).str();
            if manager == "person" {
                assert_eq!(label, "yes", "labels of other writers stay");
            }
            // A change that one apply undoes is not reported.
            let is_repaired = has_evil || manager == "person";
            assert_eq!(notices.len(), usize::from(is_repaired), "{manager}: {notices:?}");
            assert!(notices.iter().all(|notice| notice.contains(expected)), "{notices:?}");
            assert!(notices.iter().all(|notice| notice.contains("widgets.example.com")));

            let kinds = Interest::all_of([early.kind()]);
            let widgets = cluster.list(&kinds).unwrap().objects;
            assert_eq!(widgets.len(), 1 + usize::from(has_evil));
            assert!(widgets.iter().all(|widget| widget.api_version() == "example.com/v1"));
            for mut widget in widgets {
                widget.set(&["spec", "size"], 3);
                let size = cluster.update(&widget).unwrap().at(&["spec", "size"]).clone();
                assert_eq!(size, Value::from(3));
            }
            drop(cluster);
            assert_eq!(open(&home).1, Vec::<String>::new(), "a repair is reported once");
        }
    }
}

#[test]
fn definitions_recreated_with_another_scope_are_restored() {
    let home = Home::new();
    let (cluster, _) = open(&home);
    let original = cluster.get(&definition(3).key()).unwrap().unwrap();
    cluster.create(&widget("v1", "first")).unwrap();
    cluster.delete(&original.key(), original.uid()).unwrap();
    let mut changed = definition(3);
    changed.set(&["spec", "scope"], "Cluster");
    cluster.apply_as(&changed, "person").unwrap();
    let mut global = widget("v1", "global");
    global.set_namespace("");
    cluster.create(&global).unwrap();
    drop(cluster);

    let (cluster, notices) = open(&home);
    assert!(notices[0].contains("objects deleted") && notices[0].contains("global"), "{notices:?}");
    let restored = cluster.get(&original.key()).unwrap().unwrap();
    assert_eq!(restored.spec(), original.spec());
    let widgets = Interest::all_of([global.kind()]);
    assert!(cluster.list(&widgets).unwrap().objects.is_empty());
    cluster.create(&widget("v1", "second")).unwrap();
    drop(cluster);
    let (cluster, notices) = open(&home);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(cluster.list(&widgets).unwrap().objects.len(), 1);
}
