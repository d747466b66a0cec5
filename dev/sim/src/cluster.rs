//! A cluster in memory behind the driver's port.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use operon_apiserver::{
    ApiError, ChangeFilter, ChangeKind, DeleteOptions, ExecuteError, ListFilter, Part, Reason,
    Request, Server, Target,
};
use operon_driver::{Change, Changes, Cluster, ClusterError, Cursor, Listing};
use operon_kinds::names::FIELD_MANAGER;
use operon_lifecycle::ErrorKind;
use operon_object::{ApiKind, Kind, Object, ObjectKey, Timestamp};

/// A cluster in memory; clones are the same cluster.
#[derive(Debug, Clone)]
pub struct SimCluster {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    now: Timestamp,
    writes: u64,
}

impl SimCluster {
    /// Begins a cluster with the namespaces that every cluster has, and our CRDs.
    pub fn new(now: Timestamp) -> Self {
        let inner = Inner { server: Server::new(), now, writes: 0 };
        let cluster = Self { inner: Arc::new(Mutex::new(inner)) };
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
        self.lock().request(&request).expect("bug: a scenario applies only sound objects");
    }

    /// Does what a person does.
    pub fn request(&self, request: &Request) -> Result<Object, ClusterError> {
        self.lock().request(request)
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

    /// Counts the writes that the engine made.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// Returns all objects.
    pub fn objects(&self) -> Vec<Object> {
        self.lock().server.objects().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn request(&mut self, request: &Request) -> Result<Object, ClusterError> {
        let stored = |_: &operon_apiserver::Commit| Ok::<(), std::convert::Infallible>(());
        let answer = self.server.execute(request, self.now, stored);
        self.tick();
        match answer {
            Ok(answer) => Ok(answer.object),
            Err(ExecuteError::Refused(error)) => Err(translate(&error)),
            Err(ExecuteError::NotStored(never)) => match never {},
        }
    }

    fn tick(&mut self) {
        let stored = |_: &operon_apiserver::Commit| Ok::<(), std::convert::Infallible>(());
        match self.server.tick(self.now, stored) {
            Ok(_) => {}
            Err(never) => match never {},
        }
    }

    fn served(&self, kind: &Kind) -> Option<ApiKind> {
        let served = self.server.kinds();
        let known = operon_object::known::known_kind(kind).map(|known| known.version);
        let of_kind = || served.iter().filter(|served| served.kind.kind == *kind);
        let preferred = of_kind().find(|served| Some(served.kind.version.as_str()) == known);
        preferred
            .or_else(|| of_kind().find(|served| served.is_storage))
            .map(|served| served.kind.clone())
    }

    fn served_kinds(&self, kinds: &BTreeSet<Kind>) -> Vec<ApiKind> {
        kinds.iter().filter_map(|kind| self.served(kind)).collect()
    }
}

/// Says in the driver's words what the server answered.
fn translate(error: &ApiError) -> ClusterError {
    let kind = match error.reason {
        Reason::Forbidden => ErrorKind::Forbidden,
        Reason::NotFound => ErrorKind::NotFound,
        Reason::AlreadyExists => ErrorKind::AlreadyExists,
        Reason::Invalid | Reason::BadRequest => ErrorKind::Invalid,
        Reason::Conflict => ErrorKind::Conflict,
        _ => ErrorKind::Other,
    };
    ClusterError { kind, message: error.message.clone() }
}

fn cursor(revision: u64) -> Cursor {
    Cursor(BTreeMap::from([("revision".to_owned(), revision.to_string())]))
}

impl Cluster for SimCluster {
    fn list(&self, kinds: &BTreeSet<Kind>) -> Result<Listing, ClusterError> {
        let inner = self.lock();
        let mut objects = Vec::new();
        for kind in inner.served_kinds(kinds) {
            let found = inner.server.list(&kind, &ListFilter::default());
            objects.extend(found.map_err(|error| translate(&error))?);
        }
        Ok(Listing { objects, cursor: cursor(inner.server.revision()) })
    }

    fn changes(&self, kinds: &BTreeSet<Kind>, since: &Cursor) -> Result<Changes, ClusterError> {
        let inner = self.lock();
        let revision = since.0.get("revision").and_then(|text| text.parse().ok()).unwrap_or(0);
        let filter =
            ChangeFilter { kinds: inner.served_kinds(kinds), objects: ListFilter::default() };
        let found = inner
            .server
            .changes_since(revision, &filter)
            .map_err(|error| ClusterError { kind: ErrorKind::Conflict, message: error.message })?;
        let changes = found.into_iter().map(|change| match change.kind {
            ChangeKind::Added | ChangeKind::Modified => Change::Is(change.object),
            ChangeKind::Deleted => Change::Gone(change.object),
        });
        Ok(Changes { changes: changes.collect(), cursor: cursor(inner.server.revision()) })
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        let inner = self.lock();
        let Some(kind) = inner.served(&key.kind) else { return Ok(None) };
        let target = Target { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        match inner.server.get(&target) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(translate(&error)),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.lock();
        inner.writes += 1;
        let manager = FIELD_MANAGER.to_owned();
        inner.request(&Request::Create { object: object.clone(), manager })
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.lock();
        inner.writes += 1;
        let manager = FIELD_MANAGER.to_owned();
        inner.request(&Request::Update { object: object.clone(), manager, part: Part::Whole })
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.lock();
        inner.writes += 1;
        let manager = FIELD_MANAGER.to_owned();
        inner.request(&Request::Update { object: object.clone(), manager, part: Part::Status })
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        let mut inner = self.lock();
        inner.writes += 1;
        let manager = FIELD_MANAGER.to_owned();
        let object = object.clone();
        inner.request(&Request::Apply { object, manager, force: true, part: Part::Whole })
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        let mut inner = self.lock();
        inner.writes += 1;
        let Some(kind) = inner.served(&key.kind) else { return Ok(()) };
        let target = Target { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        let options = DeleteOptions { uid: Some(uid.to_owned()), ..DeleteOptions::default() };
        inner.request(&Request::Delete { target, options }).map(|_| ())
    }
}
