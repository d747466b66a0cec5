//! The embedded cluster: the port on a file.
//!
//! Requests and controllers take turns behind one lock; a request is answered when what it changes
//! is on the disk. Nobody outside the process is served here.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use operon_apiserver::{DeleteOptions, Part, Reason, Request, Target};
use operon_driver::{Changes, Cluster, ClusterError, Cursor, Impersonated, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, Timestamp};

use crate::{
    OpenError, Options, bootstrap, changes_covered, disk::Room, list_covered, refusal::refused,
    state::State,
};

/// The name that applied fields are recorded under.
pub const APPLY_MANAGER: &str = "operon";

/// How long after a failure to store something the controllers try again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The names in a cursor: which cluster, and which of its revisions.
const CLUSTER_ENTRY: &str = "cluster";
const REVISION_ENTRY: &str = "revision";

/// A cluster that lives in one file.
///
/// # Guarantees
///
/// What was acknowledged is there again after the process is killed. What failed to be stored did
/// not happen. Every commit is stored whole or not at all. The file can be opened by one process at
/// a time.
#[derive(Debug)]
pub struct LocalCluster {
    state: Mutex<State>,
    changed: Condvar,
    options: Options,
}

impl LocalCluster {
    /// Opens the cluster of a file; makes it where there is no file.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        Self::open_with_room(path, options, Room::endless())
    }

    pub(crate) fn open_with_room(
        path: &Path,
        options: Options,
        room: Arc<Room>,
    ) -> Result<Self, OpenError> {
        let mut state = State::open(path, room, options.settings)?;
        let now = (options.clock)();
        // What a crash interrupted goes on first; should that fail, it is tried again later.
        let _ = state.advance(now);
        for notice in bootstrap::furnish(&mut state, &options.definitions, now)? {
            (options.notify)(&notice);
        }
        Ok(Self { state: Mutex::new(state), changed: Condvar::new(), options })
    }

    /// Lets the controllers do what is due at a time, such as making Deployments ready, and returns
    /// when they want to be called next; nothing if only a change can give them work.
    pub fn advance(&self, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.lock();
        let before = state.server.revision();
        let wake = state.advance(now).unwrap_or_else(|_| Some(now.after(RETRY_PAUSE)));
        self.announce(&state, before);
        wake
    }

    /// Waits until something has changed since a point, for so long at most; tells whether to look.
    pub fn wait_for_change(&self, since: &Cursor, at_most: Duration) -> bool {
        let started = Instant::now();
        let mut state = self.lock();
        loop {
            let is_news = match read_cursor(&state, since) {
                Some(revision) => state.server.revision() != revision,
                None => true,
            };
            let remaining = at_most.saturating_sub(started.elapsed());
            if is_news || remaining.is_zero() {
                return is_news;
            }
            state = match self.changed.wait_timeout(state, remaining) {
                Ok((state, _)) => state,
                Err(poisoned) => self.after_panic(poisoned.into_inner().0),
            };
        }
    }

    /// Does what [`Cluster::apply`] does in the name of somebody else, whose fields stay apart from
    /// those of Operon.
    pub fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.request(&Request::Apply {
            object: object.clone(),
            manager: manager.to_owned(),
            force: true,
            part: Part::Whole,
        })
    }

    pub(crate) fn create_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError> {
        self.request(&Request::Create { object: object.clone(), manager: manager.to_owned() })
    }

    pub(crate) fn update_as(
        &self,
        object: &Object,
        manager: &str,
        part: Part,
    ) -> Result<Object, ClusterError> {
        let manager = manager.to_owned();
        self.request(&Request::Update { object: object.clone(), manager, part })
    }

    fn request(&self, request: &Request) -> Result<Object, ClusterError> {
        let now = (self.options.clock)();
        let mut state = self.lock();
        let before = state.server.revision();
        let answer = state.request(request, now);
        self.announce(&state, before);
        Ok(answer?.object)
    }

    fn announce(&self, state: &State, before: u64) {
        if state.server.revision() != before {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| self.after_panic(poisoned.into_inner()))
    }

    /// Somebody panicked while changing the memory, so it is read again from the file.
    fn after_panic<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.state.clear_poison();
        state.doubt();
        state
    }
}

impl Cluster for LocalCluster {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let mut state = self.lock();
        state.make_sure()?;
        let objects = list_covered(&state.server, &state.versions, interests).map_err(refused)?;
        Ok(Listing { objects, cursor: write_cursor(&state) })
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let mut state = self.lock();
        state.make_sure()?;
        let revision = read_cursor(&state, since).ok_or_else(|| ClusterError {
            kind: ErrorKind::Conflict,
            message: "the point was not given by this cluster: list again".to_owned(),
        })?;
        let changes = changes_covered(&state.server, &state.versions, interests, revision);
        Ok(Changes { changes: changes.map_err(refused)?, cursor: write_cursor(&state) })
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        let mut state = self.lock();
        state.make_sure()?;
        let Some(target) = target(&state, key) else { return Ok(None) };
        match state.server.get(&target) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.create_as(object, &self.options.manager)
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.update_as(object, &self.options.manager, Part::Whole)
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.update_as(object, &self.options.manager, Part::Status)
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.apply_as(object, APPLY_MANAGER)
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        let target = {
            let mut state = self.lock();
            state.make_sure()?;
            target(&state, key).ok_or_else(|| ClusterError {
                kind: ErrorKind::NotFound,
                message: format!("the cluster has no kind {}", key.kind),
            })?
        };
        let options = DeleteOptions { uid: Some(uid.to_owned()), ..DeleteOptions::default() };
        self.request(&Request::Delete { target, options }).map(|_| ())
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        let options = DeleteOptions {
            uid: Some(object.uid().to_owned()),
            resource_version: Some(object.resource_version().to_owned()),
            ..DeleteOptions::default()
        };
        self.request(&Request::Delete { target: Target::of(object), options }).map(|_| ())
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Ok(Box::new(Impersonated::new(self, account)))
    }
}

fn target(state: &State, key: &ObjectKey) -> Option<Target> {
    let ObjectKey { kind, namespace, name } = key;
    let kind = state.versions.find(kind)?.clone();
    Some(Target { kind, namespace: namespace.clone(), name: name.clone() })
}

fn write_cursor(state: &State) -> Cursor {
    let entry = |name: &str, value: u64| (name.to_owned(), value.to_string());
    Cursor(
        [entry(CLUSTER_ENTRY, state.identity), entry(REVISION_ENTRY, state.server.revision())]
            .into(),
    )
}

/// Reads the revision of a cursor that this cluster gave. One that lies in the future was given
/// before the file was replaced by an older copy.
fn read_cursor(state: &State, cursor: &Cursor) -> Option<u64> {
    let entry = |name: &str| cursor.0.get(name)?.parse::<u64>().ok();
    if entry(CLUSTER_ENTRY)? != state.identity {
        return None;
    }
    entry(REVISION_ENTRY).filter(|revision| *revision <= state.server.revision())
}

#[cfg(test)]
mod tests;
