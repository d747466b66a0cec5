//! Slow namespaces: what they cost the others when the driver has workers.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    rc::Rc,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use operon_driver::{
    Changes, Cluster, ClusterError, Cursor, Driver, Finished, Interest, Lane, Listing, Task,
    Threads, Workers,
};
use operon_lifecycle::Settings;
use operon_object::{Object, ObjectKey, Timestamp, known};
use operon_sim::{SimCatalogs, SimCluster, SimStage, parse_scenario, run_scenario};

/// Runs tasks in order on one thread, except those of lanes that never end.
#[derive(Debug)]
struct Lanes {
    cluster: SimCluster,
    catalogs: SimCatalogs,
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    stuck: BTreeSet<Lane>,
    tasks: Vec<Task>,
    used: BTreeSet<Lane>,
}

impl Workers for Lanes {
    fn submit(&mut self, task: Task) {
        let mut state = self.state.borrow_mut();
        state.used.insert(task.lane());
        state.tasks.push(task);
    }

    fn next(&mut self, _patience: Duration) -> Option<Finished> {
        let task = {
            let mut state = self.state.borrow_mut();
            let next = state.tasks.iter().position(|task| !state.stuck.contains(&task.lane()))?;
            state.tasks.remove(next)
        };
        Some(task.run(&self.cluster, &self.catalogs, &|| false))
    }
}

/// Two namespaces whose Subscriptions are there before the driver is.
fn story() -> String {
    let packages: String = (0..40)
        .map(|number| format!("p{number}: {{ channels: {{ stable: [1.0.0] }} }}, "))
        .collect();
    let many: String = (0..40)
        .map(|number| format!("- subscribe: many p{number}/stable from olm/demo\n"))
        .collect();
    format!(
        "about: one namespace needs far more steps than the other\n\
         catalogs:\n  olm/demo: {{ {packages} }}\n\
         script:\n- group: few\n- group: many\n- subscribe: few p0/stable from olm/demo\n{many}"
    )
}

fn succeeded(cluster: &SimCluster, namespace: &str) -> usize {
    let objects = cluster.objects();
    let operators = objects.iter().filter(|object| {
        object.kind() == known::CLUSTER_SERVICE_VERSION && object.namespace() == namespace
    });
    operators.filter(|operator| operator.status().get("phase").str() == "Succeeded").count()
}

fn run(
    driver: &mut Driver<SimCluster, SimCatalogs>,
    cluster: &SimCluster,
    now: &mut Timestamp,
) -> bool {
    (0..400).any(|_| {
        *now = now.after(Duration::from_millis(20));
        cluster.advance(*now);
        driver.cycle(*now).expect("a simulated cluster answers").is_settled
    })
}

#[test]
fn expensive_decisions_do_not_delay_other_namespaces() {
    let mut stage = SimStage::new();
    run_scenario(&parse_scenario(&story()).unwrap(), &mut stage).unwrap();
    let (cluster, catalogs) = (stage.cluster().clone(), stage.catalogs().clone());
    let mut settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
    // Enough for both namespaces; a twentieth is enough for the small one only.
    settings.limits.steps = 20_000;
    let mut driver = Driver::new(cluster.clone(), catalogs.clone(), settings);
    let state = Rc::new(RefCell::new(State::default()));
    state.borrow_mut().stuck.insert(Lane::ExpensiveDecisions);
    driver.set_workers(Box::new(Lanes {
        cluster: cluster.clone(),
        catalogs,
        state: Rc::clone(&state),
    }));
    let mut now = stage.now();
    let is_settled = run(&mut driver, &cluster, &mut now);
    assert!(!is_settled, "a decision that has not ended is not a settled cluster");
    assert_eq!(succeeded(&cluster, "few"), 1);
    assert_eq!(succeeded(&cluster, "many"), 0);
    assert!(state.borrow().used.contains(&Lane::ExpensiveDecisions));
    state.borrow_mut().stuck.clear();
    assert!(run(&mut driver, &cluster, &mut now));
    assert_eq!(succeeded(&cluster, "many"), 40);
}

