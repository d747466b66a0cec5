//! Where it is measured: a rig, the controller that ships, and somebody who asks for operators and watches.
//!
//! The watcher looks often; what that costs the API server is in the figures.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use operon_driver::Cluster;
use operon_kube::{KubeCluster, Options, Place};
use operon_object::{Object, ObjectKey, known};
use operon_proof::Controller;
use operon_rig::Rig;

use super::fleet::Ship;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// How often the watcher looks.
const LOOK: Duration = Duration::from_millis(10);

/// How long nothing has to be written until all is said to be done.
const REST: Duration = Duration::from_secs(2);

/// How often the tag of a catalog is looked at that is going to change.
const POLL: &str = "1s";

/// The namespace of the catalogs, which everybody sees.
const CATALOG_NAMESPACE: &str = "olm";

/// The port where the controller tells how it is.
const PORT: u16 = 18_080;

pub(crate) struct Stand<'r> {
    pub(crate) rig: &'r Rig,
    pub(crate) program: PathBuf,
    pub(crate) person: KubeCluster,
    pub(crate) controller: Controller,
}

/// What the controller asked of the API server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) requests: f64,
    pub(crate) writes: f64,
}

impl Asked {
    /// Leaves out what would have been asked anyway.
    pub(crate) fn without(self, idle: Self, during: Duration) -> Self {
        let seconds = during.as_secs_f64();
        Self {
            requests: self.requests - idle.requests * seconds,
            writes: self.writes - idle.writes * seconds,
        }
    }
}

impl<'r> Stand<'r> {
    pub(crate) fn new(rig: &'r Rig, program: &Path) -> Result<Self, String> {
        let place = Place::Kubeconfig { file: Some(rig.kubeconfig()), context: None };
        let options = Options { manager: "person".to_owned(), ..Options::default() };
        let person = KubeCluster::connect(&place, options).map_err(|error| error.to_string())?;
        let said = |error: operon_driver::ClusterError| error.message;
        for object in operon_api::crd_objects() {
            person.apply_as(&object, "person").map_err(said)?;
        }
        let namespace = Object::new("v1", "Namespace", "", CATALOG_NAMESPACE);
        person.apply_as(&namespace, "person").map_err(said)?;
        let controller = start_controller(rig, program)?;
        let stand = Self { rig, program: program.to_owned(), person, controller };
        stand.until("the controller leads", |stand| stand.controller.is_leading())?;
        Ok(stand)
    }

    /// Ends the controller and begins with a new one.
    pub(crate) fn renew(&mut self) -> Result<(), String> {
        self.controller.kill();
        self.controller = start_controller(self.rig, &self.program)?;
        self.until("the controller leads", |stand| stand.controller.is_leading())
    }

