//! A cluster in memory together with its file.
//!
//! Nothing is true before it is stored, and what is stored is true: after any failure the memory is
//! brought back to what the file says. Time is an argument.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use operon_apiserver::{Answer, Commit, Prepared, Repair, Request, Server, Settings, Versions};
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{MAX_VALUE_DEPTH, Object, ObjectKey, Timestamp, Value};

use crate::{
    OpenError,
    disk::Room,
    refusal::refused,
    store::{Facts, Store, StoreError},
};

/// How many steps the controllers make after a request before its sender is answered. A request
/// seldom gives them more than two; the rest is done by the next request or when time passes.
pub const REQUEST_STEPS_LIMIT: usize = 16;

/// How many steps the controllers make when time passes before they let requests in.
pub const ADVANCE_STEPS_LIMIT: usize = 64;

/// A cluster and its file.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) server: Server,
    pub(crate) versions: Versions,
    store: Store,
    settings: Settings,
    /// Tells this cluster from every other one.
    pub(crate) identity: u64,
    /// Says that the memory may differ from the file.
    is_doubtful: bool,
    /// The latest time that was told; time does not go back.
    now: Timestamp,
}

/// What was done in memory and is not stored yet.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    writes: BTreeMap<ObjectKey, Option<Object>>,
}

impl State {
    pub(crate) fn open(
        path: &Path,
        room: Arc<Room>,
        settings: Settings,
    ) -> Result<Self, OpenError> {
        let (store, facts) = Store::open(path, room)?;
        let server = restore(&store, facts, settings)?;
        Ok(Self {
            versions: Versions::of(&server),
            server,
            store,
            settings,
            identity: facts.identity,
            is_doubtful: false,
            now: Timestamp::default(),
        })
    }

    /// Does in memory alone what a request asks, and adds it to the batch to be stored.
    pub(crate) fn request_unstored(
        &mut self,
        request: &Request,
        now: Timestamp,
        batch: &mut Batch,
    ) -> Result<(), ClusterError> {
        let now = self.at(now);
        let prepared = self.server.prepare(request, now).map_err(refused)?;
        self.perform_unstored(prepared, now, batch)
    }

    /// Makes a CustomResourceDefinition the given one in memory alone, and adds it to the batch to be
    /// stored. Returns what had to be repaired.
    pub(crate) fn define_unstored(
        &mut self,
        definition: &Object,
        manager: &str,
        now: Timestamp,
        batch: &mut Batch,
    ) -> Result<Option<Repair>, ClusterError> {
        let now = self.at(now);
        let (prepared, repair) =
            self.server.prepare_definition(definition, manager, now).map_err(refused)?;
        self.perform_unstored(prepared, now, batch)?;
        Ok(repair)
    }

    fn perform_unstored(
        &mut self,
        prepared: Prepared,
        now: Timestamp,
        batch: &mut Batch,
    ) -> Result<(), ClusterError> {
        let mut prepared = Some(prepared);
        for _ in 0..=REQUEST_STEPS_LIMIT {
            let Some(step) = prepared else { break };
            if let Some(commit) = &step.commit {
                check_depth(commit)?;
                batch.writes.extend(commit.writes.iter().cloned());
            }
            self.server.apply(step);
            prepared = self.server.prepare_step(now);
        }
        Ok(())
    }

    /// Stores what was done in memory alone.
    pub(crate) fn store_batch(&mut self, batch: Batch) -> Result<(), ClusterError> {
        if batch.writes.is_empty() {
            return Ok(());
        }
        let (revision, counters) = (self.server.revision(), self.server.counters());
        let commit = Commit { revision, writes: batch.writes.into_iter().collect(), counters };
        self.persist(&commit)?;
        self.versions = Versions::of(&self.server);
        Ok(())
    }

    /// Forgets what is in memory: something went wrong while it was changed.
    pub(crate) fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    /// Makes sure that the memory can be believed. It can also where the file cannot be opened:
    /// then it is what was last acknowledged.
    pub(crate) fn make_sure(&mut self) -> Result<(), ClusterError> {
        if self.is_doubtful { self.recover() } else { Ok(()) }
    }

