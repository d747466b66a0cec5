//! A cluster in memory behind the driver's port.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use operon_apiserver::{
    DeleteOptions, Part, Prepared, Reason, Request, Server, TICK_STEPS_LIMIT, Target, Versions,
};
use operon_driver::{Changes, Cluster, ClusterError, Cursor, Impersonated, Interest, Listing};
use operon_kinds::names::FIELD_MANAGER;
use operon_local::{changes_covered, list_covered, refused};
use operon_object::{Object, ObjectKey, Timestamp};

/// A cluster in memory; clones are the same cluster.
#[derive(Debug, Clone)]
pub struct SimCluster {
    inner: Arc<Mutex<Inner>>,
    /// The ServiceAccount that the engine impersonates.
    account: Option<ObjectKey>,
    /// Who writes through the driver's port.
    author: Author,
}

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    /// The engine, through the driver's port.
    Engine,
    /// A person, by a manifest or by a command that uses the driver's port.
    Person,
    /// The controllers of the cluster, such as its garbage collector.
    Cluster,
}

/// What one revision changed.
#[derive(Debug, Clone)]
pub struct Written {
    /// The revision.
    pub revision: u64,
    /// When it was made.
    pub time: Timestamp,
    /// Who made it.
    pub author: Author,
    /// The ServiceAccount that the engine impersonated, if any.
    pub account: Option<ObjectKey>,
    /// What was before and what is after, for each object.
    pub changes: Vec<(ObjectKey, Option<Object>, Option<Object>)>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    versions: Versions,
    now: Timestamp,
    writes: u64,
    journal: Option<Vec<Written>>,
    refusal: String,
    /// The ServiceAccount whose permissions count for the request that is being answered.
    account: Option<ObjectKey>,
}

impl SimCluster {
    /// Begins a cluster with the namespaces that every cluster has, and our CRDs.
    pub fn new(now: Timestamp) -> Self {
        let server = Server::new();
        let versions = Versions::of(&server);
        let (journal, refusal) = (None, String::new());
        let inner = Inner { server, versions, now, writes: 0, journal, refusal, account: None };
        let inner = Arc::new(Mutex::new(inner));
        let cluster = Self { inner, account: None, author: Author::Engine };
        for name in ["default", "kube-system", "olm"] {
            cluster.force(&Object::new("v1", "Namespace", "", name));
        }
        for definition in operon_api::crd_objects() {
            cluster.force(&definition);
        }
        cluster
    }

    /// Makes an object be there, as a person would with a manifest.
    pub fn force(&self, object: &Object) {
        let request = Request::Apply {
            object: object.clone(),
            manager: "kubectl".to_owned(),
            force: true,
            part: Part::Whole,
        };
        self.request(&request).expect("bug: a scenario applies only sound objects");
    }

    /// Returns the same cluster, whose port is used by a command of a person.
    pub fn by_person(&self) -> Self {
        Self { author: Author::Person, ..self.clone() }
    }

    /// Does what a person does.
    pub fn request(&self, request: &Request) -> Result<Object, ClusterError> {
        self.lock().request(request, Author::Person)
    }

    /// Keeps a journal of everything that is written from now on.
    pub fn record(&self) {
        self.lock().journal.get_or_insert_default();
    }

    /// Takes what was written since the journal was last taken, oldest first.
    pub fn take_journal(&self) -> Vec<Written> {
        self.lock().journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Lets time pass, and the controllers of the cluster do their work.
    pub fn advance(&self, now: Timestamp) {
        let mut inner = self.lock();
        inner.now = now;
        inner.tick();
    }

    /// Returns when the cluster's controllers have something to do again.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let inner = self.lock();
        inner.server.next_wake(inner.now)
    }

    /// Returns what the engine was last refused, for people.
    pub fn last_refusal(&self) -> String {
        self.lock().refusal.clone()
    }

    /// Forgets what the engine was last refused.
    pub fn forget_refusal(&self) {
        self.lock().refusal.clear();
    }

    /// Counts the writes that the engine made.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// Returns all objects.
    pub fn objects(&self) -> Vec<Object> {
        self.lock().server.objects().cloned().collect()
    }

