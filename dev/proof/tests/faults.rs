//! The controller that ships, on a real cluster where things break.
//!
//! After every fault the operators of the quickstart must be there, each planned once, and then nothing
//! may be written any more. `OPERON_FAULT=<name>` tries one; `OPERON_PROOF_RIG=<name>` uses a rig that
//! runs already.

use std::{
    collections::BTreeMap,
    env,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use operon_driver::Cluster;
use operon_object::{Kind, Object, Value, known, map};
use operon_proof::{
    ACCOUNT, Installation, Queue,
    harbour::{HARBOUR, manifests, push_quickstart},
    operon_program, rigs_for_proof, side_by_side,
};
use operon_rig::{Component, Fault, Injector, Rig};

/// How many clusters the faults are shared out to: most of the time they wait for leases and namespaces.
const RIGS: usize = 3;

/// For how long nothing may be written when all is done.
const REST: Duration = Duration::from_secs(10);

/// How long a conflicting writer has its way.
const FIGHT: Duration = Duration::from_secs(10);

/// How many writes there may be in a fight, however quickly the other one reverts.
const WRITES_IN_A_FIGHT: f64 = 60.0;

/// How many requests in a row an API server refuses that has too much to do.
const THROTTLED: usize = 60;

/// What it says then.
const TOO_MANY: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"too many requests"}"#;

/// How often the connections of the leader are cut, and after how long each time.
const CUTS: (usize, Duration) = (20, Duration::from_millis(200));

/// How often an operator is taken away and asked for again.
const REINSTALLATIONS: usize = 20;

/// A mishap: its name, and what happens.
type Mishap = (&'static str, fn(&mut Trial<'_>) -> Result<(), String>);

/// The longest first.
const MISHAPS: &[Mishap] = &[
    ("reinstalled", reinstalled),
    ("throttled", throttled),
    ("registry-away", registry_away),
    ("registry-goes-away", registry_goes_away),
    ("leader-killed-at-plan", |trial| leader_killed(trial, "plan", &known::INSTALL_PLAN, "")),
    ("leader-killed-in-plan", |trial| {
        leader_killed(trial, "plan", &known::INSTALL_PLAN, "Installing")
    }),
    ("leader-killed-in-pending", |trial| {
        leader_killed(trial, "operator", &known::CLUSTER_SERVICE_VERSION, "Pending")
    }),
    ("leader-killed-in-install-ready", |trial| {
        leader_killed(trial, "operator", &known::CLUSTER_SERVICE_VERSION, "InstallReady")
    }),
    ("leader-killed-in-installing", |trial| {
        leader_killed(trial, "operator", &known::CLUSTER_SERVICE_VERSION, "Installing")
    }),
    ("leader-killed-in-upgrade", leader_killed_in_upgrade),
    ("api-server-restarted", |trial| component_killed(trial, Component::ApiServer)),
    ("etcd-killed", |trial| component_killed(trial, Component::Etcd)),
    ("leader-cut-off", leader_cut_off),
    ("watches-cut", watches_cut),
    ("namespace-deleted", namespace_deleted),
    ("rights-taken-away", rights_taken_away),
    ("conflicting-writer", conflicting_writer),
];

#[test]
fn the_controller_gets_over_everything_that_breaks() {
    let Some(program) = operon_program() else {
        let reason = "there is no program `operon` next to this test; `cargo build -p operon`";
        operon_parts::leave_out(operon_parts::Part::Proof, reason);
        return;
    };
    let rigs = rigs_for_proof("faults", RIGS);
    if rigs.is_empty() {
        return;
    }
    let wanted = env::var("OPERON_FAULT").ok();
    let is_wanted = |name: &str| match &wanted {
        Some(wanted) => wanted.split(',').any(|one| one == name),
        None => true,
    };
    let tried: Vec<Mishap> = MISHAPS.iter().filter(|(name, _)| is_wanted(name)).copied().collect();
    let begun = Instant::now();
    let failures = side_by_side(&rigs, &tried, |rig, queue| try_some(rig, &program, queue));
    let (count, failed) = (tried.len(), failures.len());
    println!("{} of {count} faults were got over in {:.0?}", count - failed, begun.elapsed());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Tries on one cluster what is still waiting, one fault after the other.
fn try_some(rig: &Rig, program: &Path, queue: &Queue<'_, Mishap>) {
    push_quickstart(rig, program).expect("images in the registry");
    let operon = Installation::new(rig, program).expect("Operon can be installed");
    let mut trial = Trial { operon, notes: Vec::new(), is_planned_twice_allowed: false };
    while let Some((name, fault)) = queue.next() {
        let begun = Instant::now();
        let outcome = trial.begin().and_then(|()| fault(&mut trial)).and_then(|()| trial.end());
        let took = begun.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("ok     {name:34} {took:5.1} s; {}", trial.notes()),
            Err(reason) => {
                let leader = trial.operon.leader();
                let words = leader.map_or_else(String::new, |leader| leader.last_words(20));
                queue.fail(format!("FAILED {name:34} {took:5.1} s: {reason}\n{words}"));
            }
        }
    }
}

