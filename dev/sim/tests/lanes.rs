//! Decisions that need more than the quick lane of the driver allows.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc, time::Duration};

use operon_driver::{Cluster, Driver, Finished, Lane, Task, Workers};
use operon_lifecycle::Settings;
use operon_object::{Object, Timestamp, Value, known};
use operon_sim::{SimCatalogs, SimCluster, SimStage, parse_scenario, run_scenario};

/// Steps of a decision: the costly rule of these stories takes a tenth of them, and more than the whole quick
/// lane allows.
const STEPS: u64 = 4_000_000;

/// A catalog with a bundle whose rule is costly, and one without any rule.
const CATALOG: &str = "  olm/demo:
    broken:
      properties: { olm.package.required: [{ packageName: missing, versionRange: '>=1.0.0' }] }
      channels: { stable: [1.0.0] }
    costly:
      properties:
        olm.constraint:
        - failureMessage: costly
          cel:
            rule: \"[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, \
    [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, a + b + c + d > 0))))\"
      channels: { stable: [1.0.0] }
    plain: { channels: { stable: [1.0.0] } }
";

/// Runs tasks on one thread, except those of lanes that are stuck.
#[derive(Debug)]
struct OneThread {
    cluster: SimCluster,
    catalogs: SimCatalogs,
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    stuck: BTreeSet<Lane>,
    /// Namespaces whose decisions do not end, and are overdue.
    hung: BTreeSet<String>,
    /// Those of them that were reported as overdue.
    overdue: BTreeSet<String>,
    tasks: Vec<Task>,
    used: BTreeSet<Lane>,
    /// Whether the first write of a task takes longer than the task may.
    is_slow: bool,
}

impl Workers for OneThread {
    fn submit(&mut self, task: Task) {
        let mut state = self.state.borrow_mut();
        state.used.insert(task.lane());
        state.tasks.push(task);
    }

    fn next(&mut self, _patience: Duration) -> Option<Finished> {
        let (task, is_slow) = {
            let mut state = self.state.borrow_mut();
            let next = state.tasks.iter().position(|task| !state.is_waiting(task))?;
            (state.tasks.remove(next), state.is_slow)
        };
        let writes = self.cluster.writes();
        let is_stopped = || is_slow && self.cluster.writes() > writes;
        Some(task.run(&self.cluster, &self.catalogs, &is_stopped))
    }

    fn overdue(&mut self) -> Vec<String> {
        let mut state = self.state.borrow_mut();
        let hung = state.tasks.iter().filter(|task| state.is_hung(task));
        let hung: Vec<String> = hung.map(|task| task.namespace().to_owned()).collect();
        hung.into_iter().filter(|namespace| state.overdue.insert(namespace.clone())).collect()
    }
}

impl State {
    fn is_waiting(&self, task: &Task) -> bool {
        self.stuck.contains(&task.lane()) || self.is_hung(task)
    }

    fn is_hung(&self, task: &Task) -> bool {
        task.is_decision() && self.hung.contains(task.namespace())
    }
}

/// A cluster with namespaces that are to be decided.
struct Decided {
    cluster: SimCluster,
    driver: Driver<SimCluster, SimCatalogs>,
    state: Rc<RefCell<State>>,
    now: Timestamp,
}

impl Decided {
    /// Makes a cluster with Subscriptions `namespace package`.
    fn new(subscriptions: &[(String, &str)], steps: u64, has_workers: bool) -> Self {
        let namespaces: BTreeSet<&String> =
            subscriptions.iter().map(|(namespace, _)| namespace).collect();
        let groups: String =
            namespaces.iter().map(|namespace| format!("- group: {namespace}\n")).collect();
        let subscribe: String = subscriptions
            .iter()
            .map(|(namespace, package)| {
                format!("- subscribe: {namespace} {package}/stable from olm/demo\n")
            })
            .collect();
        let story = format!("about: x\ncatalogs:\n{CATALOG}script:\n{groups}{subscribe}");
        let mut stage = SimStage::new();
        let scenario = parse_scenario(&story).expect("a story that can be read");
        run_scenario(&scenario, &mut stage).expect("a story that can be told");
        let (cluster, catalogs) = (stage.cluster().clone(), stage.catalogs().clone());
        let mut settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
        settings.limits.steps = steps;
        let mut driver = Driver::new(cluster.clone(), catalogs.clone(), settings);
        let state = Rc::new(RefCell::new(State::default()));
        if has_workers {
            let state = Rc::clone(&state);
            driver.set_workers(Box::new(OneThread { cluster: cluster.clone(), catalogs, state }));
        }
        Self { now: stage.now(), cluster, driver, state }
    }

