//! The file: what is in it is there again, what is not a store is refused, and it does not grow.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::support::{Home, config_map};
use operon_driver::{Cluster as _, Cursor, Interest};
use operon_lifecycle::ErrorKind;
use operon_local::{COMPACT_ABOVE_BYTES, FORMAT, LocalCluster, OpenError};
use operon_object::{Object, Value, known, list, map};
use redb::{Database, ReadableDatabase as _, TableDefinition};

fn objects(cluster: &LocalCluster) -> Vec<Object> {
    let kinds = known::KNOWN_KINDS.iter().map(|known| known.kind.clone());
    cluster.list(&Interest::all_of(kinds)).unwrap().objects
}

#[test]
fn what_was_written_is_there_again() {
    let home = Home::new();
    let cluster = home.open();
    let mut odd = config_map("odd", "1");
    odd.set(&["unheard"], map! { "of" => list![Value::Float(3.0), 3, Value::Null, "\u{0}<>"] });
    let odd = cluster.create(&odd).unwrap();
    let other = cluster.create(&config_map("other", "1")).unwrap();
    let gone = cluster.create(&config_map("gone", "1")).unwrap();
    cluster.delete(&gone.key(), gone.uid()).unwrap();
    let before = objects(&cluster);
    let point = cluster.list(&BTreeSet::new()).unwrap().cursor;
    drop(cluster);

    let cluster = home.open();
    assert_eq!(objects(&cluster), before);
    assert_eq!(cluster.get(&odd.key()).unwrap(), Some(odd));
    let same = cluster.list(&BTreeSet::new()).unwrap().cursor;
    assert_eq!(same, point, "opening a store writes nothing");
    let again = cluster.create(&config_map("gone", "1")).unwrap();
    assert!(![gone.uid(), other.uid()].contains(&again.uid()), "no identity is given twice");
    assert_eq!(
        cluster.changes(&Interest::all_of([known::CONFIG_MAP]), &point).unwrap().changes.len(),
        1
    );
    drop(cluster);

    let cluster = home.open();
    let kinds = Interest::all_of([known::CONFIG_MAP]);
    let old = cluster.changes(&kinds, &point).unwrap_err();
    assert_eq!(old.kind, ErrorKind::Conflict, "what happened before the opening is forgotten");
    let elsewhere = Home::new().open().list(&kinds).unwrap().cursor;
    let foreign = cluster.changes(&kinds, &elsewhere).unwrap_err();
    assert_eq!(foreign.kind, ErrorKind::Conflict, "the point of another cluster means nothing");
    let mut future: Cursor = cluster.list(&kinds).unwrap().cursor;
    future.0.insert("revision".to_owned(), "999999".to_owned());
    assert_eq!(cluster.changes(&kinds, &future).unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn files_that_are_not_stores_are_refused_and_kept() {
    let home = Home::new();
    let refuse = |path: &Path| match LocalCluster::open(path, home.options()) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    };
    let beside = |name: &str| home.directory.path().join(name);

    let error = refuse(&beside("missing/operon.redb"));
    assert!(matches!(error, OpenError::NoDirectory { .. }), "{error}");
    assert!(error.to_string().contains("create it"), "{error}");

    for (name, bytes) in [("text", b"kind: Namespace\n".to_vec()), ("noise", vec![7; 10_000])] {
        fs::write(beside(name), &bytes).unwrap();
        let error = refuse(&beside(name));
        assert!(matches!(error, OpenError::NotAStore { .. }), "{name}: {error}");
        assert_eq!(fs::read(beside(name)).unwrap(), bytes);
    }

    // A database of somebody else.
    let table: TableDefinition<'_, u64, u64> = TableDefinition::new("squares");
    let database = Database::create(beside("other")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(table).unwrap().insert(2, 4).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = refuse(&beside("other"));
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");

    let found = Database::open(beside("other")).unwrap();
    let squares = found.begin_read().unwrap().open_table(table).unwrap();
    assert_eq!(squares.get_owned(2).unwrap().unwrap().value(), 4);

    // A database without tables is not ours either: a store gets its name when it is complete.
    drop(Database::create(beside("bare")).unwrap());
    let error = refuse(&beside("bare"));
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");

    for (name, length) in [("empty", 0), ("short", 5), ("zeros", 1_056_768)] {
        fs::write(beside(name), vec![0; length]).unwrap();
        let error = refuse(&beside(name));
        assert!(matches!(error, OpenError::Blank { .. }), "{name}: {error}");
        assert!(error.to_string().contains("restore it from a backup"), "{error}");
        assert_eq!(fs::read(beside(name)).unwrap(), vec![0; length]);
    }
    fs::write(beside("large"), vec![0; 5 * 1024 * 1024]).unwrap();
    let error = refuse(&beside("large"));
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
}

/// Opens the database under a store, to change it behind its back.
fn tamper(file: &Path, act: impl FnOnce(&redb::WriteTransaction)) {
    let database = Database::open(file).unwrap();
    let transaction = database.begin_write().unwrap();
    act(&transaction);
    transaction.commit().unwrap();
}

#[test]
fn a_newer_format_and_corrupt_objects_are_told() {
    const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts");
    const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
    let home = Home::new();
    let kept = home.open().create(&config_map("kept", "1")).unwrap();
    let set_format = |format: u64| {
        tamper(&home.file(), |transaction| {
            transaction.open_table(FACTS).unwrap().insert("format", format).unwrap();
        });
    };
    set_format(FORMAT + 41);
    let error = LocalCluster::open(&home.file(), home.options()).unwrap_err();
    assert!(matches!(error, OpenError::NewerFormat { .. }));
    let wanted =
        format!("format version {}, and this Operon knows versions up to {FORMAT}", FORMAT + 41);
    assert!(error.to_string().contains(&wanted), "{error}");
    set_format(FORMAT);
    assert_eq!(home.open().get(&kept.key()).unwrap(), Some(kept.clone()));

    let claims: [(&[u8], &str); 3] = [
        (b"{\"apiVersion\":", "unexpected end of JSON input"),
        (b"[]", "an object is a map"),
        (br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"else"}}"#, "it says to be"),
    ];
    for (bytes, wanted) in claims {
        let key = "default/broken//ConfigMap";
        tamper(&home.file(), |transaction| {
            transaction.open_table(OBJECTS).unwrap().insert(key, bytes).unwrap();
        });
        let error = LocalCluster::open(&home.file(), home.options()).unwrap_err();
        assert!(matches!(error, OpenError::CorruptObject { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(key) && text.contains(wanted), "{text}");
    }
    tamper(&home.file(), |transaction| {
        transaction.open_table(OBJECTS).unwrap().remove("default/broken//ConfigMap").unwrap();
    });
    assert_eq!(home.open().get(&kept.key()).unwrap(), Some(kept), "nothing else was lost");
}

#[test]
fn a_store_is_opened_once() {
    let home = Home::new();
    let cluster = home.open();
    let error = LocalCluster::open(&home.file(), home.options()).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("operon.sock"), "{error}");
    drop(cluster);
    home.open();
}

#[test]
fn what_nests_too_deeply_to_be_read_again_is_refused() {
    let home = Home::new();
    let cluster = home.open();
    let mut kept = 0;
    for depth in [300, 390, 394, 395, 396, 397, 398, 399, 400, 401] {
        let mut object = config_map(&format!("deep-{depth}"), "1");
        let inner = (1..depth - 1).fold(Value::from(1), |inner, _| map! { "d" => inner });
        object.set(&["deep"], inner);
        match cluster.create(&object) {
            Ok(_) => kept += 1,
            Err(error) => assert_eq!(error.kind, ErrorKind::Invalid, "{error}"),
        }
    }
    assert!((1..9).contains(&kept), "{kept}");
    drop(cluster);
    let found = home.open().list(&Interest::all_of([known::CONFIG_MAP])).unwrap().objects;
    assert_eq!(found.len(), kept);
}

#[test]
fn time_makes_deployments_ready() {
    let home = Home::new();
    let cluster = home.open();
    let mut deployment = Object::new("apps/v1", "Deployment", "default", "etcd");
    let labels = map! { "app" => "etcd" };
    let annotations = map! { "operon.dev/workload" => "ready-after=3s" };
    let containers = list![map! { "name" => "etcd", "image" => "etcd" }];
    deployment.set(
        &["spec"],
        map! {
            "selector" => map! { "matchLabels" => labels.clone() },
            "template" => map! {
                "metadata" => map! { "labels" => labels, "annotations" => annotations },
                "spec" => map! { "containers" => containers },
            },
        },
    );
    let made = cluster.create(&deployment).unwrap();
    let ready = || {
        let found = cluster.get(&made.key()).unwrap().unwrap();
        found.status().get("readyReplicas").as_integer().unwrap_or(0)
    };
    let wake = cluster.advance(home.hands.now()).expect("it waits for the pods");
    assert!(ready() == 0 && wake > home.hands.now());
    let point = cluster.list(&BTreeSet::new()).unwrap().cursor;
    assert!(!cluster.wait_for_change(&point, Duration::ZERO));
    assert_eq!(cluster.advance(home.hands.now()), Some(wake), "nothing is due yet");
    home.hands.turn(wake.since(home.hands.now()));
    cluster.advance(home.hands.now());
    assert_eq!(ready(), 1);
    assert!(cluster.wait_for_change(&point, Duration::from_secs(60)));
}

#[test]
fn the_file_does_not_grow_with_the_number_of_changes() {
    let home = Home::new();
    let cluster = home.open();
    let mut object = cluster.create(&config_map("busy", "0")).unwrap();
    let mut update = |updates: u32| {
        let begun = Instant::now();
        for number in 0..updates {
            object.set(&["data", "entry"], number.to_string());
            object = cluster.update(&object).unwrap();
        }
        let each = begun.elapsed().as_secs_f64() * 1000.0 / f64::from(updates);
        println!("{each:.3} ms for each acknowledged write");
        fs::metadata(home.file()).unwrap().len()
    };
    let early = update(200);
    let late = update(1000);
    assert!(late <= early, "{early} bytes became {late}");
}

#[test]
fn a_file_that_is_mostly_free_is_made_smaller() {
    let home = Home::new();
    let cluster = home.open();
    let large = "x".repeat(1_000_000);
    let made: Vec<Object> = (0..24)
        .map(|number| cluster.create(&config_map(&format!("large-{number}"), &large)).unwrap())
        .collect();
    for object in &made[1..] {
        cluster.delete(&object.key(), object.uid()).unwrap();
    }
    drop(cluster);
    let before = fs::metadata(home.file()).unwrap().len();
    assert!(before > COMPACT_ABOVE_BYTES, "{before}");
    let cluster = home.open();
    let after = fs::metadata(home.file()).unwrap().len();
    assert!(after < before / 2, "{before} -> {after}");
    assert_eq!(cluster.get(&made[0].key()).unwrap().as_ref(), made.first());
    drop(cluster);
    assert_eq!(home.open().get(&made[0].key()).unwrap().as_ref(), made.first());
}
