//! The loop of the controller: look, lead, act, tell, wait.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use operon_driver::{Cluster, ClusterError, Cycle, Deed, Driver, Threads};
use operon_image::{Fetcher, SourceCatalogs};
use operon_kube::KubeCluster;
use operon_lifecycle::{ErrorKind, Settings};
use operon_monitor::{Board, Readiness};
use operon_object::{Object, known};

use super::{
    api_server::ApiServer,
    first_groups::{Annotated, FirstGroups},
    log::Log,
    report::Report,
};
use crate::{
    cluster::{FETCH_LOOK, is_stopping, now, settings_of_real},
    system::FIRST_GROUP_ANNOTATION,
};

/// How often it is looked although nothing was heard: registries are polled, and a wish to end is seen.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long to wait when the cluster cannot be asked.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);

/// How soon the lease is looked at again while somebody else has it.
const STANDBY_LOOK: Duration = Duration::from_millis(200);

/// Runs the engine.
pub(super) struct Worker {
    pub(super) cluster: Arc<KubeCluster>,
    pub(super) api_server: ApiServer,
    pub(super) fetcher: Arc<Fetcher>,
    /// The namespace that the controller runs in.
    pub(super) namespace: String,
    pub(super) global_namespace: String,
    pub(super) own_image: String,
    /// Namespaces whose annotation for a first OperatorGroup counts.
    pub(super) first_group_namespaces: Vec<String>,
    /// Whether every OperatorGroup must name a ServiceAccount.
    pub(super) requires_service_account: bool,
    /// The namespaces in which Secrets may be read; empty for all of them.
    pub(super) tenants: Vec<String>,
    pub(super) board: Arc<Board>,
    pub(super) log: Log,
}

type Engine = Driver<Arc<KubeCluster>, Arc<SourceCatalogs>>;

impl Worker {
    /// Works until somebody wishes to stop.
    pub(super) fn run(&self, stop: &AtomicBool) {
        let mut report = Report::default();
        let mut first_groups = FirstGroups::new(self.first_group_namespaces.iter().cloned());
        let mut trouble = String::new();
        while !is_stopping(stop) {
            let outcome = self.begin().and_then(|mut engine| {
                trouble.clear();
                self.turn(&mut engine, &mut report, &mut first_groups, stop)
            });
            if let Err(error) = outcome {
                self.tell_trouble(&mut trouble, &error);
                thread::sleep(TROUBLE_PAUSE);
            }
        }
    }

    /// Asks the cluster what it is, and sets the engine up for it.
    fn begin(&self) -> Result<Engine, ClusterError> {
        // Before the first catalog is fetched.
        self.api_server.refresh(&self.cluster, &self.log);
        let mut settings = Settings {
            own_image: self.own_image.clone(),
            requires_service_account: self.requires_service_account,
            ..settings_of_real(&self.cluster, &self.global_namespace)?
        };
        settings.protected_namespaces.push(self.namespace.clone());
        self.log.say("info", "the API server answers", &[("version", &settings.kube_version)]);
        let log = self.log;
        let write = move |object: &str, reason: &str| {
            log.say("warn", "cannot fetch", &[("object", object), ("reason", reason)]);
        };
        let catalogs = SourceCatalogs::of_tenants(Arc::clone(&self.fetcher), Arc::new(write));
        let catalogs = Arc::new(catalogs);
        let workers = Threads::start(&self.cluster, &catalogs).map_err(|error| ClusterError {
            kind: ErrorKind::Other,
            message: format!("cannot start threads: {error}"),
        })?;
        let mut engine = Driver::new(Arc::clone(&self.cluster), catalogs, settings);
        engine.set_workers(Box::new(workers));
        if !self.tenants.is_empty() {
            engine.limit_secrets(self.tenants.iter().cloned());
        }
        Ok(engine)
    }

