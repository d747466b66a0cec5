//! Simulated clusters with faults: a fixed set of seeds, and the proof that every checker can fail.

use operon_apiserver::{DeleteOptions, Part, Request, Target};
use operon_driver::Cluster;
use operon_object::{Kind, Object, Value, known, list, map};
use operon_sim::{
    SimCluster,
    chaos::{CHECKERS, Options, Rates, Tally, Tamper, run_seed},
};

/// How often people do something in each run; `cargo xtask sim` has the long ones.
const STEPS: usize = 4;

#[test]
fn a_fixed_set_of_seeds_comes_out_well() {
    let options = Options { steps: STEPS, ..Options::default() };
    let mut tally = Tally::default();
    for seed in 1..=24 {
        match run_seed(seed, &options) {
            Ok(found) => tally.add(&found),
            Err(finding) => panic!("{finding}"),
        }
    }
    // A storm in which nothing went wrong would prove nothing.
    assert!(tally.faults.len() >= 12, "{:?}", tally.faults);
    assert!(tally.faults.values().all(|count| *count > 0), "{:?}", tally.faults);
}

#[test]
fn a_seed_is_always_the_same_run() {
    let options = Options { steps: 3, ..Options::default() };
    for seed in [21, 22] {
        assert_eq!(run_seed(seed, &options), run_seed(seed, &options), "seed {seed}");
    }
}

#[test]
fn every_checker_sees_what_it_is_for() {
    let tampers: [(&str, Tamper); 11] = [
        ("stable and then silent", fidget),
        ("works together", need_what_is_not_there),
        ("nothing unapproved", install_without_asking),
        ("equal to the fault-free run", leave_an_account),
        ("no duplicate plan", copy_a_plan),
        ("monotone upgrades", go_back),
        ("no orphan", leave_something_behind),
        ("nobody else's objects", write_what_a_person_made),
        ("no panic", give_up),
        ("on the right authority", write_with_own_permissions),
        ("no two operators replace each other", replace_each_other),
    ];
    assert_eq!(tampers.map(|(checker, _)| checker), CHECKERS);
    for (checker, tamper) in tampers {
        let seen = first_finding(tamper);
        assert_eq!(seen.as_deref(), Some(checker));
    }
}

#[test]
fn checkers_see_more_than_one_thing() {
    let tampers: [(&str, Tamper); 3] = [
        ("nobody else's objects", write_a_service_of_a_person),
        ("on the right authority", write_for_no_namespace),
        ("monotone upgrades", make_room_for_another_package),
    ];
    for (checker, tamper) in tampers {
        assert_eq!(first_finding(tamper).as_deref(), Some(checker));
    }
}

/// Runs seeds until somebody sees what was done to a cluster; without faults, so that nothing else is to
/// be seen.
fn first_finding(tamper: Tamper) -> Option<String> {
    let tamper = Some(tamper);
    let options = Options { steps: 3, rates: Rates::NONE, tamper, ..Options::default() };
    (1..40).find_map(|seed| run_seed(seed, &options).err()).map(|found| found.checker.to_owned())
}

fn find(cluster: &SimCluster, kind: &Kind, is_it: impl Fn(&Object) -> bool) -> Option<Object> {
    cluster.objects().into_iter().find(|object| object.kind() == *kind && is_it(object))
}

/// Makes an object as the engine would, once: what is written again and again is another story.
fn put(cluster: &SimCluster, object: &Object) {
    if find(cluster, &object.kind(), |found| found.key() == object.key()).is_none() {
        drop(Cluster::apply(cluster, object));
    }
}

fn fidget(cluster: &SimCluster, turn: u64) {
    if let Some(mut group) = find(cluster, &known::OPERATOR_GROUP, |_| true) {
        group.set_annotation("fidget", &turn.to_string());
        drop(Cluster::update(cluster, &group));
    }
}

fn need_what_is_not_there(cluster: &SimCluster, _: u64) {
    let runs = |object: &Object| object.status().get("phase").str() == "Succeeded";
    let Some(mut operator) = find(cluster, &known::CLUSTER_SERVICE_VERSION, runs) else { return };
    let entry = map! { "name" => "owls.owl.example.com", "version" => "v1", "kind" => "Owl" };
    operator.set(&["spec", "customresourcedefinitions", "required"], list![entry]);
    let Ok(mut operator) = Cluster::update(cluster, &operator) else { return };
    for phase in ["Failed", "Succeeded"] {
        operator.set(&["status", "phase"], phase);
        match Cluster::update_status(cluster, &operator) {
            Ok(written) => operator = written,
            Err(_) => return,
        }
    }
}

fn install_without_asking(cluster: &SimCluster, _: u64) {
    let waits = |object: &Object| object.status().get("phase").str() == "RequiresApproval";
    let Some(plan) = find(cluster, &known::INSTALL_PLAN, waits) else { return };
    for step in plan.status().get("plan").elements() {
        let manifest = Value::parse_json(step.at(&["resource", "manifest"]).str());
        let object = manifest.ok().and_then(|value| Object::from_value(value).ok());
        if let Some(mut object) = object {
            object.set_namespace(plan.namespace());
            drop(Cluster::create(cluster, &object));
            return;
        }
    }
}