    /// Runs the driver until the cluster is settled; returns `false` if that takes too many cycles.
    fn settle(&mut self) -> bool {
        (0..4000).any(|_| {
            self.now = self.now.after(Duration::from_millis(20));
            self.cluster.advance(self.now);
            self.driver.cycle(self.now).expect("a simulated cluster answers").is_settled
        })
    }

    /// Counts the operators that run.
    fn succeeded(&self, name: &str) -> usize {
        let objects = self.cluster.objects();
        let operators = objects.iter().filter(|object| {
            object.kind() == known::CLUSTER_SERVICE_VERSION && object.name() == name
        });
        operators.filter(|operator| operator.status().get("phase").str() == "Succeeded").count()
    }

    fn objects(&self, is_wanted: impl Fn(&Object) -> bool) -> Vec<Object> {
        self.cluster.objects().into_iter().filter(is_wanted).collect()
    }
}

#[test]
fn decisions_cut_on_the_quick_lane_get_full_limits() {
    let mut decided = Decided::new(&[("shop".to_owned(), "costly")], STEPS, true);
    assert!(decided.settle());
    assert_eq!(decided.succeeded("costly.v1.0.0"), 1);
}

#[test]
fn many_expensive_namespaces_do_not_delay_others() {
    let costly = (0..40).map(|number| (format!("costly-{number}"), "costly"));
    let all: Vec<(String, &str)> = costly.chain([("shop".to_owned(), "plain")]).collect();
    let mut decided = Decided::new(&all, STEPS, true);
    decided.state.borrow_mut().stuck.insert(Lane::ExpensiveDecisions);
    assert!(!decided.settle(), "a decision that has not ended is not a settled cluster");
    assert_eq!((decided.succeeded("plain.v1.0.0"), decided.succeeded("costly.v1.0.0")), (1, 0));
    decided.state.borrow_mut().stuck.clear();
    assert!(decided.settle());
    assert_eq!(decided.succeeded("costly.v1.0.0"), 40);
}

#[test]
fn overdue_decisions_do_not_delay_other_namespaces() {
    // More than there are places, and all of them come first.
    let hung: BTreeSet<String> = (0..40).map(|number| format!("hung-{number}")).collect();
    let all: Vec<(String, &str)> =
        hung.iter().cloned().chain(["shop".to_owned()]).map(|name| (name, "plain")).collect();
    let mut decided = Decided::new(&all, STEPS, true);
    decided.state.borrow_mut().hung.clone_from(&hung);
    let mut reported = Vec::new();
    let mut overdue_decisions = 0;
    for _ in 0..400 {
        decided.now = decided.now.after(Duration::from_millis(20));
        decided.cluster.advance(decided.now);
        let cycle = decided.driver.cycle(decided.now).expect("a simulated cluster answers");
        overdue_decisions += cycle.overdue_decisions;
        let deeds = cycle.deeds.into_iter().filter(|deed| deed.verb == "decide");
        reported.extend(deeds.map(|deed| (deed.target.name, deed.refusal)));
    }
    assert_eq!(decided.succeeded("plain.v1.0.0"), 1);
    assert_eq!(overdue_decisions, hung.len());
    reported.sort();
    let message = "the decision exceeds its deadline; other namespaces do not wait for it";
    let expected = hung.iter().map(|name| (name.clone(), Some(message.to_owned())));
    assert_eq!(reported, expected.collect::<Vec<_>>());
    // Those that end are taken in; their next decisions delay expensive ones only, and then they return.
    assert_eq!(decided.state.borrow().used, BTreeSet::from([Lane::Quick]));
    decided.state.borrow_mut().hung.clear();
    assert!(decided.settle());
    assert_eq!(decided.succeeded("plain.v1.0.0"), 41);
    assert!(decided.state.borrow().used.contains(&Lane::ExpensiveDecisions));
}

