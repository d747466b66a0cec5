//! Slow namespaces: what they cost the others when the driver has workers.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use operon_driver::{
    CatalogRequest, Catalogs, Changes, Cluster, ClusterError, Cursor, Deadlines, Driver, Finished,
    Interest, Lane, Listing, Task, Threads, Workers,
};
use operon_install::ServingCertificate;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest, Settings};
use operon_object::{Object, ObjectKey, Timestamp, known};
use operon_resolve::SourceName;
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

    fn overdue(&mut self) -> Vec<String> {
        Vec::new()
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

/// Lets threads pass once it is open.
#[derive(Debug, Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    /// How many threads came.
    arrived: Mutex<usize>,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().expect("no thread panics") = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        *self.arrived.lock().expect("no thread panics") += 1;
        let is_open = self.is_open.lock().expect("no thread panics");
        let opened = self.opened.wait_while(is_open, |is_open| !*is_open);
        drop(opened.expect("no thread panics"));
    }

    fn arrived(&self) -> usize {
        *self.arrived.lock().expect("no thread panics")
    }
}

/// A cluster that does not answer some writes while its gate is closed, as when an admission webhook
/// hangs.
#[derive(Debug)]
struct Gated {
    cluster: SimCluster,
    gate: Gate,
    hangs: fn(&Gate, &Object) -> bool,
}

impl Gated {
    fn new(cluster: &SimCluster, hangs: fn(&Gate, &Object) -> bool) -> Arc<Self> {
        Arc::new(Self { cluster: cluster.clone(), gate: Gate::default(), hangs })
    }

    fn pass(&self, object: &Object) {
        if (self.hangs)(&self.gate, object) {
            self.gate.pass();
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
    let gated = Gated::new(&cluster, |_, object| object.namespace() == "stuck");
    let mut threaded = Threaded::start(&stage, &gated, &catalogs, Deadlines::default());
    assert!(threaded.runs_until(|| succeeded(&cluster, "shop") == 1));
    assert_eq!(succeeded(&cluster, "stuck"), 0);
    gated.gate.open();
    assert!(threaded.runs_until(|| succeeded(&cluster, "stuck") == 1), "the slow one goes on");
}

#[test]
fn hanging_writes_release_shared_objects() {
    let story = "
about: one of two namespaces hangs while it writes the CRD that both need
catalogs:
  olm/demo:
    etcd: { provides: [EtcdCluster.v1.etcd.example.com], channels: { stable: [0.9.0] } }
    owl: { provides: [Owl.v1.owl.example.com], channels: { stable: [1.0.0] } }
script:
- group: one
- group: two
- group: zoo
- subscribe: one etcd/stable from olm/demo
- subscribe: two etcd/stable from olm/demo
- subscribe: zoo owl/stable from olm/demo
";
    let mut stage = SimStage::new();
    run_scenario(&parse_scenario(story).unwrap(), &mut stage).unwrap();
    let (cluster, catalogs) = (stage.cluster().clone(), Arc::new(stage.catalogs().clone()));
    let gated = Gated::new(&cluster, |gate, object| {
        object.kind() == known::CUSTOM_RESOURCE_DEFINITION
            && object.name().contains("etcd")
            && gate.arrived() == 0
    });
    let deadlines = Deadlines { execution: SHORT_DEADLINE, ..Deadlines::default() };
    let mut threaded = Threaded::start(&stage, &gated, &catalogs, deadlines);
    let both = || succeeded(&cluster, "one") + succeeded(&cluster, "two");
    assert!(threaded.runs_until(|| both() == 1 && succeeded(&cluster, "zoo") == 1));
    assert_eq!((gated.gate.arrived(), both()), (1, 1), "the first write still hangs");
    gated.gate.open();
    assert!(threaded.runs_until(|| both() == 2), "the slow one goes on");
}

/// Catalogs that do not return the contents of some bundles while their gate is closed.
#[derive(Debug)]
struct Hanging {
    catalogs: SimCatalogs,
    gate: Gate,
}

impl Catalogs for Hanging {
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState> {
        self.catalogs.read(requests, now)
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        if key.name.starts_with("hung.") {
            self.gate.pass();
        }
        self.catalogs.bundle(key)
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        self.catalogs.certify(request, now)
    }
}

/// A deadline that tests can wait for, and that other tasks meet on a busy machine.
const SHORT_DEADLINE: Duration = Duration::from_secs(1);

/// How long namespaces that hang for ever may delay others in a test: some deadlines.
const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// A driver whose tasks run on threads.
struct Threaded<C, S> {
    cluster: SimCluster,
    driver: Driver<Arc<C>, Arc<S>>,
    now: Timestamp,
    overdue_decisions: usize,
}

impl<C, S> Threaded<C, S>
where
    C: Cluster + Send + Sync + 'static,
    S: Catalogs + Send + Sync + 'static,
{
    fn start(stage: &SimStage, cluster: &Arc<C>, catalogs: &Arc<S>, deadlines: Deadlines) -> Self {
        let settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
        let mut driver = Driver::new(Arc::clone(cluster), Arc::clone(catalogs), settings);
        let threads = Threads::start_within(deadlines, cluster, catalogs);
        driver.set_workers(Box::new(threads.expect("threads start")));
        let (cluster, now) = (stage.cluster().clone(), stage.now());
        Self { cluster, driver, now, overdue_decisions: 0 }
    }

    /// Runs the driver until something is the case; returns `false` if that takes too long.
    fn runs_until(&mut self, is_done: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST_DELAY {
            self.now = self.now.after(Duration::from_millis(20));
            self.cluster.advance(self.now);
            let cycle = self.driver.cycle(self.now).expect("a simulated cluster answers");
            self.overdue_decisions += cycle.overdue_decisions;
            if is_done() {
                return true;
            }
        }
        false
    }
}

#[test]
fn hanging_decisions_do_not_delay_other_namespaces() {
    // As many as there are places, and all of them come before the other.
    let hung: Vec<String> = (0..32).map(|number| format!("hung-{number}")).collect();
    let groups: String = hung.iter().map(|name| format!("- group: {name}\n")).collect();
    let subscribe: String = hung
        .iter()
        .map(|name| format!("- subscribe: {name} hung/stable from olm/demo\n"))
        .collect();
    let story = format!(
        "about: reading the contents of a bundle hangs\n\
         catalogs:\n  olm/demo:\n    hung: {{ channels: {{ stable: [1.0.0] }} }}\n    \
         plain: {{ channels: {{ stable: [1.0.0] }} }}\n\
         script:\n- group: shop\n{groups}{subscribe}- subscribe: shop plain/stable from olm/demo\n"
    );
    let mut stage = SimStage::new();
    run_scenario(&parse_scenario(&story).unwrap(), &mut stage).unwrap();
    let cluster = stage.cluster().clone();
    let catalogs = Arc::new(Hanging { catalogs: stage.catalogs().clone(), gate: Gate::default() });
    let deadlines = Deadlines { quick_decision: SHORT_DEADLINE, ..Deadlines::default() };
    let mut threaded = Threaded::start(&stage, &Arc::new(cluster.clone()), &catalogs, deadlines);
    assert!(threaded.runs_until(|| succeeded(&cluster, "shop") == 1));
    assert!(threaded.overdue_decisions >= hung.len() / 2, "{}", threaded.overdue_decisions);
    let all = || hung.iter().map(|name| succeeded(&cluster, name)).sum::<usize>();
    assert_eq!(all(), 0);
    catalogs.gate.open();
    assert!(threaded.runs_until(|| all() == hung.len()), "the slow ones go on");
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