    /// Turns the loop until the cluster cannot be asked, the lease is lost, or somebody wishes to stop.
    fn turn(
        &self,
        engine: &mut Engine,
        report: &mut Report,
        first_groups: &mut FirstGroups,
        stop: &AtomicBool,
    ) -> Result<(), ClusterError> {
        let mut was_leading = false;
        while !is_stopping(stop) {
            self.api_server.refresh(&self.cluster, &self.log);
            let leadership = self.cluster.leadership().unwrap_or_default();
            if leadership.is_held != was_leading {
                if was_leading {
                    self.log.say("warn", "the lease was lost", &[("holder", &leadership.holder)]);
                    // What was tried in vain meanwhile says nothing about the next time.
                    return Ok(());
                }
                self.log.say("info", "this process leads", &[]);
                was_leading = true;
            }
            if !leadership.is_held {
                engine.look(now())?;
                let text = format!("ready to take over from `{}`", leadership.holder);
                self.board.show_readiness(Readiness::Ready(text));
                report.tell(engine, &self.cluster, None, &self.board);
                self.cluster.wait(STANDBY_LOOK);
                continue;
            }
            self.create_first_groups(engine, first_groups)?;
            let begun = Instant::now();
            let cycle = engine.cycle(now())?;
            self.tell_deeds(&cycle.deeds);
            self.board.show_readiness(Readiness::Ready("it leads".to_owned()));
            report.tell(engine, &self.cluster, Some((&cycle, begun.elapsed())), &self.board);
            self.wait(&cycle);
        }
        Ok(())
    }

    /// Waits until there is something to do.
    fn wait(&self, cycle: &Cycle) {
        if !cycle.is_settled {
            return;
        }
        let now = now();
        let until_wake = cycle.wake.map_or(LOOK_EVERY, |wake| wake.since(now));
        let longest = if cycle.is_fetching { FETCH_LOOK } else { LOOK_EVERY };
        self.cluster.wait(until_wake.min(longest));
    }

    /// Creates the OperatorGroups that a new cluster begins with.
    fn create_first_groups(
        &self,
        engine: &Engine,
        first_groups: &mut FirstGroups,
    ) -> Result<(), ClusterError> {
        let Annotated { allowed, ignored } = first_groups.annotated(engine.objects());
        for namespace in ignored {
            let about = [("annotation", FIRST_GROUP_ANNOTATION), ("namespace", namespace.name())];
            self.log.say("warn", "ignored a request for a first OperatorGroup", &about);
        }
        for namespace in allowed {
            let name = namespace.annotation(FIRST_GROUP_ANNOTATION).unwrap_or_default();
            let has_one =
                engine.objects().within(&known::OPERATOR_GROUP, namespace.name()).next().is_some();
            if !has_one {
                let group =
                    Object::new("operators.coreos.com/v1", "OperatorGroup", namespace.name(), name);
                unless_there(self.cluster.create(&group))?;
            }
            let mut done = namespace.clone();
            done.remove_annotation(FIRST_GROUP_ANNOTATION);
            unless_there(self.cluster.update(&done))?;
        }
        Ok(())
    }

    fn tell_deeds(&self, deeds: &[Deed]) {
        for Deed { verb, target, work, refusal } in deeds {
            let (target, work) = (target.to_string(), work.to_string());
            let mut about = vec![("object", target.as_str()), ("for", work.as_str())];
            match refusal {
                None => self.log.say("info", verb, &about),
                Some(refusal) => {
                    about.push(("refused", refusal));
                    self.log.say("warn", verb, &about);
                }
            }
        }
    }

    /// Says why nothing can be done, once for each reason.
    fn tell_trouble(&self, told: &mut String, error: &ClusterError) {
        let text = error.to_string();
        self.board.show_readiness(Readiness::NotReady(text.clone()));
        if *told != text {
            self.log.say("error", "the cluster cannot be looked after", &[("reason", &text)]);
            *told = text;
        }
    }
}

/// What was written already, and is not seen yet, is no failure.
fn unless_there(answer: Result<Object, ClusterError>) -> Result<(), ClusterError> {
    match answer {
        Err(error) if !matches!(error.kind, ErrorKind::AlreadyExists | ErrorKind::Conflict) => {
            Err(error)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
