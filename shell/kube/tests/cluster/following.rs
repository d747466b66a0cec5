//! Watches go on through everything, and leave nothing out.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use operon_driver::{Cluster as _, Interest};
use operon_kube::{Answered, KubeCluster, Options, PAGE_LIMIT, Verb};
use operon_object::{Kind, Object, Value, known, list, map};
use operon_rig::{Component, Fault, Injector, Proxy, Rig};

use crate::{
    follower::Follower,
    support::{config_map, connect, eventually, kubeconfig_for, options, with_rig},
};

/// As many as no page holds.
const MANY: usize = 5000;

const LABEL: &str = "example.com/test";

#[test]
fn watches_survive_what_networks_and_servers_do() {
    with_rig("following", |rig| {
        let direct = connect(&rig.kubeconfig(), options());
        cut(rig, &direct);
        silent(rig, &direct);
        forgotten(rig, &direct);
        kinds(rig, &direct);
        pages(rig, &direct);
        metadata_alone(rig, &direct);
    });
}

fn labelled(name: &str, entry: &str, value: &str) -> Object {
    let mut object = config_map(name, entry);
    object.set_label(LABEL, value);
    object
}

fn proxied(rig: &Rig, options: Options) -> (Proxy, KubeCluster) {
    let proxy = Proxy::before(rig.api_server()).expect("a proxy");
    let kubeconfig = kubeconfig_for(rig, &format!("https://{}", proxy.address()));
    let cluster = connect(&kubeconfig, options);
    (proxy, cluster)
}

/// Where metadata is enough, bodies are left out, and everything else is as ever.
fn metadata_alone(rig: &Rig, direct: &KubeCluster) {
    let before = direct.create(&labelled("described-old", "1", "described")).unwrap();
    let cluster = connect(&rig.kubeconfig(), options());
    let mut follower = Follower::new(&cluster, [Interest::metadata_of(known::CONFIG_MAP)].into());
    let after = direct.create(&labelled("described-new", "2", "described")).unwrap();
    follower.look_for(&after.key(), Some(after.resource_version()));
    for whole in [&before, &after] {
        let seen = &follower.objects[&whole.key()];
        assert_eq!(seen.kind(), known::CONFIG_MAP);
        assert_eq!((seen.uid(), seen.label(LABEL)), (whole.uid(), "described"));
        assert!(!whole.at(&["data"]).is_null() && seen.at(&["data"]).is_null(), "{seen:?}");
    }
    direct.delete(&after.key(), after.uid()).unwrap();
    follower.look_for(&after.key(), None);
}

/// Cutting connections loses nothing and doubles nothing.
fn cut(rig: &Rig, direct: &KubeCluster) {
    let (proxy, cluster) = proxied(rig, options());
    let interests = [Interest::labelled(known::CONFIG_MAP, LABEL, "cut")].into();
    let old = direct.create(&labelled("cut-old", "1", "cut")).unwrap();
    let mut follower = Follower::new(&cluster, interests);
    assert!(follower.objects.contains_key(&old.key()));
    let mut last = old.clone();
    for round in 0..20 {
        last = direct.apply(&labelled("cut-new", &round.to_string(), "cut")).unwrap();
        proxy.cut();
        direct.create(&config_map(&format!("cut-foreign-{round}"), "1")).unwrap();
        thread::sleep(Duration::from_millis(30));
    }
    direct.delete(&old.key(), old.uid()).unwrap();
    follower.look_for(&last.key(), Some(last.resource_version()));
    follower.look_for(&old.key(), None);
    follower.require_no_doubles();
    assert_eq!(follower.objects.len(), 1, "{:?}", follower.objects.keys());
    let counters = cluster.counters();
    assert!(counters.watch_restarts > 0, "{counters:?}");
    assert_eq!(counters.watches, 1);
    assert!(cluster.is_synced());
}

/// A connection that is dead without a word is noticed.
fn silent(rig: &Rig, direct: &KubeCluster) {
    let (watch_silence, request_timeout) = (Duration::from_secs(2), Duration::from_secs(2));
    let (proxy, cluster) = proxied(rig, Options { watch_silence, request_timeout, ..options() });
    let interests = [Interest::labelled(known::CONFIG_MAP, LABEL, "silent")].into();
    let mut follower = Follower::new(&cluster, interests);
    eventually("the watch is open", || cluster.is_synced());
    proxy.block();
    let made = direct.create(&labelled("silent", "1", "silent")).unwrap();
    eventually("the silence is noticed", || !cluster.is_synced());
    let (interest, reason) = cluster.broken_watches().remove(0);
    assert_eq!(interest.kind, known::CONFIG_MAP);
    assert!(reason.contains("silent for 2 s") || reason.contains("did not answer"), "{reason}");
    assert!(!cluster.wait(Duration::from_millis(10)), "nothing was heard");
    proxy.pass();
    assert!(cluster.wait(crate::support::PATIENCE), "what happened is heard");
    follower.look_for(&made.key(), Some(made.resource_version()));
    follower.require_no_doubles();
    eventually("the watch is open again", || cluster.is_synced());
}

