//! A copy of a cluster in memory, to see what would become of it.
//!
//! Nothing that is done to the copy reaches the cluster.

use std::{cell::RefCell, collections::BTreeSet};

use operon_api::crd_objects;
use operon_apiserver::{
    Counters, DeleteOptions, Part, Reason, Request, Server, Settings, TICK_STEPS_LIMIT, Target,
    Versions,
};
use operon_driver::{Changes, Cluster, ClusterError, Cursor, Impersonated, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_local::{APPLY_MANAGER, NAMESPACES, list_covered, refused};
use operon_object::{Object, ObjectKey, Timestamp};

use super::{Kinds, apply::Appliable};

/// The identities of a copy begin here, so that none is that of an object of the cluster.
const FIRST_IDENTITY: u64 = 1 << 60;

/// A copy of a cluster in memory.
#[derive(Debug)]
pub(crate) struct Scratch {
    server: RefCell<Server>,
    now: Timestamp,
}

impl Scratch {
    /// Copies a cluster.
    pub(crate) fn copy_of(cluster: &impl Cluster, now: Timestamp) -> Result<Self, ClusterError> {
        let objects = cluster.list(&Interest::all_of(Kinds::of(cluster)?.all()))?.objects;
        let versions = objects.iter().map(|object| object.resource_version().parse().unwrap_or(0));
        let revision = versions.max().unwrap_or(0);
        let counters = Counters { uids: FIRST_IDENTITY, ..Counters::default() };
        let server = Server::restore(objects, revision, counters, Settings::default());
        Ok(Self { server: RefCell::new(server), now })
    }

    /// Makes what a cluster is before anything is done to it.
    pub(crate) fn of_nothing(now: Timestamp) -> Result<Self, ClusterError> {
        let scratch = Self { server: RefCell::new(Server::new()), now };
        let namespaces = NAMESPACES.iter().map(|name| Object::new("v1", "Namespace", "", name));
        for object in namespaces.chain(crd_objects()) {
            scratch.apply(&object)?;
        }
        Ok(scratch)
    }

    fn request(&self, request: &Request) -> Result<Object, ClusterError> {
        let mut server = self.server.borrow_mut();
        let prepared = server.prepare(request, self.now).map_err(refused)?;
        let answer = server.apply(prepared).expect("bug: a request has an answer");
        for _ in 0..TICK_STEPS_LIMIT {
            let Some(step) = server.prepare_step(self.now) else { break };
            server.apply(step);
        }
        Ok(answer.object)
    }

    fn update_part(&self, object: &Object, part: Part) -> Result<Object, ClusterError> {
        let manager = APPLY_MANAGER.to_owned();
        self.request(&Request::Update { object: object.clone(), manager, part })
    }
}

impl Appliable for Scratch {
    fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.request(&Request::Apply {
            object: object.clone(),
            manager: manager.to_owned(),
            force: true,
            part: Part::Whole,
        })
    }
}

impl Cluster for Scratch {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let server = self.server.borrow();
        let objects = list_covered(&server, &Versions::of(&server), interests).map_err(refused)?;
        Ok(Listing { objects, cursor: Cursor::default() })
    }

    fn changes(&self, _: &BTreeSet<Interest>, _: &Cursor) -> Result<Changes, ClusterError> {
        Err(ClusterError {
            kind: ErrorKind::Conflict,
            message: "a copy remembers no changes: list again".to_owned(),
        })
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        let server = self.server.borrow();
        let versions = Versions::of(&server);
        let Some(kind) = versions.find(&key.kind).cloned() else { return Ok(None) };
        let ObjectKey { namespace, name, .. } = key.clone();
        match server.get(&Target { kind, namespace, name }) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        let manager = APPLY_MANAGER.to_owned();
        self.request(&Request::Create { object: object.clone(), manager })
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.update_part(object, Part::Whole)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.update_part(object, Part::Status)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.apply_as(object, APPLY_MANAGER)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        let found = self.get(key)?.ok_or_else(|| ClusterError {
            kind: ErrorKind::NotFound,
            message: format!("{key} is not there"),
        })?;
        let options = DeleteOptions { uid: Some(uid.to_owned()), ..DeleteOptions::default() };
        self.request(&Request::Delete { target: Target::of(&found), options }).map(|_| ())
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Ok(Box::new(Impersonated::new(self, account)))
    }
}
