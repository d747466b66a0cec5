//! Of several processes one writes, and one that lost the lease without knowing it does not.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use operon_driver::Cluster as _;
use operon_kube::{KubeCluster, LeaseOptions, Options};
use operon_lifecycle::ErrorKind;
use operon_object::known;
use operon_rig::{Proxy, Rig};

use crate::support::{config_map, connect, eventually, kubeconfig_for, options, with_rig};

const DURATION: Duration = Duration::from_secs(3);

fn lease(identity: &str) -> LeaseOptions {
    let retry = Duration::from_millis(400);
    LeaseOptions { duration: DURATION, retry, ..LeaseOptions::new("default", identity) }
}

fn contender(kubeconfig: &std::path::Path, identity: &str) -> KubeCluster {
    connect(kubeconfig, Options { lease: Some(lease(identity)), ..options() })
}

fn leads(cluster: &KubeCluster) -> bool {
    cluster.leadership().is_some_and(|leadership| leadership.is_held)
}

#[test]
fn one_leads_and_a_deposed_leader_writes_nothing() {
    with_rig("leading", |rig| {
        one_leads(rig);
        cut_off(rig);
    });
}

fn one_leads(rig: &Rig) {
    let first = contender(&rig.kubeconfig(), "first");
    eventually("somebody leads", || leads(&first));
    let second = contender(&rig.kubeconfig(), "second");
    eventually("the second sees the first", || {
        second.leadership().is_some_and(|seen| seen.holder == "first")
    });
    first.create(&config_map("led", "1")).unwrap();
    let error = second.create(&config_map("not-led", "1")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("`first` holds it"), "{error}");
    assert!(second.get(&config_map("led", "").key()).unwrap().is_some(), "reading goes on");
    let counters = second.counters();
    assert_eq!((counters.writes(), counters.fenced), (0, 1), "nothing was sent: {counters:?}");
    // For longer than a lease lasts, nobody else leads.
    let until = Instant::now() + DURATION + DURATION / 2;
    while Instant::now() < until {
        assert!(!leads(&second));
        thread::sleep(Duration::from_millis(50));
    }
    assert!(leads(&first));
    let begun = Instant::now();
    drop(first);
    eventually("the second leads", || leads(&second));
    println!("the lease was given over in {:?}", begun.elapsed());
    let lease = second.get(&known::LEASE.key("default", operon_kube::LEASE_NAME)).unwrap().unwrap();
    assert_eq!(lease.spec().get("holderIdentity").str(), "second");
    assert_eq!(lease.spec().get("leaseTransitions").as_integer(), Some(1));
    second.create(&config_map("led-again", "1")).unwrap();
}

/// A leader that is cut off stops to write before another begins, whatever it wants to write, and does
/// not write when it is reached again.
fn cut_off(rig: &Rig) {
    let proxy = Proxy::before(rig.api_server()).expect("a proxy");
    let kubeconfig = kubeconfig_for(rig, &format!("https://{}", proxy.address()));
    let old = contender(&kubeconfig, "old");
    eventually("the old one leads", || leads(&old));
    let new = contender(&rig.kubeconfig(), "new");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut written, mut refused) = (0_u64, 0_u64);
            while !is_over.load(Ordering::Relaxed) {
                match old.apply(&config_map("counter", &written.to_string())) {
                    Ok(_) => written += 1,
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
                        refused += 1;
                        thread::sleep(Duration::from_millis(10));
                    }
                }
            }
            (written, refused)
        });
        let key = config_map("counter", "").key();
        eventually("the old one writes", || new.get(&key).unwrap().is_some());
        proxy.block();
        eventually("the new one leads", || leads(&new));
        assert!(!leads(&old), "two lead at once");
        let last = new.get(&key).unwrap().unwrap();
        new.create(&config_map("taken-over", "1")).unwrap();
        proxy.pass();
        eventually("the old one sees the new one", || {
            old.leadership().is_some_and(|seen| seen.holder == "new")
        });
        thread::sleep(DURATION);
        is_over.store(true, Ordering::Relaxed);
        let (written, refused) = writer.join().expect("the writer");
        assert!(written > 0 && refused > 0, "{written} written, {refused} refused");
        let found = new.get(&key).unwrap().unwrap();
        assert_eq!(found.resource_version(), last.resource_version(), "somebody else has written");
        assert!(old.counters().fenced > 0);
    });
}
