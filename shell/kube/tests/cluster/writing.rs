//! Writes are repeated only when that does no harm, and refusals are told in the server's words.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use operon_driver::{Cluster as _, Interest};
use operon_kube::{Answered, KubeCluster, Options, Verb};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, known};
use operon_rig::{Fault, Injector, Rig};

use crate::support::{config_map, connect, kubeconfig_for, options, with_rig};

#[test]
fn writes_are_made_once_and_refusals_are_told() {
    with_rig("writing", |rig| {
        let injector = Injector::before(rig).expect("a proxy");
        let kubeconfig = kubeconfig_for(rig, &format!("http://{}", injector.address()));
        let cluster = connect(&kubeconfig, options());
        // What the cluster has to know first is not counted below.
        cluster.create(&config_map("first", "1")).unwrap();
        throttled(&injector, &cluster);
        lost_answers(&injector, &cluster);
        unavailable(&injector, &cluster);
        strange_answers(&injector, &cluster);
        refused(rig);
        strange_names(rig);
        held_back(rig);
    });
}

fn too_many(seconds: &'static str) -> Fault {
    let text = r#"{"kind":"Status","code":429,"reason":"TooManyRequests","message":"slowly"}"#;
    Fault::Answer(429, seconds, text.to_owned())
}

/// What the server has not begun is sent again, when the server wants it.
fn throttled(injector: &Injector, cluster: &KubeCluster) {
    injector.clear();
    injector.meet("POST", "configmaps", 2, too_many("Retry-After: 1\r\n"));
    let begun = Instant::now();
    let made = cluster.create(&config_map("throttled", "1")).unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(2), "the server was waited for");
    assert!(!made.uid().is_empty());
    assert_eq!(injector.count("POST", "configmaps"), 3);
    assert_eq!(cluster.counters().repeated, 2);
    injector.clear();
    injector.meet("PATCH", "configmaps", 9, too_many("Retry-After: 600\r\n"));
    let begun = Instant::now();
    let error = cluster.apply(&config_map("throttled", "2")).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unavailable, "slowly"));
    assert!(begun.elapsed() < Duration::from_secs(60), "nobody waits for ten minutes");
    assert_eq!(injector.count("PATCH", "configmaps"), 1);
    injector.clear();
    injector.meet("PATCH", "configmaps", 99, too_many(""));
    let error = cluster.apply(&config_map("throttled", "2")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(injector.count("PATCH", "configmaps"), 4, "and not for ever");
}