/// A cluster that does not answer writes of one namespace while its gate is closed, as when an
/// admission webhook of a tenant hangs.
#[derive(Debug)]
struct Gated {
    cluster: SimCluster,
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gated {
    fn pass(&self, object: &Object) {
        if object.namespace() == "stuck" {
            let is_open = self.is_open.lock().expect("no thread panics");
            let opened = self.opened.wait_while(is_open, |is_open| !*is_open);
            drop(opened.expect("no thread panics"));
        }
    }
}

impl Cluster for Gated {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.cluster.list(interests)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.cluster.changes(interests, since)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.pass(object);
        self.cluster.create(object)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.pass(object);
        self.cluster.update(object)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.pass(object);
        self.cluster.update_status(object)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.pass(object);
        self.cluster.apply(object)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.cluster.delete(key, uid)
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        self.cluster.impersonating(account)
    }
}

#[test]
fn writes_that_hang_do_not_delay_other_namespaces() {
    let story = "
about: one namespace has an admission webhook that does not answer
catalogs:
  olm/demo: { etcd: { provides: [EtcdCluster.v1.etcd.example.com], channels: { stable: [0.9.0] } } }
script:
- group: stuck
- group: shop
- subscribe: stuck etcd/stable from olm/demo
- subscribe: shop etcd/stable from olm/demo
";
    let mut stage = SimStage::new();
    run_scenario(&parse_scenario(story).unwrap(), &mut stage).unwrap();
    let (cluster, catalogs) = (stage.cluster().clone(), Arc::new(stage.catalogs().clone()));
    let gated = Arc::new(Gated {
        cluster: cluster.clone(),
        is_open: Mutex::new(false),
        opened: Condvar::new(),
    });
    let settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
    let mut driver = Driver::new(Arc::clone(&gated), Arc::clone(&catalogs), settings);
    driver.set_workers(Box::new(Threads::start(&gated, &catalogs).unwrap()));
    let mut now = stage.now();
    let mut run_until = |is_done: &dyn Fn() -> bool| {
        (0..3000).any(|_| {
            now = now.after(Duration::from_millis(20));
            cluster.advance(now);
            driver.cycle(now).expect("a simulated cluster answers");
            is_done()
        })
    };
    assert!(run_until(&|| succeeded(&cluster, "shop") == 1), "the other namespace is installed");
    assert_eq!(succeeded(&cluster, "stuck"), 0);
    *gated.is_open.lock().unwrap() = true;
    gated.opened.notify_all();
    assert!(run_until(&|| succeeded(&cluster, "stuck") == 1), "the slow namespace goes on");
}

#[test]
fn exhausted_budgets_are_reported_until_inputs_change() {
    let mut stage = SimStage::new();
    run_scenario(&parse_scenario(&story()).unwrap(), &mut stage).unwrap();
    let (cluster, catalogs) = (stage.cluster().clone(), stage.catalogs().clone());
    let mut settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
    // Enough for the small namespace only.
    settings.limits.steps = 1_000;
    let mut driver = Driver::new(cluster.clone(), catalogs, settings);
    let mut now = stage.now();
    let too_expensive = |cluster: &SimCluster| {
        let objects = cluster.objects();
        let subscriptions = objects.iter().filter(|object| object.kind() == known::SUBSCRIPTION);
        subscriptions
            .filter(|subscription| {
                let mut conditions = subscription.status().get("conditions").elements().iter();
                conditions
                    .any(|condition| condition.get("reason").str() == "ResolutionTooExpensive")
            })
            .count()
    };
    assert!(run(&mut driver, &cluster, &mut now));
    assert_eq!((succeeded(&cluster, "few"), succeeded(&cluster, "many")), (1, 0));
    assert_eq!(too_expensive(&cluster), 40);
    // The same inputs have the same outcome, and nothing is written again.
    let before = cluster.writes();
    now = now.after(Duration::from_secs(600));
    assert!(run(&mut driver, &cluster, &mut now));
    assert_eq!(cluster.writes(), before);
    for subscription in cluster.objects() {
        let is_first = subscription.name().ends_with("p0");
        if subscription.kind() == known::SUBSCRIPTION && !is_first {
            cluster.delete(&subscription.key(), subscription.uid()).unwrap();
        }
    }
    assert!(run(&mut driver, &cluster, &mut now));
    assert_eq!((succeeded(&cluster, "many"), too_expensive(&cluster)), (1, 0));
}
