//! What holds whatever is asked, in any order.

use std::collections::BTreeMap;

use operon_apiserver::{
    ChangeFilter, ChangeKind, Limits, Part, Propagation, Server, Settings, Target,
};
use operon_object::{ApiKind, Object, ObjectKey};
use proptest::prelude::*;

use crate::support::{Bench, config_map, definition, object, target};

/// One thing that somebody does. Names are small numbers, so that they meet.
#[derive(Debug, Clone)]
enum Deed {
    Create {
        name: u8,
        owner: Option<u8>,
        is_held: bool,
    },
    /// Replaces what was read so many deeds ago.
    Update {
        name: u8,
        value: u8,
        is_stale: bool,
    },
    Apply {
        name: u8,
        manager: u8,
        value: u8,
        force: bool,
    },
    Own {
        name: u8,
        owner: u8,
    },
    Free {
        name: u8,
    },
    Delete {
        name: u8,
        propagation: Propagation,
    },
    Custom {
        name: u8,
        owner: Option<u8>,
    },
    Definition {
        is_wanted: bool,
    },
    Namespace {
        is_wanted: bool,
    },
    Sleep {
        seconds: u8,
    },
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let name = || 0..5_u8;
    let propagation = prop_oneof![
        Just(Propagation::Background),
        Just(Propagation::Foreground),
        Just(Propagation::Orphan)
    ];
    let deed = prop_oneof![
        6 => (name(), proptest::option::of(name()), any::<bool>())
            .prop_map(|(name, owner, is_held)| Deed::Create { name, owner, is_held: is_held && name == 0 }),
        4 => (name(), any::<u8>(), any::<bool>())
            .prop_map(|(name, value, is_stale)| Deed::Update { name, value, is_stale }),
        4 => (name(), 0..3_u8, 0..3_u8, any::<bool>())
            .prop_map(|(name, manager, value, force)| Deed::Apply { name, manager, value, force }),
        3 => (name(), name()).prop_map(|(name, owner)| Deed::Own { name, owner }),
        1 => name().prop_map(|name| Deed::Free { name }),
        3 => (name(), propagation).prop_map(|(name, propagation)| Deed::Delete { name, propagation }),
        2 => (name(), proptest::option::of(name())).prop_map(|(name, owner)| Deed::Custom { name, owner }),
        1 => any::<bool>().prop_map(|is_wanted| Deed::Definition { is_wanted }),
        1 => any::<bool>().prop_map(|is_wanted| Deed::Namespace { is_wanted }),
        3 => (0..3_u8).prop_map(|seconds| Deed::Sleep { seconds }),
    ];
    proptest::collection::vec(deed, 1..40)
}

fn place(name: u8) -> Target {
    target(&format!("v1 ConfigMap shop/c{name}"))
}

fn reference(bench: &Bench, owner: Option<u8>) -> String {
    let found = owner.and_then(|owner| bench.get(&place(owner)));
    found.map_or(String::new(), |found| {
        format!(
            r#","ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"{}","uid":"{}","blockOwnerDeletion":true}}]"#,
            found.name(),
            found.uid()
        )
    })
}

