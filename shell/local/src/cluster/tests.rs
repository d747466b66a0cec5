//! The cluster on a disk that becomes full at every possible moment, and after a panic.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use operon_apiserver::Settings;
use operon_driver::{Cluster as _, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, known};
use tempfile::TempDir;

use super::LocalCluster;
use crate::{OpenError, Options, disk::Room, system_clock};

/// More changes of the file than opening or writing takes.
const MORE_THAN_ENOUGH: u64 = 400;

fn options() -> Options {
    Options {
        definitions: Vec::new(),
        manager: "tester".to_owned(),
        clock: system_clock(),
        settings: Settings::default(),
        notify: Arc::new(|_| {}),
    }
}

fn config_map(name: &str, entry: &str) -> Object {
    let mut object = Object::new("v1", "ConfigMap", "default", name);
    object.set(&["data", "entry"], entry);
    object
}

/// Everything there is, to compare.
fn contents(cluster: &LocalCluster) -> Vec<Object> {
    let kinds = [known::NAMESPACE, known::CONFIG_MAP, known::SERVICE_ACCOUNT];
    cluster.list(&Interest::all_of(kinds)).unwrap().objects
}

fn has(contents: &[Object], wanted: &Object) -> bool {
    contents.iter().any(|object| object == wanted)
}

fn open(file: &Path) -> LocalCluster {
    LocalCluster::open(file, options()).unwrap()
}

#[test]
fn a_disk_that_fills_up_loses_nothing() {
    let mut refused = 0;
    for changes in 0..MORE_THAN_ENOUGH {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("operon.redb");
        let room = Room::endless();
        let cluster = LocalCluster::open_with_room(&file, options(), Arc::clone(&room)).unwrap();
        let kept = cluster.create(&config_map("kept", "1")).unwrap();
        let before = contents(&cluster);
        room.leave(Some(changes));
        // Large enough that the file has to grow.
        let written = cluster.create(&config_map("new", &"large".repeat(100_000)));
        let is_over = written.is_ok();
        if let Err(error) = &written {
            refused += 1;
            assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
            assert!(error.message.contains("no room left on the disk"), "{error}");
            let again = cluster.update(&kept).map(|_| ());
            // What would change nothing needs no room, unless the file has to be opened first.
            assert!(again.is_ok() || again.is_err_and(|e| e.kind == ErrorKind::Unavailable));
            assert_eq!(contents(&cluster), before, "what was acknowledged can be read");
        }
        room.leave(None);
        let later = cluster.create(&config_map("later", "1")).unwrap();
        let after = contents(&cluster);
        assert!(has(&after, &kept) && has(&after, &later), "after {changes} changes");
        if let Ok(written) = &written {
            assert!(has(&after, written));
        }
        drop(cluster);
        assert_eq!(contents(&open(&file)), after, "after {changes} changes");
        if is_over {
            assert!(refused > 5, "the disk became full {refused} times only");
            return;
        }
    }
    panic!("{MORE_THAN_ENOUGH} changes are not enough for one write");
}

#[test]
fn a_store_that_is_taken_away_is_not_made_anew_under_way() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("operon.redb");
    let room = Room::endless();
    let cluster = LocalCluster::open_with_room(&file, options(), Arc::clone(&room)).unwrap();
    let kept = cluster.create(&config_map("kept", "1")).unwrap();
    room.leave(Some(0));
    assert!(cluster.create(&config_map("new", "1")).is_err());
    room.leave(None);
    fs::rename(&file, directory.path().join("away.redb")).unwrap();
    for is_replaced in [false, true] {
        if is_replaced {
            drop(open(&file));
        }
        let error = cluster.create(&config_map("new", "1")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
        assert_eq!(cluster.get(&kept.key()).unwrap(), Some(kept.clone()), "reading goes on");
    }
    fs::rename(directory.path().join("away.redb"), &file).unwrap();
    assert!(cluster.create(&config_map("new", "1")).is_ok());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn making_a_store_can_be_interrupted_at_any_moment() {
    for changes in 0..MORE_THAN_ENOUGH {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("operon.redb");
        let room = Room::endless();
        room.leave(Some(changes));
        let opened = LocalCluster::open_with_room(&file, options(), room);
        let is_over = opened.is_ok();
        match opened {
            Ok(cluster) => drop(cluster),
            Err(OpenError::NoRoom { .. } | OpenError::NotStored { .. }) => {}
            Err(other) => panic!("after {changes} changes: {other}"),
        }
        let namespaces = open(&file).list(&Interest::all_of([known::NAMESPACE])).unwrap().objects;
        let names: Vec<&str> = namespaces.iter().map(Object::name).collect();
        assert_eq!(names, ["default", "kube-system", "olm"], "after {changes} changes");
        if is_over {
            return;
        }
    }
    panic!("{MORE_THAN_ENOUGH} changes are not enough to make a store");
}

#[test]
fn after_a_panic_the_file_is_believed() {
    let directory = TempDir::new().unwrap();
    let cluster = Arc::new(open(&directory.path().join("operon.redb")));
    let kept = cluster.create(&config_map("kept", "1")).unwrap();
    let point = cluster.list(&BTreeSet::new()).unwrap().cursor;
    let other = Arc::clone(&cluster);
    let panicked = std::thread::spawn(move || {
        let mut state = other.lock();
        // Half of something that is not in the file.
        state.server = operon_apiserver::Server::new();
        panic!("on purpose");
    });
    assert!(panicked.join().is_err());
    assert_eq!(cluster.get(&kept.key()).unwrap(), Some(kept.clone()));
    assert!(cluster.changes(&BTreeSet::new(), &point).is_ok());
    cluster.delete(&kept.key(), kept.uid()).unwrap();
    assert_eq!(cluster.get(&kept.key()).unwrap(), None);
}