/// A past that the server has forgotten is made up for: what came, what changed and what went.
fn forgotten(rig: &Rig, direct: &KubeCluster) {
    let (proxy, cluster) = proxied(rig, options());
    let interests = [Interest::labelled(known::CONFIG_MAP, LABEL, "forgotten")].into();
    for name in ["stays", "changes", "goes", "moves", "is-replaced"] {
        direct.create(&labelled(name, "1", "forgotten")).unwrap();
    }
    let mut follower = Follower::new(&cluster, interests);
    let mut direct_follower =
        Follower::new(direct, [Interest::labelled(known::CONFIG_MAP, LABEL, "forgotten")].into());
    eventually("the watches are open", || cluster.is_synced() && direct.is_synced());
    proxy.refuse();
    let key = |name: &str| known::CONFIG_MAP.key("default", name);
    let changed = direct.apply(&labelled("changes", "2", "forgotten")).unwrap();
    let uid = |name: &str| direct.get(&key(name)).unwrap().unwrap().uid().to_owned();
    for name in ["goes", "is-replaced"] {
        direct.delete(&key(name), &uid(name)).unwrap();
    }
    let moved = direct.apply(&labelled("moves", "1", "elsewhere")).unwrap();
    let came = direct.create(&labelled("comes", "1", "forgotten")).unwrap();
    let replaced = direct.create(&labelled("is-replaced", "2", "forgotten")).unwrap();
    // A server that was started anew remembers no past.
    rig.kill(Component::ApiServer).unwrap();
    // Its port is free only when the system has put everything of it away.
    eventually("the API server starts again", || rig.start(Component::ApiServer).is_ok());
    proxy.pass();
    for object in [&changed, &came, &replaced] {
        follower.look_for(&object.key(), Some(object.resource_version()));
        direct_follower.look_for(&object.key(), Some(object.resource_version()));
    }
    follower.look_for(&key("goes"), None);
    follower.look_for(&moved.key(), None);
    follower.require_no_doubles();
    let stayed = follower.told.iter().filter(|(told, _)| *told == key("stays")).count();
    assert_eq!(stayed, 0, "what stayed is not told again");
    assert!(cluster.counters().relists > 0, "{:?}", cluster.counters());
    // The one whose connection the server broke goes on too.
    let late = direct.create(&labelled("late", "1", "forgotten")).unwrap();
    follower.look_for(&late.key(), Some(late.resource_version()));
    direct_follower.look_for(&late.key(), Some(late.resource_version()));
    direct_follower.require_no_doubles();
}

fn lamp_definition() -> Object {
    let name = "lamps.following.example.com";
    let mut definition =
        Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name);
    let schema = map! { "type" => "object", "x-kubernetes-preserve-unknown-fields" => true };
    let version = map! {
        "name" => "v1",
        "served" => true,
        "storage" => true,
        "schema" => map! { "openAPIV3Schema" => schema },
    };
    let names = map! { "plural" => "lamps", "singular" => "lamp", "kind" => "Lamp" };
    let spec = map! {
        "group" => "following.example.com",
        "scope" => "Namespaced",
        "names" => names,
        "versions" => list![version],
    };
    definition.set(&["spec"], spec);
    definition
}

/// Kinds come and go with their definitions, and are followed all the while.
fn kinds(rig: &Rig, cluster: &KubeCluster) {
    let kind = Kind::new("following.example.com", "Lamp");
    let interests = Interest::all_of([kind.clone(), known::CUSTOM_RESOURCE_DEFINITION]);
    let mut follower = Follower::new(cluster, interests);
    for round in 0..2 {
        let definition = cluster.create(&lamp_definition()).unwrap();
        let lamp = Object::new("following.example.com/v1", "Lamp", "default", "lamp");
        let mut made = None;
        eventually("a lamp can be made", || {
            made = cluster.create(&lamp).ok();
            made.is_some()
        });
        let made = made.unwrap();
        let begun = Instant::now();
        follower.look_for(&made.key(), Some(made.resource_version()));
        println!("round {round}: a new kind is followed after {:?}", begun.elapsed());
        let apis = cluster.native_apis().unwrap();
        assert!(apis.iter().any(|api| api.kind == "Deployment" && api.group == "apps"));
        assert!(apis.iter().any(|api| api.kind == "ConfigMap" && api.group.is_empty()));
        assert!(!apis.iter().any(|api| api.kind == "Lamp"), "a definition brought it");
        unreadable(rig, cluster, &mut follower, &kind);
        cluster.delete(&definition.key(), definition.uid()).unwrap();
        follower.look_for(&made.key(), None);
        follower.look_for(&definition.key(), None);
        eventually("the kind is gone", || cluster.create(&lamp).is_err());
    }
    follower.require_no_doubles();
    assert!(cluster.server_version().unwrap().starts_with("v1."));
}