fn write_with_own_permissions(cluster: &SimCluster, _: u64) {
    let names_account = |object: &Object| !object.spec().get("serviceAccountName").str().is_empty();
    let Some(group) = find(cluster, &known::OPERATOR_GROUP, names_account) else { return };
    put(cluster, &Object::new("v1", "Service", group.namespace(), "own"));
}

fn write_for_no_namespace(cluster: &SimCluster, _: u64) {
    let names_account = |object: &Object| !object.spec().get("serviceAccountName").str().is_empty();
    if find(cluster, &known::OPERATOR_GROUP, names_account).is_some() {
        let version = "scheduling.k8s.io/v1";
        let mut class = Object::new(version, "PriorityClass", "", "urgent");
        class.set(&["value"], 1);
        put(cluster, &class);
    }
}

fn make_room_for_another_package(cluster: &SimCluster, _: u64) {
    let runs = |object: &Object| object.status().get("phase").str() == "Succeeded";
    let Some(mut operator) = find(cluster, &known::CLUSTER_SERVICE_VERSION, runs) else { return };
    operator.set(&["status", "phase"], "Replacing");
    operator.set(&["status", "message"], "being replaced by csv: owl.v1.0.0");
    drop(Cluster::update_status(cluster, &operator));
}

fn leave_an_account(cluster: &SimCluster, _: u64) {
    put(cluster, &Object::new("v1", "ServiceAccount", "default", "left"));
}

fn copy_a_plan(cluster: &SimCluster, _: u64) {
    let waits = |object: &Object| object.status().get("phase").str() == "RequiresApproval";
    let Some(mut plan) = find(cluster, &known::INSTALL_PLAN, waits) else { return };
    for name in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        plan.metadata_mut().remove(name);
    }
    plan.metadata_mut().insert("name", "a-copy");
    drop(Cluster::create(cluster, &plan));
}

fn go_back(cluster: &SimCluster, _: u64) {
    let has_moved = |object: &Object| object.status().get("installedCSV").str().contains(".v1.1");
    let Some(mut subscription) = find(cluster, &known::SUBSCRIPTION, has_moved) else { return };
    let package = subscription.spec().get("name").str().to_owned();
    subscription.set(&["status", "installedCSV"], format!("{package}.v1.0.0"));
    drop(Cluster::update_status(cluster, &subscription));
}

/// Leaves a circle that the engine cannot resolve: finalizers keep two operators that are being deleted.
fn replace_each_other(cluster: &SimCluster, turn: u64) {
    if turn > 1 {
        return;
    }
    for (name, replaced) in [("knot.v1.0.0", "knot.v1.1.0"), ("knot.v1.1.0", "knot.v1.0.0")] {
        let version = "operators.coreos.com/v1alpha1";
        let mut object = Object::new(version, "ClusterServiceVersion", "default", name);
        object.metadata_mut().insert("finalizers", list!["example.com/hold"]);
        let install =
            map! { "strategy" => "deployment", "spec" => map! { "deployments" => list![] } };
        let spec = map! { "displayName" => name, "replaces" => replaced, "install" => install };
        object.set(&["spec"], spec);
        let (manager, part) = ("person".to_owned(), Part::Whole);
        let applied = cluster.request(&Request::Apply { object, manager, force: true, part });
        let target = Target::of(&applied.expect("an operator is applied"));
        let delete = Request::Delete { target, options: DeleteOptions::default() };
        drop(cluster.request(&delete));
    }
}

fn leave_something_behind(cluster: &SimCluster, _: u64) {
    let mut object = Object::new("v1", "ConfigMap", "default", "left");
    object.set_label("operators.coreos.com/owl.default", "");
    put(cluster, &object);
}

fn write_what_a_person_made(cluster: &SimCluster, _: u64) {
    let mut object = Object::new("v1", "ConfigMap", "default", "mine");
    let (manager, part) = ("person".to_owned(), Part::Whole);
    let request = Request::Apply { object: object.clone(), manager, force: true, part };
    drop(cluster.request(&request));
    object.set(&["data", "written"], "by the engine");
    drop(Cluster::apply(cluster, &object));
}

fn write_a_service_of_a_person(cluster: &SimCluster, _: u64) {
    let mut object = Object::new("v1", "Service", "default", "ant-operator-service");
    object.set(&["spec"], map! { "ports" => list![map! { "port" => 80 }] });
    let (manager, part) = ("person".to_owned(), Part::Whole);
    let request = Request::Apply { object: object.clone(), manager, force: true, part };
    drop(cluster.request(&request));
    object.set_label("written", "by-the-engine");
    drop(Cluster::apply(cluster, &object));
}

fn give_up(_: &SimCluster, turn: u64) {
    assert!(turn < 5, "the engine gives up");
}
