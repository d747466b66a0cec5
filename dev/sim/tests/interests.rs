//! What the driver sees of a cluster, and what it does about what it does not see.

use std::time::Duration;

use operon_driver::{Cluster as _, Driver};
use operon_lifecycle::{GENERATION_LABEL, Settings};
use operon_object::{Object, Timestamp, known, map};
use operon_sim::{BEGINNING, SimCatalogs, SimCluster, Stage as _, parse_scenario, run_scenario};

/// A cluster with a driver, and the time.
struct Desk {
    cluster: SimCluster,
    driver: Driver<SimCluster, SimCatalogs>,
    now: Timestamp,
}

impl Desk {
    fn new(cluster: SimCluster, catalogs: SimCatalogs, now: Timestamp) -> Self {
        let settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
        let driver = Driver::new(cluster.clone(), catalogs, settings);
        Self { cluster, driver, now }
    }

    fn look(&mut self) {
        self.driver.look(self.now).expect("a simulated cluster answers");
    }

    /// Lets a time pass in turns of 20 ms, and counts what was written.
    fn run(&mut self, duration: Duration) -> u64 {
        let (end, before) = (self.now.after(duration), self.cluster.writes());
        while self.now < end {
            self.now = self.now.after(Duration::from_millis(20));
            self.cluster.advance(self.now);
            self.driver.cycle(self.now).expect("a simulated cluster answers");
        }
        self.cluster.writes() - before
    }

    fn sees(&self, object: &Object) -> bool {
        self.driver.objects().find(&object.key()).is_some()
    }
}

fn secret(name: &str) -> Object {
    Object::new("v1", "Secret", "shop", name)
}

fn source(secrets: &[&str], config_map: &str) -> Object {
    let api_version = "operators.coreos.com/v1alpha1";
    let mut source = Object::new(api_version, "CatalogSource", "shop", "source");
    let mut spec = map! { "sourceType" => "configmap", "configMap" => config_map };
    spec.set(&["secrets"], operon_object::Value::texts(secrets));
    source.set(&["spec"], spec);
    source
}

#[test]
fn only_what_is_of_interest_is_seen() {
    let cluster = SimCluster::new(BEGINNING);
    let mut desk = Desk::new(cluster.clone(), SimCatalogs::default(), BEGINNING);
    cluster.force(&Object::new("v1", "Namespace", "", "shop"));
    let mut managed = secret("managed");
    managed.set_label("olm.managed", "true");
    let config_map = Object::new("v1", "ConfigMap", "shop", "catalog");
    let all = [&managed, &secret("one"), &secret("two"), &config_map];
    let seen = |desk: &Desk| all.map(|object| desk.sees(object));
    for object in all {
        cluster.force(object);
    }
    desk.look();
    assert_eq!(seen(&desk), [true, false, false, false]);
    cluster.force(&source(&["one"], "catalog"));
    desk.look();
    assert_eq!(seen(&desk), [true, true, false, true], "what a CatalogSource names is seen");
    cluster.force(&source(&["two", "absent"], "catalog"));
    desk.look();
    assert_eq!(seen(&desk), [true, false, true, true], "and what it names no longer is not");
    // What is named before it is there is seen when it comes, and as it changes.
    let mut absent = secret("absent");
    cluster.force(&absent);
    desk.look();
    assert!(desk.sees(&absent));
    absent.set(&["data", "more"], "bW9yZQ==");
    cluster.force(&absent);
    desk.look();
    let found = desk.driver.objects().find(&absent.key()).map(|found| found.at(&["data", "more"]));
    assert_eq!(found.map(operon_object::Value::str), Some("bW9yZQ=="));
    // A label that goes takes the object out of sight, unless it is named too.
    let unlabel = |object: &Object| {
        let mut live = cluster.get(&object.key()).unwrap().unwrap();
        live.metadata_mut().remove("labels");
        cluster.update(&live).unwrap();
    };
    let mut both = secret("two");
    both.set_label("olm.managed", "true");
    cluster.force(&both);
    desk.look();
    unlabel(&managed);
    unlabel(&both);
    desk.look();
    assert_eq!(seen(&desk), [false, false, true, true]);
    let live = cluster.get(&source(&[], "").key()).unwrap().unwrap();
    cluster.delete(&live.key(), live.uid()).unwrap();
    desk.look();
    assert_eq!(seen(&desk), [false; 4], "nothing is seen for a CatalogSource that is gone");
}

const STORY: &str = "
about: an operator is installed
catalogs:
  olm/demo: { etcd: { provides: [EtcdCluster.v1.etcd.example.com], channels: { stable: [0.9.0] } } }
script:
- group: shop
- subscribe: shop etcd/stable from olm/demo
- settle
";

#[test]
fn a_name_that_is_taken_out_of_sight_is_no_hot_loop() {
    // The names of generations are the same in every run.
    let scenario = parse_scenario(STORY).unwrap();
    let mut first = operon_sim::SimStage::new();
    run_scenario(&scenario, &mut first).unwrap();
    let generation = first.list(&known::CONTROLLER_REVISION).unwrap().remove(0);

    let mut stage = operon_sim::SimStage::new();
    let mut theirs = Object::new("apps/v1", "ControllerRevision", "shop", generation.name());
    theirs.set(&["revision"], 7);
    stage.cluster().force(&Object::new("v1", "Namespace", "", "shop"));
    stage.cluster().force(&theirs);
    run_scenario(&scenario, &mut stage).unwrap();
    let mut desk = Desk::new(stage.cluster().clone(), stage.catalogs().clone(), stage.now());
    let tried = desk.run(Duration::from_secs(60));
    assert!((1..=20).contains(&tried), "{tried} attempts in a minute");
    let failures = &desk.driver.world(desk.now).failures;
    let failure = failures.of(&theirs.key()).expect("the failure is known");
    assert!(failure.error.message.contains("none of Operon's"), "{:?}", failure.error);
    // The name is free again, and then nothing is left to do.
    let live = desk.cluster.get(&theirs.key()).unwrap().unwrap();
    assert_eq!(live.at(&["revision"]).as_integer(), Some(7), "it is left as it is");
    desk.cluster.delete(&live.key(), live.uid()).unwrap();
    desk.run(Duration::from_secs(60));
    let made = desk.cluster.get(&theirs.key()).unwrap().expect("the generation is written");
    assert_eq!(made.label(GENERATION_LABEL), "true");
    assert_eq!(desk.run(Duration::from_secs(60)), 0);
}
