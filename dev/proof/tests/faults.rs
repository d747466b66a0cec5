//! The controller that ships, on a real cluster where things break.
//!
//! After every fault the operators of the quickstart must be there, each planned once, and then nothing
//! may be written any more. `OPERON_FAULT=<name>` tries one; `OPERON_PROOF_RIG=<name>` uses a rig that
//! runs already.

use std::{
    collections::BTreeMap,
    env,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use operon_driver::Cluster;
use operon_kube::{KubeCluster, Options, Place};
use operon_object::{Kind, Object, Value, known, map};
use operon_proof::{
    Controller,
    harbour::{HARBOUR, manifests, push_quickstart},
    operon_program, rig_for_proof,
};
use operon_rig::{Component, Rig};

/// How long anything may take: a lease to run out, an API server to come back, pods to start.
const PATIENCE: Duration = Duration::from_secs(120);

/// For how long nothing may be written when all is done.
const REST: Duration = Duration::from_secs(10);

/// How often the cluster may be found at work before it has to be at rest.
const REST_TRIES: usize = 3;

/// How long a conflicting writer has its way.
const FIGHT: Duration = Duration::from_secs(10);

/// How many writes there may be in a fight. The engine does not keep to it yet: it is not slowed down, so
/// whoever reverts quickly is answered as quickly. `docs/reliability.md` has that as open.
const WRITES_IN_A_FIGHT: f64 = 60.0;

/// How often an operator is taken away and asked for again.
const REINSTALLATIONS: usize = 20;

/// The plain user that the controllers are.
const USER: &str = "carol";

/// A fault: its name, and what happens.
type Fault = (&'static str, fn(&mut Trial<'_>) -> Result<(), String>);

const FAULTS: &[Fault] = &[
    ("registry-away", registry_away),
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
    ("namespace-deleted", namespace_deleted),
    ("rights-taken-away", rights_taken_away),
    ("conflicting-writer", conflicting_writer),
    ("reinstalled", reinstalled),
];

#[test]
fn the_controller_gets_over_everything_that_breaks() {
    let Some(program) = operon_program() else {
        println!(
            "left out: there is no program `operon` beside this test; `cargo build -p operon`"
        );
        return;
    };
    let Some(rig) = rig_for_proof("faults") else { return };
    push_quickstart(&rig, &program).expect("images in the registry");
    let failures = rig.inside(|| try_all(&rig, program)).expect("the network of the rig");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn try_all(rig: &Rig, program: PathBuf) -> Vec<String> {
    let mut trial = Trial::new(rig, program);
    let wanted = env::var("OPERON_FAULT").ok();
    let mut failures = Vec::new();
    let is_wanted =
        |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|one| one == name));
    let tried: Vec<&Fault> = FAULTS.iter().filter(|(name, _)| is_wanted(name)).collect();
    for (name, fault) in &tried {
        let begun = Instant::now();
        let outcome = trial.begin().and_then(|()| fault(&mut trial)).and_then(|()| trial.end());
        let took = begun.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("ok     {name:34} {took:5.1} s; {}", trial.notes()),
            Err(reason) => {
                let words = trial.leader().map_or_else(String::new, |leader| leader.last_words(12));
                let failure = format!("FAILED {name:34} {took:5.1} s: {reason}\n{words}");
                println!("{failure}");
                failures.push(failure);
            }
        }
    }
    println!("{} of {} faults tried, {} failures", tried.len(), FAULTS.len(), failures.len());
    failures
}

// ---- Faults ----

fn registry_away(trial: &mut Trial<'_>) -> Result<(), String> {
    let rig = trial.rig;
    rig.stop(Component::Registry).map_err(|error| error.to_string())?;
    trial.apply(1)?;
    trial.until("the catalog is said to be out of reach", |trial| {
        let state = ["status", "connectionState", "lastObservedState"];
        let found = trial.person.get(&known::CATALOG_SOURCE.key(HARBOUR, "chandler"));
        found.ok().flatten().is_some_and(|source| source.at(&state).str() == "TRANSIENT_FAILURE")
    })?;
    rig.start(Component::Registry).map_err(|error| error.to_string())?;
    trial.converged("beacon.v1.0.0")
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
    trial.rig.kill(component).map_err(|error| error.to_string())?;
    thread::sleep(Duration::from_secs(3));
    trial.rig.start(component).map_err(|error| error.to_string())?;
    trial.rig.start(Component::ApiServer).map_err(|error| error.to_string())?;
    trial.rig.start(Component::ControllerManager).map_err(|error| error.to_string())?;
    trial.rig.start(Component::Scheduler).map_err(|error| error.to_string())?;
    trial.converged("beacon.v1.0.0")
}