// ---- Faults ----

fn registry_away(trial: &mut Trial<'_>) -> Result<(), String> {
    let rig = trial.operon.rig();
    rig.stop(Component::Registry).map_err(|error| error.to_string())?;
    trial.apply(1)?;
    trial.catalog_is("TRANSIENT_FAILURE")?;
    rig.start(Component::Registry).map_err(|error| error.to_string())?;
    trial.converged("beacon.v1.0.0")
}

/// What runs goes on without its catalog, also under a controller that has never seen it.
fn registry_goes_away(trial: &mut Trial<'_>) -> Result<(), String> {
    let rig = trial.operon.rig();
    trial.apply(1)?;
    trial.converged("beacon.v1.0.0")?;
    rig.stop(Component::Registry).map_err(|error| error.to_string())?;
    trial.apply(2)?;
    trial.kill_leader()?;
    trial.catalog_is("TRANSIENT_FAILURE")?;
    let operators = trial.list(&known::CLUSTER_SERVICE_VERSION);
    if operators.iter().any(|operator| operator.status().get("phase").str() != "Succeeded") {
        return Err("an operator does not do without its catalog".to_owned());
    }
    rig.start(Component::Registry).map_err(|error| error.to_string())?;
    trial.converged("beacon.v1.1.0")
}

/// A leader that cannot reach the API server any more makes room, and disturbs nobody when it can again.
fn leader_cut_off(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.until("there is a plan", |trial| !trial.list(&known::INSTALL_PLAN).is_empty())?;
    let way = trial.operon.way_of_leader().ok_or("nobody leads")?;
    way.block();
    let begun = Instant::now();
    trial.operon.until("another one leads", |operon| {
        operon.way_of_leader().is_some_and(|now| now.address() != way.address())
            && operon.leaders() == 1
    })?;
    let took = begun.elapsed();
    trial.until("the other one finishes", |trial| trial.is_converged("beacon.v1.0.0"))?;
    trial.operon.until("nobody else led meanwhile", |operon| operon.leaders() == 1)?;
    way.pass();
    trial.note(format!("another one led after {:.1} s", took.as_secs_f64()));
    trial.converged("beacon.v1.0.0")
}

fn watches_cut(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    let (count, pause) = CUTS;
    for _ in 0..count {
        if let Some(way) = trial.operon.way_of_leader() {
            way.cut();
        }
        thread::sleep(pause);
    }
    trial.converged("beacon.v1.0.0")
}

/// An API server that has too much to do is asked again when it said, and everything comes out.
fn throttled(trial: &mut Trial<'_>) -> Result<(), String> {
    let injector = Injector::before(trial.operon.rig()).map_err(|error| error.to_string())?;
    trial.operon.start_before_injector(injector.address())?;
    let refusal = Fault::Answer(429, "Retry-After: 1\r\n", TOO_MANY.to_owned());
    trial.apply(1)?;
    trial.until("there is a plan", |trial| !trial.list(&known::INSTALL_PLAN).is_empty())?;
    injector.meet("", "", THROTTLED, refusal);
    let begun = Instant::now();
    trial.converged("beacon.v1.0.0")?;
    let took = begun.elapsed().as_secs_f64();
    trial.note(format!("done {took:.1} s after {THROTTLED} requests were refused"));
    // What stands behind the injector has to end before it does.
    trial.operon.kill_controllers();
    trial.operon.start_controllers(2)
}

fn leader_killed(
    trial: &mut Trial<'_>,
    what: &str,
    kind: &Kind,
    phase: &str,
) -> Result<(), String> {
    trial.apply(1)?;
    trial.until(&format!("a {what} is in phase `{phase}`"), |trial| {
        let is_it =
            |object: &Object| phase.is_empty() || object.status().get("phase").str() == phase;
        let objects = trial.list(kind);
        // Somebody quicker than this test is as good as caught.
        objects.iter().any(is_it) || trial.is_converged("beacon.v1.0.0")
    })?;
    trial.kill_leader()?;
    trial.converged("beacon.v1.0.0")
}