/// An object that nests more deeply than anybody reads is passed over; its neighbours are told.
fn unreadable(rig: &Rig, cluster: &KubeCluster, follower: &mut Follower<'_>, kind: &Kind) {
    let (open, close) = ("{\"a\":".repeat(500), "}".repeat(500));
    let text = r#"{"apiVersion":"following.example.com/v1","kind":"Lamp","#;
    let text = format!(
        "{text}\"metadata\":{{\"name\":\"deep\",\"namespace\":\"default\"}},\"spec\":{open}1{close}}}"
    );
    rig.apply(&text).unwrap();
    let next = Object::new("following.example.com/v1", "Lamp", "default", "next");
    let next = cluster.create(&next).unwrap();
    follower.look_for(&next.key(), Some(next.resource_version()));
    let other = connect(&rig.kubeconfig(), options());
    let listed = other.list(&Interest::all_of([kind.clone()])).unwrap().objects;
    let names: Vec<&str> = listed.iter().map(Object::name).collect();
    assert_eq!(names, ["lamp", "next"]);
    assert_eq!(other.counters().unreadable, 1);
    assert!(cluster.counters().unreadable > 0);
    rig.kubectl(&["delete", "lamps.following.example.com", "deep"]).unwrap();
    cluster.delete(&next.key(), next.uid()).unwrap();
    follower.look_for(&next.key(), None);
}

/// Many objects come in pages, also when a page is forgotten before it was fetched.
fn pages(rig: &Rig, cluster: &KubeCluster) {
    thread::scope(|scope| {
        for part in 0..8 {
            scope.spawn(move || {
                for number in (part..MANY).step_by(8) {
                    cluster.create(&labelled(&format!("many-{number}"), "1", "many")).unwrap();
                }
            });
        }
    });
    let interests = [Interest::labelled(known::CONFIG_MAP, LABEL, "many")].into();
    let lister = connect(&rig.kubeconfig(), options());
    let begun = Instant::now();
    let mut follower = Follower::new(&lister, interests);
    println!("{MANY} ConfigMaps were listed in {:?}", begun.elapsed());
    assert_eq!(follower.objects.len(), MANY);
    let pages = lister.counters().requests[&(Verb::List, Answered::Code(200))];
    // The last page may be empty: the server did not know that nothing more carries the label.
    let least = MANY.div_ceil(PAGE_LIMIT as usize) as u64;
    assert!((least..=least + 1).contains(&pages), "{pages} pages");
    let last = cluster.apply(&labelled("many-7", "2", "many")).unwrap();
    follower.look_for(&last.key(), Some(last.resource_version()));
    assert_eq!(follower.told.len(), 1);

    let injector = Injector::before(rig).expect("a proxy");
    let kubeconfig = kubeconfig_for(rig, &format!("http://{}", injector.address()));
    let injected = connect(&kubeconfig, options());
    let expired = r#"{"kind":"Status","code":410,"reason":"Expired","message":"too old"}"#;
    // It was on the page that was listed already.
    let remover = connect(&rig.kubeconfig(), options());
    let first = remover.get(&config_map("many-0", "").key()).unwrap().unwrap();
    let remove = move || remover.delete(&first.key(), first.uid()).unwrap();
    injector.meet("GET", "continue=", 1, Fault::After(Arc::new(remove), 410, expired.to_owned()));
    let interests = [Interest::labelled(known::CONFIG_MAP, LABEL, "many")].into();
    let listed = injected.list(&interests).unwrap().objects;
    assert_eq!(listed.len(), MANY - 1, "a listing begins again when its next page is forgotten");
    assert!(listed.iter().all(|object| object.name() != "many-0"));
    assert!(listed.iter().all(|object| object.at(&["data", "entry"]) != &Value::Null));
}