fn namespace_deleted(trial: &mut Trial<'_>) -> Result<(), String> {
    trial.apply(1)?;
    trial.until("there is an operator", |trial| {
        !trial.list(&known::CLUSTER_SERVICE_VERSION).is_empty()
    })?;
    trial.delete_namespace()?;
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
    let before = trial.written()?;
    let begun = Instant::now();
    let mut reverts: u32 = 0;
    while begun.elapsed() < FIGHT {
        let found = trial.person.get(&role.key()).map_err(|error| error.message)?;
        if found.is_some_and(|role| !role.at(&["rules"]).is_empty()) {
            let patch = map! { "rules" => Value::Null };
            trial.person.merge(&role.key(), &patch, false).map_err(|error| error.message)?;
            reverts += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let written = trial.written()? - before;
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
                trial.person.delete(&object.key(), object.uid()).map_err(|error| error.message)?;
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
    rig: &'r Rig,
    program: PathBuf,
    person: KubeCluster,
    controllers: Vec<Controller>,
    next_port: u16,
    notes: Vec<String>,
    /// Whether an operator may have been planned again, because it was taken away.
    is_planned_twice_allowed: bool,
}

impl<'r> Trial<'r> {
    fn new(rig: &'r Rig, program: PathBuf) -> Self {
        let place = Place::Kubeconfig { file: Some(rig.kubeconfig()), context: None };
        let options = Options { manager: "person".to_owned(), ..Options::default() };
        let person = KubeCluster::connect(&place, options).expect("a kubeconfig that can be used");
        for object in operon_api::crd_objects() {
            person.apply_as(&object, "person").expect("our CRDs");
        }
        person.apply_as(&Object::new("v1", "Namespace", "", "olm"), "person").expect("olm");
        let mut trial = Self {
            rig,
            program,
            person,
            controllers: Vec::new(),
            next_port: 18_080,
            notes: Vec::new(),
            is_planned_twice_allowed: false,
        };
        trial.give_rights().expect("rights for the controllers");
        trial
    }

    /// Begins with two controllers and nothing to do.
    fn begin(&mut self) -> Result<(), String> {
        self.notes.clear();
        self.is_planned_twice_allowed = false;
        while self.controllers.len() < 2 {
            self.start_controller()?;
        }
        self.until("somebody leads", |trial| trial.leader().is_some())?;
        self.delete_namespace()
    }

    /// Looks on while nothing may happen, and takes everything away. What the cluster itself still has to
    /// do, such as letting old pods go, may take a few tries; a controller that writes on and on has none.
    fn end(&mut self) -> Result<(), String> {
        let mut outcome = Ok(());
        for _ in 0..REST_TRIES {
            outcome = self.rest();
            if outcome.is_ok() {
                break;
            }
        }
        outcome?;
        self.delete_namespace()
    }

    fn rest(&self) -> Result<(), String> {
        let (seen, written) = (self.versions()?, self.written()?);
        thread::sleep(REST);
        let (seen_then, written_then) = (self.versions()?, self.written()?);
        if (written - written_then).abs() > f64::EPSILON {
            return Err(format!("was not at rest: {} writes", written_then - written));
        }
        let is_other = |key: &&String| seen.get(*key) != seen_then.get(*key);
        let changed: Vec<&String> = seen.keys().chain(seen_then.keys()).filter(is_other).collect();
        match changed.as_slice() {
            [] => Ok(()),
            changed => Err(format!("was not at rest: {changed:?} changed")),
        }
    }

    fn start_controller(&mut self) -> Result<(), String> {
        let kubeconfig = self.rig.kubeconfig_of_user(USER).map_err(|error| error.to_string())?;
        self.next_port += 1;
        let started = Controller::start(self.rig, &self.program, &kubeconfig, self.next_port);
        self.controllers.push(started.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn leader(&self) -> Option<&Controller> {
        self.controllers.iter().find(|controller| controller.is_leading())
    }

    /// Kills the leader; a new one is started, which waits.
    fn kill_leader(&mut self) -> Result<(), String> {
        let leading = self.controllers.iter().position(Controller::is_leading);
        let mut leader = self.controllers.remove(leading.ok_or("nobody leads")?);
        let phases: Vec<String> = self
            .list(&known::CLUSTER_SERVICE_VERSION)
            .iter()
            .map(|operator| format!("{} {}", operator.name(), operator.status().get("phase").str()))
            .collect();
        leader.kill();
        self.note(format!("killed at [{}]", phases.join(", ")));
        self.start_controller()
    }

    /// Counts what was written by those who run.
    fn written(&self) -> Result<f64, String> {
        let counts = self.controllers.iter().map(Controller::written);
        let counts: Option<Vec<f64>> = counts.collect();
        Ok(counts.ok_or("a controller does not say what it wrote")?.iter().sum())
    }

    fn apply(&mut self, state: usize) -> Result<(), String> {
        let text = manifests(self.rig, state);
        let read = operon_api::read_objects("the harbour", text.as_bytes());
        for located in read.objects {
            self.insist(|person| person.apply_as(&located.object, "person"))?;
        }
        Ok(())
    }

    fn insist(
        &self,
        attempt: impl Fn(&KubeCluster) -> Result<Object, operon_driver::ClusterError>,
    ) -> Result<Object, String> {
        let begun = Instant::now();
        loop {
            match attempt(&self.person) {
                Ok(object) => return Ok(object),
                Err(error) if begun.elapsed() > PATIENCE => return Err(error.message),
                Err(_) => thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    fn list(&self, kind: &Kind) -> Vec<Object> {
        let mut objects = self.person.list_once(std::slice::from_ref(kind)).unwrap_or_default();
        objects.retain(|object| object.namespace() == HARBOUR);
        objects
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
            trial.is_converged(wanted) && trial.leader().is_some()
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

    fn until(&mut self, claim: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("not even after {PATIENCE:?}: {claim}; {}", self.state()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Says how everything stands, for people.
    fn state(&self) -> String {
        let kinds = [known::SUBSCRIPTION, known::INSTALL_PLAN, known::CLUSTER_SERVICE_VERSION];
        let objects = kinds.iter().flat_map(|kind| self.list(kind));
        let texts = objects.map(|object| format!("{}: {}", object.key(), object.status()));
        texts.collect::<Vec<_>>().join("\n  ")
    }

    fn versions(&self) -> Result<BTreeMap<String, String>, String> {
        let kinds: Vec<Kind> = known::KNOWN_KINDS
            .iter()
            .filter(|known| ![known::LEASE, known::EVENT].contains(&known.kind))
            .map(|known| known.kind.clone())
            .collect();
        let objects = self.person.list_once(&kinds).map_err(|error| error.message)?;
        let version =
            |object: &Object| (object.key().to_string(), object.resource_version().to_owned());
        Ok(objects.iter().map(version).collect())
    }

    fn delete_namespace(&mut self) -> Result<(), String> {
        let key = known::NAMESPACE.key("", HARBOUR);
        if let Some(object) = self.person.get(&key).map_err(|error| error.message)? {
            self.person.delete(&key, object.uid()).map_err(|error| error.message)?;
        }
        self.until("the namespace is gone", |trial| matches!(trial.person.get(&key), Ok(None)))
    }

    fn give_rights(&mut self) -> Result<(), String> {
        let api = "rbac.authorization.k8s.io/v1";
        let mut binding = Object::new(api, "ClusterRoleBinding", "", "controllers");
        let group = "rbac.authorization.k8s.io";
        let role = map! { "apiGroup" => group, "kind" => "ClusterRole", "name" => "cluster-admin" };
        binding.set(&["roleRef"], role);
        let user = map! { "apiGroup" => group, "kind" => "User", "name" => USER };
        binding.set(&["subjects"], Value::list([user]));
        self.insist(|person| person.apply_as(&binding, "person")).map(|_| ())
    }

    fn take_rights(&mut self) -> Result<(), String> {
        let key = known::CLUSTER_ROLE_BINDING.key("", "controllers");
        let found = self.person.get(&key).map_err(|error| error.message)?;
        let binding = found.ok_or("the controllers have no rights")?;
        self.person.delete(&key, binding.uid()).map_err(|error| error.message)
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn notes(&self) -> String {
        self.notes.join("; ")
    }
}