    /// Begins a write through the driver's port.
    fn begin_write(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        inner.writes += u64::from(self.author == Author::Engine);
        inner.account.clone_from(&self.account);
        inner
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn request(&mut self, request: &Request, author: Author) -> Result<Object, ClusterError> {
        let answer = match self.server.prepare(request, self.now) {
            Ok(prepared) => Ok(self.commit(prepared, author).expect("bug: a request is answered")),
            Err(error) => {
                if author == Author::Engine {
                    self.refusal.clone_from(&error.message);
                }
                Err(refused(error))
            }
        };
        self.tick();
        answer
    }

    fn tick(&mut self) {
        for _ in 0..TICK_STEPS_LIMIT {
            let Some(prepared) = self.server.prepare_step(self.now) else { break };
            self.commit(prepared, Author::Cluster);
        }
    }

    fn commit(&mut self, prepared: Prepared, author: Author) -> Option<Object> {
        if let (Some(journal), Some(commit)) = (&mut self.journal, &prepared.commit) {
            let change = |(key, after): &(ObjectKey, Option<Object>)| {
                (key.clone(), self.server.object(key).cloned(), after.clone())
            };
            let changes = commit.writes.iter().map(change).collect();
            let account = match author {
                Author::Engine => self.account.clone(),
                Author::Person | Author::Cluster => None,
            };
            let (revision, time) = (commit.revision, self.now);
            journal.push(Written { revision, time, author, account, changes });
        }
        let is_touched = prepared.commit.as_ref().is_some_and(Versions::is_touched_by);
        let answer = self.server.apply(prepared);
        if is_touched {
            self.versions = Versions::of(&self.server);
        }
        answer.map(|answer| answer.object)
    }
}

fn cursor(revision: u64) -> Cursor {
    Cursor(BTreeMap::from([("revision".to_owned(), revision.to_string())]))
}

impl Cluster for SimCluster {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let inner = self.lock();
        let objects = list_covered(&inner.server, &inner.versions, interests).map_err(refused)?;
        Ok(Listing { objects, cursor: cursor(inner.server.revision()) })
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let inner = self.lock();
        let revision = since.0.get("revision").and_then(|text| text.parse().ok()).unwrap_or(0);
        let changes = changes_covered(&inner.server, &inner.versions, interests, revision);
        let cursor = cursor(inner.server.revision());
        Ok(Changes { changes: changes.map_err(refused)?, cursor })
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        let inner = self.lock();
        let Some(kind) = inner.versions.find(&key.kind).cloned() else { return Ok(None) };
        let target = Target { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        match inner.server.get(&target) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.begin_write();
        let manager = FIELD_MANAGER.to_owned();
        inner.request(&Request::Create { object: object.clone(), manager }, self.author)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.begin_write();
        let manager = FIELD_MANAGER.to_owned();
        inner.request(
            &Request::Update { object: object.clone(), manager, part: Part::Whole },
            self.author,
        )
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.begin_write();
        let manager = FIELD_MANAGER.to_owned();
        inner.request(
            &Request::Update { object: object.clone(), manager, part: Part::Status },
            self.author,
        )
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.begin_write();
        let manager = FIELD_MANAGER.to_owned();
        let object = object.clone();
        inner.request(
            &Request::Apply { object, manager, force: true, part: Part::Whole },
            self.author,
        )
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        let mut inner = self.begin_write();
        let Some(kind) = inner.versions.find(&key.kind).cloned() else { return Ok(()) };
        let target = Target { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        let options = DeleteOptions { uid: Some(uid.to_owned()), ..DeleteOptions::default() };
        inner.request(&Request::Delete { target, options }, self.author).map(|_| ())
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        let mut inner = self.begin_write();
        let options = DeleteOptions {
            uid: Some(object.uid().to_owned()),
            resource_version: Some(object.resource_version().to_owned()),
            ..DeleteOptions::default()
        };
        let request = Request::Delete { target: Target::of(object), options };
        inner.request(&request, self.author).map(|_| ())
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        let acting = Self { account: Some(account.clone()), ..self.clone() };
        Ok(Box::new(Impersonated::new(acting, account)))
    }
}
