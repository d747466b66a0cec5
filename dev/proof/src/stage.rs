//! A real cluster as the place where a scenario runs.

use std::{
    collections::BTreeMap,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use operon_apiserver::WORKLOAD_ANNOTATION;
use operon_driver::{Cluster, ClusterError, Driver};
use operon_kube::{KubeCluster, Options, Place};
use operon_lifecycle::{ErrorKind, Settings, views::removal};
use operon_object::{Kind, Object, ObjectKey, Timestamp, Value, known};
use operon_resolve::SourceName;
use operon_sim::{Publication, SimCatalogs, Stage};

use crate::{Clock, Probes};

/// How long nothing may happen before a cluster counts as settled. Controllers and kubelets answer
/// within a tenth of a second; what takes longer, such as pods, is waited for by name.
pub const QUIET: Duration = Duration::from_millis(400);

/// How long a cluster may take to settle: on a busy machine a pod may take half a minute to start.
pub const SETTLE_PATIENCE: Duration = Duration::from_secs(120);

/// How long a person tries again what the cluster is not ready for, such as a kind that was defined a
/// moment ago.
const PERSON_PATIENCE: Duration = Duration::from_secs(15);

/// How long what is expected may take to be seen: the garbage collector of a cluster looks for
/// new kinds every half a minute.
const EXPECTATION_PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait before looking again.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Stands before the reason why a deed was not done.
pub(crate) const REFUSED: &str = ", refused: ";

/// The name that a person's fields are recorded under.
const PERSON: &str = "person";

/// A real cluster with one controller, which runs in this process.
#[derive(Debug)]
pub struct KubeStage {
    driver: Driver<Arc<KubeCluster>, SimCatalogs>,
    engine: Arc<KubeCluster>,
    person: Arc<KubeCluster>,
    place: Place,
    settings: Settings,
    catalogs: SimCatalogs,
    clock: Clock,
    probes: Probes,
    seen: BTreeMap<ObjectKey, Vec<String>>,
    /// The writes of controllers that were killed.
    writes_before: u64,
}

impl KubeStage {
    /// Begins a controller on a cluster.
    pub fn new(place: &Place, probes: &Probes) -> Result<Self, String> {
        let clock = Clock::new();
        probes.begin(&clock);
        let engine = connect(place, Options::default())?;
        let settings = Settings {
            kube_version: engine.server_version().map_err(|error| error.message)?,
            native_apis: Some(engine.native_apis().map_err(|error| error.message)?),
            ..Settings::default()
        };
        let catalogs = SimCatalogs::default();
        Ok(Self {
            driver: Driver::new(Arc::clone(&engine), catalogs.clone(), settings.clone()),
            engine,
            person: connect(place, unlimited(PERSON))?,
            place: place.clone(),
            settings,
            catalogs,
            clock,
            probes: probes.clone(),
            seen: BTreeMap::new(),
            writes_before: 0,
        })
    }

    /// Counts what the engine wrote.
    pub fn writes(&self) -> u64 {
        self.writes_before + self.engine.counters().writes()
    }

    /// Settles, and then looks on for a time; says what was written in it, which should be nothing.
    pub fn rest(&mut self, duration: Duration) -> Result<Vec<String>, String> {
        self.settle()?;
        self.rest_at_once(duration)
    }

    /// Looks on for a time; says what was written in it.
    pub fn rest_at_once(&mut self, duration: Duration) -> Result<Vec<String>, String> {
        let before = self.writes();
        let begun = Instant::now();
        let mut written = Vec::new();
        while begun.elapsed() < duration {
            self.turn(&mut written)?;
            self.engine.wait(LOOK_PAUSE);
        }
        if self.writes() != before && written.is_empty() {
            written.push(format!("{} writes that no turn tells of", self.writes() - before));
        }
        Ok(written)
    }

    /// Turns the loop once; tells whether there was nothing to do.
    fn turn(&mut self, written: &mut Vec<String>) -> Result<bool, String> {
        let cycle = match self.driver.cycle(self.clock.now()) {
            Ok(cycle) => cycle,
            // The next turn looks again.
            Err(error) if error.kind == ErrorKind::Unavailable => return Ok(false),
            Err(error) => return Err(error.message),
        };
        for deed in &cycle.deeds {
            let refusal = deed.refusal.as_ref().map(|words| format!("{REFUSED}{words}"));
            let refusal = refusal.unwrap_or_default();
            written.push(format!("{} {} for {}{refusal}", deed.verb, deed.target, deed.work));
        }
        for operator in self.driver.objects().all(&known::CLUSTER_SERVICE_VERSION) {
            let status = operator.status();
            let phase = format!("{}/{}", status.get("phase").str(), status.get("reason").str());
            let seen = self.seen.entry(operator.key()).or_default();
            if seen.last() != Some(&phase) {
                seen.push(phase);
            }
        }
        Ok(cycle.is_settled)
    }

    /// Returns when something will happen by itself.
    fn next_wake(&mut self) -> Result<Option<Timestamp>, String> {
        let now = self.clock.now();
        let cycle = self.driver.cycle(now).map_err(|error| error.message)?;
        let wakes = [cycle.wake, self.probes.next_wake()];
        Ok(wakes.into_iter().flatten().filter(|wake| *wake > now).min())
    }

    /// Says what the cluster's own controllers still have to do.
    fn unfinished(&self) -> Option<String> {
        let objects = self.driver.objects();
        let leaving = [known::NAMESPACE, known::CUSTOM_RESOURCE_DEFINITION, known::DEPLOYMENT];
        for kind in leaving {
            if let Some(object) = objects.all(&kind).find(|object| object.is_deleting()) {
                return Some(format!("{} is on its way out", object.key()));
            }
        }
        let owned = [
            known::DEPLOYMENT,
            known::SERVICE_ACCOUNT,
            known::ROLE,
            known::ROLE_BINDING,
            known::OPERATOR_CONDITION,
        ];
        // What an operator owns may own something itself.
        let owners = [known::CLUSTER_SERVICE_VERSION, known::OPERATOR_CONDITION];
        for object in owned.iter().flat_map(|kind| objects.all(kind)) {
            let is_lost = object.owners().any(|owner| {
                let kind = owners.iter().find(|kind| kind.name() == owner.kind);
                kind.is_some_and(|kind| {
                    let found = objects.get(kind, object.namespace(), &owner.name);
                    found.is_none_or(|found| found.uid() != owner.uid)
                })
            });
            if is_lost {
                return Some(format!("{} has lost its owner", object.key()));
            }
        }
        objects.all(&known::DEPLOYMENT).find_map(|deployment| self.rolling(deployment))
    }

    /// Says what a Deployment waits for, unless it is as far as its pods get by now.
    fn rolling(&self, deployment: &Object) -> Option<String> {
        let status = deployment.status();
        let count = |name: &str| status.get(name).as_integer().unwrap_or(0);
        let key = deployment.key();
        if count("observedGeneration") != deployment.generation() {
            return Some(format!("{key} is not observed yet"));
        }
        let template = ["spec", "template", "metadata", "annotations", WORKLOAD_ANNOTATION];
        let words = deployment.at(&template).str();
        let wanted = deployment.spec().get("replicas").as_integer().unwrap_or(1);
        let is_complete = ["replicas", "updatedReplicas", "availableReplicas"]
            .iter()
            .all(|name| count(name) == wanted);
        let is_asked_after = !matches!(words, "" | "ready" | "crash");
        let should_be_ready = match words {
            "crash" => Some(false),
            _ if !is_asked_after => Some(true),
            _ => {
                let (namespace, name) = (deployment.namespace(), deployment.name());
                self.probes.should_be_ready(namespace, name, words)
            }
        };
        match should_be_ready {
            None => Some(format!("the pods of {key} have not started")),
            Some(true) if !is_complete => Some(format!("{key} is not rolled out: {status}")),
            Some(false) if count("updatedReplicas") < wanted => {
                Some(format!("{key} has too few pods: {status}"))
            }
            Some(_) => None,
        }
    }

    /// Does what a person does, again and again while the cluster is not ready for it.
    fn insist<T>(
        &self,
        mut attempt: impl FnMut(&KubeCluster) -> Result<T, ClusterError>,
    ) -> Result<T, String> {
        let begun = Instant::now();
        loop {
            match attempt(&self.person) {
                Ok(done) => return Ok(done),
                Err(error) if begun.elapsed() > PERSON_PATIENCE => return Err(error.message),
                Err(error) => {
                    let may_pass = matches!(
                        error.kind,
                        ErrorKind::NotFound | ErrorKind::Unavailable | ErrorKind::Conflict
                    );
                    if !may_pass {
                        return Err(error.message);
                    }
                    thread::sleep(LOOK_PAUSE);
                }
            }
        }
    }
}

/// Options for people and for those who tidy up: they may ask as much as they like.
pub(crate) fn unlimited(manager: &str) -> Options {
    let manager = manager.to_owned();
    Options { manager, requests_per_second: 1000, requests_burst: 1000, ..Options::default() }
}

fn connect(place: &Place, options: Options) -> Result<Arc<KubeCluster>, String> {
    KubeCluster::connect(place, options).map(Arc::new).map_err(|error| error.to_string())
}

impl Stage for KubeStage {
    fn publish(&mut self, name: &SourceName, publication: &Publication) -> Result<(), String> {
        self.catalogs.publish(name, publication.clone());
        Ok(())
    }

    fn hinder(&mut self, name: &SourceName, reason: &str) -> Result<(), String> {
        self.catalogs.hinder(name, reason);
        Ok(())
    }

    fn hinder_bundle(
        &mut self,
        catalog: &SourceName,
        bundle: &str,
        reason: &str,
    ) -> Result<(), String> {
        self.catalogs.hinder_bundle(catalog, bundle, reason);
        Ok(())
    }

    fn apply(&mut self, object: &Object) -> Result<(), String> {
        self.insist(|person| person.apply_as(object, PERSON))?;
        if !object.status().is_null() {
            let patch = operon_object::map! { "status" => object.status().clone() };
            self.insist(|person| person.merge(&object.key(), &patch, true))?;
        }
        Ok(())
    }

    fn patch(&mut self, key: &ObjectKey, patch: &Value, is_status: bool) -> Result<(), String> {
        self.insist(|person| person.merge(key, patch, is_status)).map(|_| ())
    }

    fn delete(&mut self, key: &ObjectKey) -> Result<(), String> {
        let found = self.person.get(key).map_err(|error| error.message)?;
        let object = found.ok_or_else(|| format!("{key} is not there"))?;
        self.person.delete(key, object.uid()).map_err(|error| error.message)
    }

    fn uninstall(&mut self, namespace: &str, name: &str) -> Result<(), String> {
        let now = self.clock.now();
        self.driver.look(now).map_err(|error| error.message)?;
        let world = self.driver.world(now);
        let removal = removal(&world, namespace, name, true).map_err(|error| error.to_string())?;
        self.driver.remove(&removal).map_err(|error| error.message)
    }

    fn roll_back(&mut self, namespace: &str, name: &str, to: Option<&str>) -> Result<(), String> {
        let now = self.clock.now();
        self.driver.look(now).map_err(|error| error.message)?;
        let shown = self.driver.show_rollback(namespace, name, to, now);
        let rollback = shown.map_err(|error| error.to_string())?;
        self.driver.roll_back(&rollback).map_err(|error| error.message)
    }

    fn settle(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        let mut quiet_since = Instant::now();
        let mut deeds = Vec::new();
        loop {
            if begun.elapsed() > SETTLE_PATIENCE {
                let last = deeds.split_off(deeds.len().saturating_sub(6));
                let waiting = self.unfinished().unwrap_or_else(|| "the engine".to_owned());
                let last = last.join("\n    ");
                return Err(format!("not settled: {waiting}; last deeds:\n    {last}"));
            }
            if !self.turn(&mut deeds)? {
                quiet_since = Instant::now();
                continue;
            }
            if self.unfinished().is_some() {
                quiet_since = Instant::now();
                self.engine.wait(LOOK_PAUSE);
                continue;
            }
            if quiet_since.elapsed() >= QUIET {
                return Ok(());
            }
            if self.engine.wait(QUIET.saturating_sub(quiet_since.elapsed())) {
                quiet_since = Instant::now();
            }
        }
    }

    fn wait(&mut self, duration: Duration) -> Result<(), String> {
        let end = self.clock.now().after(duration);
        self.settle()?;
        while let Some(wake) = self.next_wake()?.filter(|wake| *wake <= end) {
            self.clock.move_to(wake);
            self.settle()?;
        }
        self.clock.move_to(end);
        self.settle()
    }

    fn restart(&mut self) -> Result<(), String> {
        self.writes_before = self.writes();
        self.engine = connect(&self.place, Options::default())?;
        let engine = Arc::clone(&self.engine);
        self.driver = Driver::new(engine, self.catalogs.clone(), self.settings.clone());
        Ok(())
    }

    fn list(&mut self, kind: &Kind) -> Result<Vec<Object>, String> {
        self.person.list_once(std::slice::from_ref(kind)).map_err(|error| error.message)
    }

    fn phases(&mut self, key: &ObjectKey) -> Vec<String> {
        self.seen.get(key).cloned().unwrap_or_default()
    }

    fn patience(&self) -> Duration {
        EXPECTATION_PATIENCE
    }
}