    /// Does what a request asks.
    pub(crate) fn request(
        &mut self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Answer, ClusterError> {
        self.make_writable()?;
        let now = self.at(now);
        let prepared = self.server.prepare(request, now).map_err(refused)?;
        let answer = self.perform(prepared)?;
        // The request is done, whatever becomes of this; what is left is taken up again.
        let _ = self.run_controllers(now, REQUEST_STEPS_LIMIT);
        answer.ok_or_else(|| ClusterError {
            kind: ErrorKind::Other,
            message: "bug: a request has an answer".to_owned(),
        })
    }

    /// Lets the controllers do what is due, and returns when they want to go on.
    pub(crate) fn advance(&mut self, now: Timestamp) -> Result<Option<Timestamp>, ClusterError> {
        let now = self.at(now);
        if self.server.next_wake(now).is_none_or(|wake| wake > now) && !self.is_doubtful {
            return Ok(self.server.next_wake(now));
        }
        self.make_writable()?;
        self.run_controllers(now, ADVANCE_STEPS_LIMIT)?;
        Ok(self.server.next_wake(now))
    }

    fn at(&mut self, now: Timestamp) -> Timestamp {
        self.now = self.now.max(now);
        self.now
    }

    fn run_controllers(&mut self, now: Timestamp, steps: usize) -> Result<(), ClusterError> {
        for _ in 0..steps {
            let Some(prepared) = self.server.prepare_step(now) else { break };
            self.perform(prepared)?;
        }
        Ok(())
    }

    /// Stores what was prepared, and makes it so.
    fn perform(&mut self, prepared: Prepared) -> Result<Option<Answer>, ClusterError> {
        let mut is_touched = false;
        if let Some(commit) = &prepared.commit {
            check_depth(commit)?;
            self.persist(commit)?;
            is_touched = Versions::is_touched_by(commit);
        }
        let answer = self.server.apply(prepared);
        if is_touched {
            self.versions = Versions::of(&self.server);
        }
        Ok(answer)
    }

    fn persist(&mut self, commit: &Commit) -> Result<(), ClusterError> {
        let Err(StoreError { text }) = self.store.write(commit) else { return Ok(()) };
        // Whether it is in the file is unknown until the file is opened again.
        match self.store.reopen() {
            Ok(facts) if facts.revision == commit.revision => Ok(()),
            Ok(_) => Err(unavailable(format!("the change was not made: {text}"))),
            Err(_) => Err(unavailable(format!("the change could not be stored: {text}"))),
        }
    }

    fn make_writable(&mut self) -> Result<(), ClusterError> {
        if self.is_doubtful || self.store.is_closed() { self.recover() } else { Ok(()) }
    }

    /// Opens the file again, and reads it if it is not what the memory is.
    fn recover(&mut self) -> Result<(), ClusterError> {
        let facts = self.store.reopen().map_err(|error| unavailable(error.to_string()))?;
        if facts.revision != self.server.revision() || self.is_doubtful {
            self.server = restore(&self.store, facts, self.settings)
                .map_err(|error| unavailable(error.to_string()))?;
            self.versions = Versions::of(&self.server);
        }
        self.is_doubtful = false;
        Ok(())
    }
}

/// Refuses what could be stored but not read again: the records of who owns which field nest a little
/// deeper than the fields themselves.
fn check_depth(commit: &Commit) -> Result<(), ClusterError> {
    for (key, object) in &commit.writes {
        if object.as_ref().is_some_and(|object| depth(object.value()) > MAX_VALUE_DEPTH) {
            let message =
                format!("{key} nests too deeply: at most {MAX_VALUE_DEPTH} levels are kept");
            return Err(ClusterError { kind: ErrorKind::Invalid, message });
        }
    }
    Ok(())
}

/// Counts the lists and maps that lie in each other.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::List(elements) => elements.iter().map(depth).max(),
        Value::Map(map) => map.iter().map(|(_, value)| depth(value)).max(),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
            return 0;
        }
    };
    1 + inner.unwrap_or(0)
}

fn restore(store: &Store, facts: Facts, settings: Settings) -> Result<Server, OpenError> {
    let objects = store.objects()?;
    Ok(Server::restore(objects, facts.revision, facts.counters, settings))
}

fn unavailable(message: String) -> ClusterError {
    ClusterError { kind: ErrorKind::Unavailable, message }
}