fn leader_killed_in_upgrade(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.converged("beacon.v1.0.0")?;
    trial.apply(2)?;
    trial.until("an operator is being replaced", |trial| {
        let operators = trial.list(&known::CLUSTER_SERVICE_VERSION);
        operators.iter().any(|operator| operator.status().get("phase").str() == "Replacing")
            || trial.is_converged("beacon.v1.1.0")
    })?;
    trial.kill_leader()?;
    trial.converged("beacon.v1.1.0")
}

fn component_killed(trial: &mut Trial<'_>, component: Component) -> Result<(), String> {
    trial.apply(1)?;
    trial.until("there is a plan", |trial| !trial.list(&known::INSTALL_PLAN).is_empty())?;
    trial.operon.rig().kill(component).map_err(|error| error.to_string())?;
    thread::sleep(Duration::from_secs(3));
    trial.operon.rig().start(component).map_err(|error| error.to_string())?;
    trial.operon.rig().start(Component::ApiServer).map_err(|error| error.to_string())?;
    trial.operon.rig().start(Component::ControllerManager).map_err(|error| error.to_string())?;
    trial.operon.rig().start(Component::Scheduler).map_err(|error| error.to_string())?;
    trial.converged("beacon.v1.0.0")
}

fn namespace_deleted(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.until("there is an operator", |trial| {
        !trial.list(&known::CLUSTER_SERVICE_VERSION).is_empty()
    })?;
    trial.operon.delete_namespaces(&[HARBOUR])?;
    trial.apply(1)?;
    trial.converged("beacon.v1.0.0")
}

fn rights_taken_away(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.until("there is a plan", |trial| !trial.list(&known::INSTALL_PLAN).is_empty())?;
    trial.take_rights()?;
    thread::sleep(Duration::from_secs(8));
    trial.give_rights()?;
    trial.converged("beacon.v1.0.0")
}

