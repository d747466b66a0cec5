//! The simulated place where scenarios run.

use std::{collections::BTreeMap, time::Duration};

use operon_apiserver::{DeleteOptions, Part, Request, Target};
use operon_driver::{Cluster, Driver, Interest};
use operon_lifecycle::{Settings, views::removal};
use operon_object::{Kind, Object, ObjectKey, Timestamp, Value, known};
use operon_resolve::SourceName;

use crate::{Publication, SimCatalogs, SimCluster, Stage};

/// When every simulation begins.
pub const BEGINNING: Timestamp = Timestamp::from_milliseconds(1_800_000_000_000);

/// How much time passes between two turns of the loop.
const TURN: Duration = Duration::from_millis(20);

/// How many turns may be needed until nothing is left to do. The longest scenario needs about 200.
const MOST_TURNS: usize = 5_000;

/// A simulated cluster with one controller.
#[derive(Debug)]
pub struct SimStage {
    driver: Driver<SimCluster, SimCatalogs>,
    cluster: SimCluster,
    catalogs: SimCatalogs,
    settings: Settings,
    now: Timestamp,
    seen: BTreeMap<ObjectKey, Vec<String>>,
}

impl SimStage {
    /// Begins an empty cluster.
    pub fn new() -> Self {
        Self::with_settings(Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() })
    }

    /// Begins an empty cluster whose controller has settings of its own.
    pub fn with_settings(settings: Settings) -> Self {
        let cluster = SimCluster::new(BEGINNING);
        let catalogs = SimCatalogs::default();
        Self {
            driver: Driver::new(cluster.clone(), catalogs.clone(), settings.clone()),
            cluster,
            catalogs,
            settings,
            now: BEGINNING,
            seen: BTreeMap::new(),
        }
    }

    /// Returns the cluster.
    pub fn cluster(&self) -> &SimCluster {
        &self.cluster
    }

    /// Returns where its catalogs come from.
    pub fn catalogs(&self) -> &SimCatalogs {
        &self.catalogs
    }

    /// Returns the time of the simulation.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    fn turn(&mut self) -> Result<bool, String> {
        self.cluster.advance(self.now);
        let cycle = self.driver.cycle(self.now).map_err(|error| error.message)?;
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
        let cycle = self.driver.cycle(self.now).map_err(|error| error.message)?;
        let wakes = [cycle.wake, self.cluster.next_wake()];
        Ok(wakes.into_iter().flatten().filter(|wake| *wake > self.now).min())
    }

    fn target(&self, key: &ObjectKey) -> Result<Target, String> {
        let found = Cluster::get(&self.cluster, key).map_err(|error| error.message)?;
        let object = found.ok_or_else(|| format!("{key} is not there"))?;
        Ok(Target::of(&object))
    }
}

impl Default for SimStage {
    fn default() -> Self {
        Self::new()
    }
}

impl Stage for SimStage {
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
        let request = Request::Apply {
            object: object.clone(),
            manager: "person".to_owned(),
            force: true,
            part: Part::Whole,
        };
        self.cluster.request(&request).map_err(|error| error.message)?;
        if !object.status().is_null() {
            let request = Request::Apply {
                object: object.clone(),
                manager: "person".to_owned(),
                force: true,
                part: Part::Status,
            };
            self.cluster.request(&request).map_err(|error| error.message)?;
        }
        Ok(())
    }

    fn patch(&mut self, key: &ObjectKey, patch: &Value, is_status: bool) -> Result<(), String> {
        let request = Request::MergePatch {
            target: self.target(key)?,
            patch: patch.clone(),
            manager: "person".to_owned(),
            part: if is_status { Part::Status } else { Part::Whole },
        };
        self.cluster.request(&request).map(|_| ()).map_err(|error| error.message)
    }

    fn delete(&mut self, key: &ObjectKey) -> Result<(), String> {
        let request =
            Request::Delete { target: self.target(key)?, options: DeleteOptions::default() };
        self.cluster.request(&request).map(|_| ()).map_err(|error| error.message)
    }

    fn uninstall(&mut self, namespace: &str, name: &str) -> Result<(), String> {
        self.driver.look(self.now).map_err(|error| error.message)?;
        let world = self.driver.world(self.now);
        let removal = removal(&world, namespace, name, true).map_err(|error| error.to_string())?;
        self.driver.remove(&removal).map_err(|error| error.message)
    }

    fn roll_back(&mut self, namespace: &str, name: &str, to: Option<&str>) -> Result<(), String> {
        self.driver.look(self.now).map_err(|error| error.message)?;
        let shown = self.driver.show_rollback(namespace, name, to, self.now);
        let rollback = shown.map_err(|error| error.to_string())?;
        self.driver.roll_back(&rollback).map_err(|error| error.message)
    }

    fn settle(&mut self) -> Result<(), String> {
        let mut quiet = 0;
        for _ in 0..MOST_TURNS {
            quiet = if self.turn()? { quiet + 1 } else { 0 };
            if quiet == 2 {
                return Ok(());
            }
            self.now = self.now.after(TURN);
        }
        Err(format!("after {MOST_TURNS} turns there is still something to do"))
    }

    fn wait(&mut self, duration: Duration) -> Result<(), String> {
        let end = self.now.after(duration);
        self.settle()?;
        while let Some(wake) = self.next_wake()?.filter(|wake| *wake <= end) {
            self.now = self.now.max(wake);
            self.settle()?;
        }
        self.now = self.now.max(end);
        self.settle()
    }

    fn restart(&mut self) -> Result<(), String> {
        self.driver =
            Driver::new(self.cluster.clone(), self.catalogs.clone(), self.settings.clone());
        Ok(())
    }

    fn list(&mut self, kind: &Kind) -> Result<Vec<Object>, String> {
        let interests = Interest::all_of([kind.clone()]);
        Ok(Cluster::list(&self.cluster, &interests).map_err(|error| error.message)?.objects)
    }

    fn phases(&mut self, key: &ObjectKey) -> Vec<String> {
        self.seen.get(key).cloned().unwrap_or_default()
    }
}
