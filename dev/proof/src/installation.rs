//! Operon as people install it, on a rig: its manifests, controllers with its own account, and a person.
//!
//! Controllers are processes of the rig's network and not pods, so that they can be killed at will; their
//! rights are those of the ServiceAccount in the manifests, and no more. What they should do is said by
//! the tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Output,
    slice, thread,
    time::{Duration, Instant},
};

use operon_driver::{Cluster, ClusterError};
use operon_kube::{KubeCluster, Place};
use operon_object::{ApiKind, Kind, Object, ObjectKey, OwnerReference, known};
use operon_rig::{Proxy, Rig};

use crate::{Controller, api_metrics::written_objects, stage::unlimited};

/// How long anything may take: a lease to run out, an API server to come back, pods to start.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How long to wait before looking again.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// How long nothing is written when all is done: longer than the engine waits before it sums up what the
/// cluster's collector of garbage has left.
const CALM: Duration = Duration::from_secs(7);

/// The namespace of the controllers, and of the catalogs that everybody sees.
pub const SYSTEM: &str = "olm";

/// The account of the controllers.
pub const ACCOUNT: &str = "operon-controller";

/// The port that the first controller tells on how it is.
const FIRST_PORT: u16 = 18_081;

/// The name that a person's fields are recorded under.
const PERSON: &str = "person";

/// Operon on a rig. It is made and used inside the rig's network.
#[derive(Debug)]
pub struct Installation<'r> {
    rig: &'r Rig,
    program: PathBuf,
    person: KubeCluster,
    replicas: Vec<Replica>,
    next_port: u16,
    /// Flags of controllers that are started from now on.
    pub flags: Vec<String>,
}

/// A controller, and its way to the API server, which can be cut.
#[derive(Debug)]
struct Replica {
    controller: Controller,
    way: Proxy,
}

impl<'r> Installation<'r> {
    /// Applies what `operon manifests` prints, but for the pods of the controller.
    pub fn new(rig: &'r Rig, program: &Path) -> Result<Self, String> {
        let place = Place::Kubeconfig { file: Some(rig.kubeconfig()), context: None };
        let person =
            KubeCluster::connect(&place, unlimited(PERSON)).map_err(|error| error.to_string())?;
        let program = program.to_owned();
        let (replicas, flags) = (Vec::new(), Vec::new());
        let installation = Self { rig, program, person, replicas, next_port: FIRST_PORT, flags };
        installation.apply_system(&[])?;
        rig.wait_for_definitions().map_err(|error| error.to_string())?;
        Ok(installation)
    }

    /// Applies what `operon manifests` prints with some options, but for the pods of the controller.
    pub fn apply_system(&self, options: &[&str]) -> Result<(), String> {
        let mut objects = self.system_objects(options)?;
        objects.retain(|object| {
            ![known::DEPLOYMENT, known::POD_DISRUPTION_BUDGET].contains(&object.kind())
        });
        for object in &objects {
            self.insist(|person| person.apply_as(object, PERSON))?;
        }
        Ok(())
    }

    /// Returns what `operon manifests` prints with some options.
    pub fn system_objects(&self, options: &[&str]) -> Result<Vec<Object>, String> {
        let text = self.operon(&[&["manifests"], options].concat())?;
        let read = operon_api::read_objects("operon manifests", text.as_bytes());
        Ok(read.objects.into_iter().map(|located| located.object).collect())
    }