fn act(bench: &mut Bench, read: &mut BTreeMap<u8, Object>, deed: &Deed) {
    match deed {
        Deed::Create { name, owner, is_held } => {
            let held = if *is_held { r#","finalizers":["a.b/c"]"# } else { "" };
            let more = format!("{}{held}", reference(bench, *owner));
            let _ = bench.try_create(&config_map(&format!("c{name}"), &more));
        }
        Deed::Update { name, value, is_stale } => {
            let fresh = bench.get(&place(*name));
            let known = if *is_stale { read.get(name).cloned() } else { fresh };
            let Some(mut changed) = known else { return };
            let version = changed.resource_version().to_owned();
            changed.set(&["data", "a"], i64::from(*value).to_string());
            let current = bench.get(&place(*name));
            let is_current = current.is_some_and(|now| now.resource_version() == version);
            let answer = bench.try_update(changed, Part::Whole);
            assert_eq!(answer.is_ok(), is_current, "a write is lost exactly when it is stale");
        }
        Deed::Apply { name, manager, value, force } => {
            let text =
                config_map(&format!("c{name}"), "").replace("\"1\"", &format!("\"{value}\""));
            let _ = bench.try_apply(&format!("m{manager}"), &text, *force);
        }
        Deed::Own { name, owner } => {
            let reference = reference(bench, Some(*owner));
            let patch = format!(r#"{{"metadata":{{"annotations":{{"x":"y"}}{reference}}}}}"#);
            let _ = bench.patch(&place(*name), &patch);
        }
        Deed::Free { name } => {
            let _ = bench.patch(&place(*name), r#"{"metadata":{"finalizers":null}}"#);
        }
        Deed::Delete { name, propagation } => {
            let _ = bench.delete(&place(*name), *propagation);
        }
        Deed::Custom { name, owner } => {
            let more = reference(bench, *owner);
            let _ = bench.try_create(&format!(
                r#"{{"apiVersion":"etcd.io/v1beta1","kind":"Etcd","metadata":{{"name":"e{name}","namespace":"shop"{more}}},"spec":{{}}}}"#
            ));
        }
        Deed::Definition { is_wanted: true } => drop(bench.try_create(&definition())),
        Deed::Definition { is_wanted: false } => {
            let definition = "apiextensions.k8s.io/v1 CustomResourceDefinition etcds.etcd.io";
            let _ = bench.delete(&target(definition), Propagation::Background);
        }
        Deed::Namespace { is_wanted: true } => {
            let text = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#;
            let _ = bench.try_create(text);
        }
        Deed::Namespace { is_wanted: false } => {
            let _ = bench.delete(&target("v1 Namespace shop"), Propagation::Background);
        }
        Deed::Sleep { seconds } => {
            bench.sleep(u64::from(*seconds));
        }
    }
    if let Deed::Create { name, .. } | Deed::Apply { name, .. } | Deed::Own { name, .. } = deed
        && let Some(found) = bench.get(&place(*name))
    {
        read.insert(*name, found);
    }
}

fn objects_of(server: &Server) -> BTreeMap<ObjectKey, Object> {
    server.objects().map(|object| (object.key(), object.clone())).collect()
}

/// No object has an owner that could be looked up and is not there, unless it is on its way out.
fn dangling(server: &Server) -> Vec<String> {
    let is_dangling = |object: &&Object| {
        let mut owners = object.owners();
        !object.is_deleting()
            && owners.any(|owner| {
                let kind = ApiKind::from_api_version(&owner.api_version, &owner.kind);
                let namespace = if owner.kind == "Namespace" { "" } else { object.namespace() };
                let found = server.object(&kind.kind.key(namespace, &owner.name));
                found.is_none_or(|found| found.uid() != owner.uid)
            })
    };
    server.objects().filter(is_dangling).map(|object| object.key().to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_server_keeps_its_promises(deeds in deeds(), step_writes in 1..5_usize) {
        let limits = Limits { step_writes, ..Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let mut bench = Bench::with(settings);
        let mut read = BTreeMap::new();
        for deed in &deeds {
            act(&mut bench, &mut read, deed);
        }
        bench.settle();
        prop_assert_eq!(dangling(&bench.server), Vec::<String>::new());

        // Revisions grow by one with each commit, and every object carries that of its last one.
        let revisions: Vec<u64> = bench.commits.iter().map(|commit| commit.revision).collect();
        let expected: Vec<u64> = (1..=bench.server.revision()).collect();
        prop_assert_eq!(revisions, expected);

        // The commits, and the changes that watchers see, both tell the same story.
        let mut stored = BTreeMap::new();
        for commit in &bench.commits {
            for (key, object) in &commit.writes {
                match object {
                    Some(object) => stored.insert(key.clone(), object.clone()),
                    None => stored.remove(key),
                };
            }
        }
        let now = objects_of(&bench.server);
        prop_assert_eq!(&stored, &now);
        let mut watched = BTreeMap::new();
        for change in bench.server.changes_since(0, &ChangeFilter::default()).unwrap() {
            let key = change.object.key();
            let was_there = match change.kind {
                ChangeKind::Added | ChangeKind::Modified => {
                    watched.insert(key, change.object).is_some()
                }
                ChangeKind::Deleted => watched.remove(&key).is_some(),
            };
            prop_assert_eq!(was_there, change.kind != ChangeKind::Added);
        }
        prop_assert_eq!(&watched, &now);

        // A restored server is the same server, and finds nothing to do.
        let last = bench.commits.last().unwrap().clone();
        let mut restored = Server::restore(now.values().cloned(), last.revision, last.counters, settings);
        prop_assert_eq!(restored.kinds(), bench.server.kinds());
        restored.tick(bench.now, |commit| Err(commit.clone())).unwrap();
        prop_assert_eq!(objects_of(&restored), now);
        let fresh = |server: &Server| {
            let object = object(r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"n-"}}"#);
            let request = operon_apiserver::Request::Create { object, manager: "m".into() };
            server.prepare(&request, bench.now).unwrap().commit
        };
        prop_assert_eq!(fresh(&restored), fresh(&bench.server));
    }

    #[test]
    fn applying_twice_is_applying_once(deeds in deeds(), value in 0..3_u8) {
        let mut bench = Bench::new();
        let mut read = BTreeMap::new();
        for deed in &deeds {
            act(&mut bench, &mut read, deed);
        }
        bench.settle();
        let text = config_map("c1", "").replace("\"1\"", &format!("\"{value}\""));
        if bench.try_apply("final", &text, true).is_ok() {
            bench.settle();
            let revision = bench.server.revision();
            bench.sleep(60);
            prop_assert!(bench.try_apply("final", &text, false).is_ok());
            prop_assert_eq!(bench.server.revision(), revision);
        }
    }
}