    /// Builds an image and pushes it.
    pub(crate) fn build(&self, what: &str, directory: &Path, tag: &str) -> Result<(), String> {
        let output = self
            .rig
            .command(&self.program.display().to_string())
            .args([what, "build"])
            .arg(directory)
            .args(["--tag", tag])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{tag} cannot be built: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Pushes a catalog with the first versions of ships; returns its image.
    pub(crate) fn publish(
        &self,
        name: &str,
        ships: &[Ship],
        versions: usize,
    ) -> Result<String, String> {
        let directory = self.rig.directory().join("bench").join(format!("catalog-{name}"));
        let said = |error: std::io::Error| error.to_string();
        fs::create_dir_all(&directory).map_err(said)?;
        for ship in ships {
            let file = directory.join(format!("{}.yaml", ship.name));
            fs::write(file, ship.catalog(self, versions)).map_err(said)?;
        }
        let tag = format!("{}/fleet/catalog-{name}:latest", self.rig.registry());
        self.build("catalog", &directory, &tag)?;
        Ok(tag)
    }

    pub(crate) fn apply(&self, manifests: &str) -> Result<(), String> {
        let read = operon_api::read_objects("the bench", manifests.as_bytes());
        if let Some(finding) = read.diagnostics.first() {
            return Err(format!("bug: a manifest of the bench: {finding:?}"));
        }
        for located in read.objects {
            let begun = Instant::now();
            while let Err(error) = self.person.apply_as(&located.object, "person") {
                if begun.elapsed() > PATIENCE {
                    return Err(error.message);
                }
                thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.person.get(key).ok().flatten()
    }

    /// Returns when an operator has succeeded.
    pub(crate) fn succeeded(&self, namespace: &str, operator: &str) -> Result<(), String> {
        self.has_phase(namespace, operator, "Succeeded")
    }

    /// Returns when an operator is in a phase.
    pub(crate) fn has_phase(
        &self,
        namespace: &str,
        operator: &str,
        phase: &str,
    ) -> Result<(), String> {
        let key = known::CLUSTER_SERVICE_VERSION.key(namespace, operator);
        self.until(&format!("{operator} in {namespace} is in phase {phase}"), |stand| {
            let found = stand.get(&key);
            found.is_some_and(|operator| operator.status().get("phase").str() == phase)
        })
    }

    /// Returns when a catalog is ready.
    pub(crate) fn catalog_is_ready(&self, name: &str) -> Result<(), String> {
        let key = catalog_key(name);
        self.until(&format!("the catalog {name} is ready"), |stand| {
            let state = ["status", "connectionState", "lastObservedState"];
            stand.get(&key).is_some_and(|source| source.at(&state).str() == "READY")
        })
    }

    pub(crate) fn until(
        &self,
        claim: &str,
        mut is_so: impl FnMut(&Self) -> bool,
    ) -> Result<(), String> {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > PATIENCE {
                let words = self.controller.last_words(12);
                return Err(format!("not even after {PATIENCE:?}: {claim}\n{words}"));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Returns when nothing was written for a while.
    pub(crate) fn rest(&self) -> Result<(), String> {
        let mut written = None;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let now = self.controller.written();
            if now.is_some() && now == written {
                return Ok(());
            }
            written = now;
            thread::sleep(REST);
        }
        Err("the controller writes on and on".to_owned())
    }

    /// Removes a catalog.
    pub(crate) fn remove_catalog(&self, name: &str) -> Result<(), String> {
        let key = catalog_key(name);
        let Some(source) = self.get(&key) else { return Ok(()) };
        self.person.delete(&key, source.uid()).map_err(|error| error.message)
    }

    /// Returns what was asked of the API server so far.
    pub(crate) fn asked(&self) -> Result<Asked, String> {
        let samples = self.controller.samples("operon_api_requests_total");
        let samples = samples.ok_or("the controller does not say what it asked")?;
        let is_write = |labels: &str| {
            ["create", "update", "patch", "delete"]
                .iter()
                .any(|verb| labels.contains(&format!("verb=\"{verb}\"")))
        };
        let writes = samples.iter().filter(|(labels, _)| is_write(labels));
        Ok(Asked {
            requests: samples.iter().map(|(_, count)| count).sum(),
            writes: writes.map(|(_, count)| count).sum(),
        })
    }
}

fn start_controller(rig: &Rig, program: &Path) -> Result<Controller, String> {
    Controller::start(rig, program, &rig.kubeconfig(), PORT, &[]).map_err(|error| error.to_string())
}

/// Returns the manifests of a namespace that asks for a ship.
pub(crate) fn wish(namespace: &str, ship: &str, catalog: &str) -> String {
    format!("{}---\n{}", place(namespace), subscription(namespace, ship, catalog))
}

/// Returns the manifest of a Subscription to a ship.
pub(crate) fn subscription(namespace: &str, ship: &str, catalog: &str) -> String {
    format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n\
         metadata: {{ name: {ship}, namespace: {namespace} }}\n\
         spec: {{ name: {ship}, channel: stable, source: {catalog}, sourceNamespace: {CATALOG_NAMESPACE} }}\n"
    )
}

/// Returns the manifests of a namespace with its group.
pub(crate) fn place(namespace: &str) -> String {
    place_with(namespace, "")
}

/// Returns the manifests of a namespace with its group, which says something more.
pub(crate) fn place_with(namespace: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {namespace} }}\n---\n\
         apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {{ name: group, namespace: {namespace} }}\n\
         spec: {{ targetNamespaces: [{namespace}], {more} }}\n"
    )
}

/// Returns the key of a catalog.
pub(crate) fn catalog_key(name: &str) -> ObjectKey {
    known::CATALOG_SOURCE.key(CATALOG_NAMESPACE, name)
}

/// Returns the manifest of a catalog.
pub(crate) fn catalog(name: &str, image: &str) -> String {
    format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\n\
         metadata: {{ name: {name}, namespace: {CATALOG_NAMESPACE} }}\n\
         spec:\n  sourceType: grpc\n  image: \"{image}\"\n"
    )
}

/// Returns the manifest of a catalog whose image is looked at again and again.
pub(crate) fn polled_catalog(name: &str, image: &str) -> String {
    let poll = format!("  updateStrategy: {{ registryPoll: {{ interval: {POLL} }} }}\n");
    catalog(name, image) + &poll
}