#[test]
fn too_expensive_condition_names_the_costliest_bundle() {
    let both = [("shop".to_owned(), "costly"), ("shop".to_owned(), "plain")];
    let mut decided = Decided::new(&both, STEPS / 40, false);
    assert!(decided.settle());
    assert_eq!((decided.succeeded("plain.v1.0.0"), decided.succeeded("costly.v1.0.0")), (1, 0));
    let subscription = decided.objects(|object| {
        let package = object.spec().get("name");
        object.kind() == known::SUBSCRIPTION && package.str() == "costly"
    });
    let conditions = subscription[0].status().get("conditions").elements().to_vec();
    let failed: Vec<&Value> = conditions
        .iter()
        .filter(|condition| condition.get("reason").str() == "ResolutionTooExpensive")
        .collect();
    let [condition] = failed[..] else { panic!("{conditions:?}") };
    let message = condition.get("message").str();
    let begin = "resolution is too expensive: it exceeds the budget of 100000 steps; bundle \
                 costly.v1.0.0 costs the most, because it needs ";
    assert!(message.starts_with(begin), "{message}");
    let events = decided.objects(|object| {
        object.kind() == known::EVENT && object.at(&["reason"]).str() == "ResolutionFailed"
    });
    assert!(events.iter().any(|event| event.at(&["message"]).str() == message), "{events:?}");
}

#[test]
fn cut_conflicts_are_remembered_until_inputs_change() {
    let subscriptions = [("shop".to_owned(), "broken"), ("shop".to_owned(), "plain")];
    let mut decided = Decided::new(&subscriptions, STEPS, false);
    // Not enough to find out why there is no answer.
    let mut settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
    settings.limits.conflict_steps = 1;
    let memory = settings.memory.clone();
    let (cluster, catalogs) = (decided.cluster.clone(), decided.driver.catalogs().clone());
    decided.driver = Driver::new(cluster, catalogs, settings);
    assert!(decided.settle());
    let decide = |decided: &Decided| {
        let before = memory.steps_worked();
        let verdict = operon_lifecycle::decide(&decided.driver.world(decided.now));
        assert!(verdict.was_cut);
        (verdict.steps, memory.steps_worked() - before)
    };
    let (steps, worked) = decide(&decided);
    assert!(steps > 0, "what is remembered costs what it cost");
    assert_eq!(worked, 0, "and takes no work");
    let installed = decided.objects(|object| {
        object.kind() == known::SUBSCRIPTION && object.spec().get("name").str() == "plain"
    });
    let before = memory.steps_worked();
    decided.cluster.delete(&installed[0].key(), installed[0].uid()).unwrap();
    assert!(decided.settle());
    assert!(memory.steps_worked() > before, "other inputs are work");
    assert_eq!(decide(&decided).1, 0);
}

#[test]
fn slow_last_writes_move_to_the_slow_lane() {
    let mut decided = Decided::new(&[("shop".to_owned(), "plain")], STEPS, true);
    assert!(decided.settle());
    decided.state.borrow_mut().is_slow = true;
    for is_known_slow in [false, true] {
        // Its label is all that is written again.
        let mut namespace =
            decided.objects(|object| object.key() == known::NAMESPACE.key("", "shop"));
        namespace[0].set(&["metadata", "labels"], Value::default());
        decided.cluster.update(&namespace[0]).unwrap();
        assert!(decided.settle());
        let has_moved = decided.state.borrow().used.contains(&Lane::SlowWrites);
        assert_eq!(has_moved, is_known_slow);
    }
}
