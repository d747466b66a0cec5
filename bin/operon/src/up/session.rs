//! The loop: time passes, the directory is looked at, the engine turns, people are shown.
//!
//! What is done and when is decided elsewhere; here the parts are called in turn.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use operon_driver::{Cluster, ClusterError, Cursor};
use operon_local::LocalCluster;
use operon_object::Timestamp;
use operon_resolve::SourceName;

use super::{
    calm::{Calm, Next, Turn},
    directory::{ManifestDirectory, News},
    display::Display,
    ending::{is_well, reasons},
    status::Status,
};
use crate::{
    cluster::{Engine, is_stopping, now},
    exit::Outcome,
    output::{print_text, stderr_line},
};

/// How often the directory is looked at, and how soon Ctrl-C is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// The pause after a turn that found something to do and changed nothing.
const PAUSE: Duration = Duration::from_millis(5);

/// The pause after the cluster could not be read or written, as when the disk is full.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// One run of `operon up`.
#[derive(Debug)]
pub(super) struct Session {
    cluster: Arc<LocalCluster>,
    driver: Engine,
    directory: ManifestDirectory,
    display: Display,
    status: Status,
    calm: Calm,
    /// When the directory was looked at last.
    looked: Option<Timestamp>,
    /// Where the history of the cluster was after the last turn.
    point: Option<Cursor>,
    /// When something began to happen; nothing while everything is settled.
    begun: Option<Timestamp>,
    /// What could not be done, as it was told last.
    failure: String,
    /// The catalogs of which was told that they are waited for.
    told: BTreeSet<SourceName>,
}

impl Session {
    pub(super) fn new(
        cluster: Arc<LocalCluster>,
        driver: Engine,
        directory: ManifestDirectory,
        display: Display,
    ) -> Self {
        let now = now();
        Self {
            cluster,
            driver,
            directory,
            display,
            status: Status::default(),
            calm: Calm::new(now),
            looked: None,
            point: None,
            begun: Some(now),
            failure: String::new(),
            told: BTreeSet::new(),
        }
    }

    /// Runs until everything is settled, and says how it ended.
    pub(super) fn run_once(&mut self, stop: &AtomicBool) -> anyhow::Result<Outcome> {
        self.settle(stop)?;
        self.hint();
        let problems = self.directory.problems();
        print_text(&reasons(&self.status, &problems, self.directory.path()))?;
        let is_well = is_well(&self.status, &problems);
        Ok(if is_well { Outcome::Done } else { Outcome::Negative })
    }

    /// Runs until everything is settled.
    pub(super) fn settle(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        while !is_stopping(stop) {
            let next = self.turn()?;
            if self.begun.is_none() {
                return Ok(());
            }
            self.wait(next);
        }
        anyhow::bail!(
            "stopped before everything was settled\nhint: the same command goes on where it was"
        )
    }

    /// Runs until somebody wishes to stop.
    pub(super) fn follow(&mut self, stop: &AtomicBool) -> anyhow::Result<Outcome> {
        while !is_stopping(stop) {
            match self.turn() {
                Ok(next) => {
                    self.failure.clear();
                    self.wait(next);
                }
                Err(error) if error.is::<ClusterError>() => {
                    let failure = error.to_string();
                    if failure != self.failure {
                        self.display.tell(&[News::Problem(failure.clone())])?;
                        self.failure = failure;
                    }
                    thread::sleep(PAUSE_AFTER_FAILURE);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Outcome::Done)
    }

    /// Turns the loop once, and shows what came of it.
    fn turn(&mut self) -> anyhow::Result<Next> {
        let at = now();
        if self.looked.is_none_or(|looked| at < looked || at.since(looked) >= LOOK_EVERY) {
            self.looked = Some(at);
            let news = self.directory.refresh(self.driver.cluster())?;
            self.display.tell(&news)?;
        }
        let cluster_wake = self.cluster.advance(at);
        let cycle = self.driver.cycle(at)?;
        let point = Some(self.cluster.list(&[].into())?.cursor);
        let has_changed = self.point != point;
        self.point = point;
        if has_changed {
            let news = self.directory.retry(self.driver.cluster())?;
            self.display.tell(&news)?;
            self.begun.get_or_insert(at);
        }
        self.show()?;
        let awaited = self.driver.catalogs().awaited();
        let wakes = [cycle.wake, cluster_wake];
        let wake = wakes.into_iter().flatten().min();
        let turn = Turn {
            now: at,
            is_idle: cycle.is_settled,
            has_changed,
            wake,
            is_fetching: cycle.is_fetching,
            next_attempt: awaited.iter().map(|(_, next)| *next).min(),
        };
        let next = self.calm.judge(turn);
        if matches!(next, Next::Wait(_)) {
            self.tell_awaited(&awaited)?;
        }
        if let (Next::Rest(_), Some(begun)) = (next, self.begun) {
            self.display.settle(&self.status, now().since(begun))?;
            self.begun = None;
        }
        Ok(next)
    }

    /// Says once which catalogs are waited for, and why.
    fn tell_awaited(&mut self, awaited: &[(SourceName, Timestamp)]) -> anyhow::Result<()> {
        for (name, _) in awaited {
            if self.told.insert(name.clone()) {
                let state = self.driver.catalog_states().get(name);
                let problem = state.map(|state| state.problem.as_str()).unwrap_or_default();
                let line = format!("waiting for catalog {}: {problem}", name.name);
                self.display.tell(&[News::Waiting(line)])?;
            }
        }
        Ok(())
    }

    fn hint(&self) {
        if self.directory.is_empty() {
            let directory = self.directory.path().display();
            stderr_line!(
                "hint: there are no manifests (*.yaml, *.yml, *.json) directly in `{directory}`"
            );
        }
    }

    fn show(&mut self) -> anyhow::Result<()> {
        let status = Status::of(self.driver.objects(), self.driver.catalog_states());
        if status != self.status || self.begun.is_some() {
            self.status = status;
            self.display.show(&self.status)?;
        }
        Ok(())
    }

    fn wait(&self, next: Next) {
        let until = |wake: Timestamp| wake.since(now()).min(LOOK_EVERY);
        let at_most = match next {
            Next::Turn => PAUSE,
            Next::Wait(wake) | Next::Rest(Some(wake)) => until(wake).max(PAUSE),
            Next::Rest(None) => LOOK_EVERY,
        };
        if let Some(point) = &self.point {
            self.cluster.wait_for_change(point, at_most);
        }
    }
}