fn conflicting_writer(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.converged("beacon.v1.0.0")?;
    let is_of_operator = |role: &&Object| role.label("olm.owner") == "beacon.v1.0.0";
    let roles = trial.list(&known::ROLE);
    let role = roles.iter().find(is_of_operator).ok_or("the operator has no Role")?;
    let before = trial.operon.written()?;
    let begun = Instant::now();
    let mut reverts: u32 = 0;
    while begun.elapsed() < FIGHT {
        let found = trial.operon.person().get(&role.key()).map_err(|error| error.message)?;
        if found.is_some_and(|role| !role.at(&["rules"]).is_empty()) {
            let patch = map! { "rules" => Value::Null };
            trial
                .operon
                .person()
                .merge(&role.key(), &patch, false)
                .map_err(|error| error.message)?;
            reverts += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let written = trial.operon.written()? - before;
    trial.note(format!("{reverts} reverts, {written} writes in {FIGHT:?}"));
    if reverts == 0 {
        return Err("nobody fought".to_owned());
    }
    if written > WRITES_IN_A_FIGHT {
        return Err(format!("{written} writes in {FIGHT:?} against {reverts} reverts"));
    }
    trial.converged("beacon.v1.0.0")
}

fn reinstalled(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.converged("beacon.v1.0.0")?;
    for _ in 0..REINSTALLATIONS {
        for kind in [known::SUBSCRIPTION, known::CLUSTER_SERVICE_VERSION] {
            for object in trial.list(&kind) {
                trial
                    .operon
                    .person()
                    .delete(&object.key(), object.uid())
                    .map_err(|error| error.message)?;
            }
        }
        trial.apply(1)?;
        trial.until("the operator is there again", |trial| trial.is_converged("beacon.v1.0.0"))?;
    }
    trial.is_planned_twice_allowed = true;
    trial.converged("beacon.v1.0.0")
}

// ---- The trial ----

/// Two controllers, and a person who watches them.
struct Trial<'r> {
    operon: Installation<'r>,
    notes: Vec<String>,
    /// Whether an operator may have been planned again, because it was taken away.
    is_planned_twice_allowed: bool,
}

impl Trial<'_> {
    /// Begins with two controllers and nothing to do.
    fn begin(&mut self) -> Result<(), String> {
        self.notes.clear();
        self.is_planned_twice_allowed = false;
        self.operon.start_controllers(2)?;
        self.operon.delete_namespaces(&[HARBOUR])
    }

    /// Looks on while nothing may happen, and takes everything away.
    fn end(&mut self) -> Result<(), String> {
        self.until("the old pods are gone", |trial| {
            let pods = trial.list(&known::POD);
            pods.iter()
                .all(|pod| !pod.is_deleting() && pod.status().get("phase").str() == "Running")
        })?;
        self.operon.calm()?;
        self.operon.rest(REST)?;
        self.operon.delete_namespaces(&[HARBOUR])
    }

    /// Kills the leader, and notes how far it was.
    fn kill_leader(&mut self) -> Result<(), String> {
        let phases: Vec<String> = self
            .list(&known::CLUSTER_SERVICE_VERSION)
            .iter()
            .map(|operator| format!("{} {}", operator.name(), operator.status().get("phase").str()))
            .collect();
        self.operon.kill_leader()?;
        self.note(format!("killed at [{}]", phases.join(", ")));
        Ok(())
    }

    fn apply(&mut self, state: usize) -> Result<(), String> {
        self.operon.apply(&manifests(self.operon.rig(), state))
    }

    fn list(&self, kind: &Kind) -> Vec<Object> {
        self.operon.list(kind, HARBOUR)
    }

    fn catalog_is(&self, state: &str) -> Result<(), String> {
        self.until(&format!("the catalog is said to be {state}"), |trial| {
            let found = trial.operon.get(&known::CATALOG_SOURCE.key(HARBOUR, "chandler"));
            let path = ["status", "connectionState", "lastObservedState"];
            found.is_some_and(|source| source.at(&path).str() == state)
        })
    }

    fn is_converged(&self, wanted: &str) -> bool {
        let operators = self.list(&known::CLUSTER_SERVICE_VERSION);
        let is_well = |operator: &Object| operator.status().get("phase").str() == "Succeeded";
        let plans = self.list(&known::INSTALL_PLAN);
        let is_done = |plan: &Object| plan.status().get("phase").str() == "Complete";
        operators.iter().any(|operator| operator.name() == wanted)
            && operators.len() == 2
            && operators.iter().all(is_well)
            && plans.iter().all(is_done)
            && self
                .list(&known::SUBSCRIPTION)
                .iter()
                .all(|subscription| subscription.status().get("state").str() == "AtLatestKnown")
    }

    fn converged(&mut self, wanted: &str) -> Result<(), String> {
        self.until(&format!("{wanted} and what it needs are there"), |trial| {
            trial.is_converged(wanted) && trial.operon.leader().is_some()
        })?;
        let mut planned: BTreeMap<String, usize> = BTreeMap::new();
        for plan in self.list(&known::INSTALL_PLAN) {
            let names = plan.at(&["spec", "clusterServiceVersionNames"]).to_string();
            *planned.entry(names).or_default() += 1;
        }
        match planned.iter().find(|(_, count)| **count > 1) {
            Some((names, count)) if !self.is_planned_twice_allowed => {
                Err(format!("{names} was planned {count} times"))
            }
            _ => Ok(()),
        }
    }

    fn until(&self, claim: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), String> {
        let outcome = self.operon.until(claim, |_| is_so(self));
        outcome.map_err(|reason| format!("{reason}; {}", self.state()))
    }

    /// Says how everything stands, for people.
    fn state(&self) -> String {
        let kinds = [known::SUBSCRIPTION, known::INSTALL_PLAN, known::CLUSTER_SERVICE_VERSION];
        let objects = kinds.iter().flat_map(|kind| self.list(kind));
        let texts = objects.map(|object| format!("{}: {}", object.key(), object.status()));
        texts.collect::<Vec<_>>().join("\n  ")
    }

    /// Takes the rights of the controllers away.
    fn take_rights(&mut self) -> Result<(), String> {
        self.operon.delete(&known::CLUSTER_ROLE_BINDING.key("", ACCOUNT))
    }

    /// Gives the controllers their rights back.
    fn give_rights(&mut self) -> Result<(), String> {
        let key = known::CLUSTER_ROLE_BINDING.key("", ACCOUNT);
        let objects = self.operon.system_objects(&[])?;
        let binding = objects.iter().find(|object| object.key() == key);
        let binding = binding.ok_or("the manifests bind the controllers to nothing")?;
        self.operon.insist(|person| person.apply_as(binding, "person")).map(|_| ())
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn notes(&self) -> String {
        self.notes.join("; ")
    }
}