    /// Returns the cluster that it is on.
    pub fn rig(&self) -> &'r Rig {
        self.rig
    }

    /// Returns somebody who may do everything.
    pub fn person(&self) -> &KubeCluster {
        &self.person
    }

    /// Runs the program that ships, in the rig's network, and returns what it printed.
    pub fn operon(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run_operon(arguments)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("`operon {}` failed: {said}", arguments.join(" ")))
    }

    /// Runs the program that ships, in the rig's network, however it ends.
    pub fn run_operon(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut command = self.rig.command(&self.program.display().to_string());
        command.args(arguments).output().map_err(|error| error.to_string())
    }

    /// Puts a catalog into the rig's registry, under a name such as `catalogs/shop:v1`, and returns its
    /// reference.
    pub fn push_catalog(&self, name: &str, documents: &str) -> Result<String, String> {
        let directory = self.rig.directory().join("catalogs").join(name.replace([':', '/'], "-"));
        let written = fs::create_dir_all(&directory)
            .and_then(|()| fs::write(directory.join("catalog.yaml"), documents));
        written.map_err(|error| error.to_string())?;
        let reference = format!("{}/{name}", self.rig.registry());
        let directory = directory.display().to_string();
        self.operon(&["catalog", "build", &directory, "--tag", &reference])?;
        Ok(reference)
    }

    /// Starts controllers until there are as many as said, and waits until one leads.
    pub fn start_controllers(&mut self, count: usize) -> Result<(), String> {
        while self.replicas.len() < count {
            self.start_controller()?;
        }
        self.until("a controller leads", |this| this.leader().is_some())
    }

    fn start_controller(&mut self) -> Result<(), String> {
        let rig = self.rig;
        self.start_before("https", rig.api_server()).map_err(|error| error.to_string())
    }

    /// Ends all controllers; one is started whose API server is something else that speaks plain HTTP.
    pub fn start_before_injector(&mut self, server: SocketAddr) -> Result<(), String> {
        self.kill_controllers();
        self.start_before("http", server).map_err(|error| error.to_string())?;
        self.until("a controller leads", |this| this.leader().is_some())
    }

    fn start_before(&mut self, scheme: &str, server: SocketAddr) -> io::Result<()> {
        let way = Proxy::before(server)?;
        let behind = format!("{scheme}://{}", way.address());
        let kubeconfig = self
            .rig
            .kubeconfig_of_account(SYSTEM, ACCOUNT)
            .and_then(|kubeconfig| self.rig.kubeconfig_behind(&kubeconfig, &behind))
            .map_err(io::Error::other)?;
        let port = self.next_port;
        let controller =
            Controller::start(self.rig, &self.program, &kubeconfig, port, &self.flags)?;
        self.next_port += 1;
        self.replicas.push(Replica { controller, way });
        Ok(())
    }

    /// Returns the controllers that were started and not killed.
    pub fn controllers(&self) -> impl Iterator<Item = &Controller> {
        self.replicas.iter().map(|replica| &replica.controller)
    }

    /// Returns the controller that leads.
    pub fn leader(&self) -> Option<&Controller> {
        self.leading().map(|replica| &replica.controller)
    }

    /// Returns the way of the controller that leads to the API server.
    pub fn way_of_leader(&self) -> Option<&Proxy> {
        self.leading().map(|replica| &replica.way)
    }

    fn leading(&self) -> Option<&Replica> {
        self.replicas.iter().find(|replica| replica.controller.is_leading())
    }

    /// Counts the controllers that say they lead.
    pub fn leaders(&self) -> usize {
        self.controllers().filter(|controller| controller.is_leading()).count()
    }

    /// Kills the controller that leads; a new one is started, which waits.
    pub fn kill_leader(&mut self) -> Result<(), String> {
        let leading = self.replicas.iter().position(|replica| replica.controller.is_leading());
        self.replicas.remove(leading.ok_or("nobody leads")?).controller.kill();
        self.start_controller()
    }

    /// Kills all controllers.
    pub fn kill_controllers(&mut self) {
        self.replicas.clear();
    }

    /// Counts what was written by those who run.
    pub fn written(&self) -> Result<f64, String> {
        let counts = self.controllers().map(Controller::written);
        let counts: Option<Vec<f64>> = counts.collect();
        Ok(counts.ok_or("a controller does not say what it wrote")?.iter().sum())
    }

    /// Applies manifests as a person does, again and again while the cluster is not ready for them.
    pub fn apply(&self, manifests: &str) -> Result<(), String> {
        for located in operon_api::read_objects("the test", manifests.as_bytes()).objects {
            self.insist(|person| person.apply_as(&located.object, PERSON))?;
        }
        Ok(())
    }

    /// Does what a person does until it is done.
    pub fn insist(
        &self,
        attempt: impl Fn(&KubeCluster) -> Result<Object, ClusterError>,
    ) -> Result<Object, String> {
        let begun = Instant::now();
        loop {
            match attempt(&self.person) {
                Ok(object) => return Ok(object),
                Err(error) if begun.elapsed() > PATIENCE => return Err(error.message),
                Err(_) => thread::sleep(LOOK_PAUSE),
            }
        }
    }

    /// Returns an object, if it is there and can be asked for.
    pub fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.person.get(key).ok().flatten()
    }

    /// Lists the objects of a kind in a namespace; none if the cluster does not answer.
    pub fn list(&self, kind: &Kind, namespace: &str) -> Vec<Object> {
        let mut objects = self.person.list_once(slice::from_ref(kind)).unwrap_or_default();
        objects.retain(|object| object.namespace() == namespace);
        objects
    }

    /// Deletes an object, unless it is gone already.
    pub fn delete(&self, key: &ObjectKey) -> Result<(), String> {
        match self.person.get(key).map_err(|error| error.message)? {
            Some(object) => self.person.delete(key, object.uid()).map_err(|error| error.message),
            None => Ok(()),
        }
    }

    /// Deletes namespaces, and waits until they are gone.
    pub fn delete_namespaces(&self, names: &[&str]) -> Result<(), String> {
        let keys: Vec<ObjectKey> =
            names.iter().map(|name| known::NAMESPACE.key("", name)).collect();
        for key in &keys {
            self.delete(key)?;
        }
        self.until("the namespaces are gone", |this| {
            keys.iter().all(|key| matches!(this.person.get(key), Ok(None)))
        })
    }

    /// Waits until something is so.
    pub fn until(&self, claim: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("not even after {PATIENCE:?}: {claim}"));
            }
            thread::sleep(LOOK_PAUSE);
        }
        Ok(())
    }

    /// Returns the version of everything that anybody could have written, but for leases and Events.
    pub fn versions(&self) -> Result<BTreeMap<String, String>, String> {
        let objects = self.person.list_once(&known_kinds()).map_err(|error| error.message)?;
        let version =
            |object: &Object| (object.key().to_string(), object.resource_version().to_owned());
        Ok(objects.iter().map(version).collect())
    }

    /// Waits until no controller has written for a while: collectors take away what is left of the past in
    /// their own time, and that has to be written down.
    pub fn calm(&self) -> Result<(), String> {
        self.until("what has lost its owner is gone", |this| {
            this.person.list_once(&known_kinds()).is_ok_and(|objects| !has_orphan(&objects))
        })?;
        let begun = Instant::now();
        let mut written = self.written()?;
        loop {
            thread::sleep(CALM);
            let now = self.written()?;
            if (now - written).abs() < f64::EPSILON {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("writes went on for {PATIENCE:?}"));
            }
            written = now;
        }
    }

    /// Looks on for a time in which no controller may write, the API server may count no write of
    /// anybody, and nothing may change.
    pub fn rest(&self, duration: Duration) -> Result<(), String> {
        let (seen, written) = (self.versions()?, self.written()?);
        let counted = written_objects(self.rig)?;
        thread::sleep(duration);
        let counted_then = written_objects(self.rig)?;
        let (seen_then, written_then) = (self.versions()?, self.written()?);
        if (written - written_then).abs() > f64::EPSILON {
            return Err(format!("was not at rest: {} writes", written_then - written));
        }
        if let Some((what, count)) =
            counted_then.iter().find(|(what, count)| counted.get(*what) != Some(*count))
        {
            let before = counted.get(what).copied().unwrap_or_default();
            return Err(format!("the API server counted {} writes of {what}", count - before));
        }
        let is_other = |key: &&String| seen.get(*key) != seen_then.get(*key);
        let changed: Vec<&String> = seen.keys().chain(seen_then.keys()).filter(is_other).collect();
        match changed.as_slice() {
            [] => Ok(()),
            changed => Err(format!("was not at rest: {changed:?} changed")),
        }
    }
}

/// Returns the kinds that anybody could have written, but for leases and Events.
fn known_kinds() -> Vec<Kind> {
    known::KNOWN_KINDS
        .iter()
        .filter(|known| ![known::LEASE, known::EVENT].contains(&known.kind))
        .map(|known| known.kind.clone())
        .collect()
}

/// Tells whether an object waits for the cluster's collector of garbage, who may take half a minute where
/// definitions came or went: each of its owners is gone that could be among the objects.
fn has_orphan(objects: &[Object]) -> bool {
    let alive: BTreeSet<&str> = objects.iter().map(Object::uid).collect();
    objects.iter().any(|object| {
        let mut owners = object.owners().peekable();
        let is_gone = |owner: OwnerReference| {
            let kind = ApiKind::from_api_version(&owner.api_version, &owner.kind).kind;
            known::known_kind(&kind).is_some() && !alive.contains(owner.uid.as_str())
        };
        owners.peek().is_some() && owners.all(is_gone)
    })
}