/// What may have been done is done again only if that changes nothing.
fn lost_answers(injector: &Injector, cluster: &KubeCluster) {
    injector.clear();
    injector.meet("POST", "configmaps", 1, Fault::LoseAnswer);
    let error = cluster.create(&config_map("lost", "1")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    assert!(error.message.contains("did not answer `create /api/v1/"), "{error}");
    assert_eq!(injector.count("POST", "configmaps"), 1, "it is not made twice");
    let mut made = cluster.get(&config_map("lost", "").key()).unwrap().expect("it was made");

    injector.meet("PATCH", "configmaps", 1, Fault::LoseAnswer);
    let applied = cluster.apply(&config_map("lost", "2")).unwrap();
    assert_eq!(applied.at(&["data", "entry"]).str(), "2");
    assert_eq!(injector.count("PATCH", "configmaps"), 2);

    made.set(&["data", "entry"], "3");
    let stale = cluster.update(&made).unwrap_err();
    assert_eq!(stale.kind, ErrorKind::Conflict, "{stale}");

    injector.meet("DELETE", "configmaps", 1, Fault::LoseAnswer);
    let gone = cluster.delete(&applied.key(), applied.uid()).unwrap_err();
    assert_eq!(gone.kind, ErrorKind::NotFound, "the second time there is nothing: {gone}");
    assert_eq!(injector.count("DELETE", "configmaps"), 2);
}

fn unavailable(injector: &Injector, cluster: &KubeCluster) {
    let down = || Fault::Answer(503, "", "the server is going".to_owned());
    let made = cluster.create(&config_map("unavailable", "1")).unwrap();
    injector.clear();
    injector.meet("PUT", "configmaps", 2, down());
    injector.meet("POST", "configmaps", 1, down());
    let updated = cluster.update(&made).unwrap();
    assert_eq!(injector.count("PUT", "configmaps"), 3);
    let error = cluster.create(&config_map("unavailable-too", "1")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("code 503: the server is going"), "{error}");
    assert_eq!(injector.count("POST", "configmaps"), 1);
    cluster.delete_unchanged(&updated).unwrap();
}

/// Answers that make no sense are failures, not panics.
fn strange_answers(injector: &Injector, cluster: &KubeCluster) {
    let key = config_map("first", "").key();
    let deep = "[".repeat(100_000);
    for (code, text) in [
        (200, ""),
        (200, "{"),
        (200, "[]"),
        (200, "{\"kind\":\"ConfigMap\"}"),
        (200, "\u{0}\u{1}"),
        (200, deep.as_str()),
        (302, "elsewhere"),
        (418, "{\"kind\":\"Status\"}"),
        (500, "{\"kind\":\"Status\",\"code\":99999999,\"message\":7}"),
    ] {
        injector.clear();
        injector.meet("GET", "configmaps/first", 1, Fault::Answer(code, "", text.to_owned()));
        let error = cluster.get(&key).unwrap_err();
        let kinds = [ErrorKind::Unavailable, ErrorKind::Other];
        assert!(kinds.contains(&error.kind), "{code} {text:.40}: {error:?}");
        injector.clear();
        injector.meet("GET", "configmaps?", 1, Fault::Answer(code, "", text.to_owned()));
        let listed = cluster.list(&Interest::all_of([known::CONFIG_MAP]));
        assert!(listed.is_err(), "{code} {text:.40}");
    }
    injector.clear();
    assert!(cluster.get(&key).unwrap().is_some());
}

fn refused(rig: &Rig) {
    let admin = connect(&rig.kubeconfig(), options());
    let alice = connect(&rig.kubeconfig_of_user("alice").unwrap(), options());
    let made = admin.create(&config_map("hers-not", "1")).unwrap();
    let key = made.key();
    let refusals = [
        alice.get(&key).unwrap_err(),
        alice.list(&Interest::all_of([known::SECRET])).unwrap_err(),
        alice.create(&config_map("hers", "1")).unwrap_err(),
        alice.apply(&config_map("hers", "1")).unwrap_err(),
        alice.update(&made).unwrap_err(),
        alice.delete(&key, made.uid()).unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.kind, ErrorKind::Forbidden, "{refusal}");
        assert!(refusal.message.contains("User \"alice\" cannot"), "{refusal}");
    }
    let counters = alice.counters();
    assert_eq!(counters.requests.get(&(Verb::Get, Answered::Code(403))), Some(&1));
    assert_eq!(counters.writes(), 4);
    let mut huge = config_map("huge", "1");
    huge.set(&["data", "entry"], "x".repeat(4 << 20));
    for answer in [admin.create(&huge), admin.apply(&huge)] {
        assert_eq!(answer.unwrap_err().kind, ErrorKind::Invalid);
    }
    let wrong = Object::new("v1", "ConfigMap", "", "no-namespace");
    assert_eq!(admin.create(&wrong).unwrap_err().kind, ErrorKind::Invalid);
    assert_eq!(admin.get(&wrong.key()).unwrap(), None);
    let old = Object::new("policy/v1beta1", "PodDisruptionBudget", "default", "old");
    let error = admin.apply(&old).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.message.contains("policy/v1beta1"), "{error}");
}

/// Names that no object can have are no reason to fail: users write them into their objects.
fn strange_names(rig: &Rig) {
    let cluster = connect(&rig.kubeconfig(), options());
    let long = "x".repeat(100_000);
    let names = ["a,b", "a=b", "a\\b", "..", "ü", "a b", "\n", "a/b", "100%", "?", "#", "&", &long];
    let interests = names.map(|name| Interest::named(known::SECRET.key("default", name)));
    let interests = BTreeSet::from(interests);
    let listing = cluster.list(&interests).unwrap();
    assert!(listing.objects.is_empty());
    let changes = cluster.changes(&interests, &listing.cursor).unwrap();
    assert!(changes.changes.is_empty());
    for name in names {
        assert_eq!(cluster.get(&known::SECRET.key("default", name)).unwrap(), None, "{name:.10}");
    }
}

/// Requests leave no faster than they may, reads too.
fn held_back(rig: &Rig) {
    let slow = Options { requests_per_second: 20, requests_burst: 1, ..Options::default() };
    let cluster = connect(&rig.kubeconfig(), slow);
    let key = config_map("first", "").key();
    let begun = Instant::now();
    for _ in 0..20 {
        cluster.get(&key).unwrap();
    }
    assert!(begun.elapsed() >= Duration::from_millis(950), "{:?}", begun.elapsed());
}
