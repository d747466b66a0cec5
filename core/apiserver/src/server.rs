//! The server: requests in, commits out.
//!
//! A request or a controller step is first prepared, which changes nothing, and then applied; in
//! between, a wrapper may store the commit. The server itself stores nothing.

use operon_object::{ApiKind, Object, ObjectKey, Timestamp};

use crate::{
    Answer, ApiError, Change, ChangeFilter, Commit, Counters, ListFilter, Reason, Repair, Request,
    ServedKind, Settings, TICK_STEPS_LIMIT, Target,
    admission::check_scope,
    controllers::{Controllers, Next, Work},
    delete,
    draft::Draft,
    restore,
    store::{Past, Store},
    write,
};

/// An API server with the controllers that the engine relies on, all in memory.
///
/// # Flow
///
/// 1. [`prepare`](Self::prepare) computes what a request would do. The server stays as it is.
/// 2. The wrapper stores [`Prepared::commit`], if there is one.
/// 3. [`apply`](Self::apply) makes it so. If storing failed, the value is dropped instead.
///
/// [`execute`](Self::execute) is these three steps with a closure for the second. Controllers work
/// the same way: [`prepare_step`](Self::prepare_step), store, `apply`; or [`tick`](Self::tick) for
/// all that is due.
///
/// # Guarantees
///
/// Revisions only grow. The objects are exactly what all commits say. The same calls with the same
/// arguments give the same answers. A request costs time by what it touches, not by what there is.
#[derive(Debug)]
pub struct Server {
    store: Store,
    controllers: Controllers,
    settings: Settings,
}

/// Holds what a request or a controller step would do.
#[derive(Debug)]
#[must_use = "nothing happens before it is applied"]
pub struct Prepared {
    /// The answer to a request; controller steps answer nobody.
    pub answer: Option<Answer>,
    /// What must be stored; nothing if nothing changes.
    pub commit: Option<Commit>,
    /// The revision it was prepared at.
    base: u64,
    handled: Vec<(Work, Next)>,
}

/// Says that a request was refused, or that its commit could not be stored.
#[derive(Debug)]
pub enum ExecuteError<E> {
    /// The request was refused.
    Refused(ApiError),
    /// The commit could not be stored; the server is as it was.
    NotStored(E),
}

impl<E: std::fmt::Display> std::fmt::Display for ExecuteError<E> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(formatter),
            Self::NotStored(error) => write!(formatter, "the change could not be stored: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ExecuteError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(error) => Some(error),
            Self::NotStored(error) => Some(error),
        }
    }
}

// ---- Building ----

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Begins a server without any object, not even the namespace `default`.
    pub fn new() -> Self {
        Self::with_settings(Settings::default())
    }

    /// Begins a server without any object that behaves as told.
    pub fn with_settings(settings: Settings) -> Self {
        Self::restore([], 0, Counters::default(), settings)
    }

    /// Rebuilds a server from the objects that its commits left, with the revision and counters of
    /// the last commit. Watchers must list again, because the past is not restored.
    pub fn restore(
        objects: impl IntoIterator<Item = Object>,
        revision: u64,
        counters: Counters,
        settings: Settings,
    ) -> Self {
        let mut store = Store::new(revision, counters, settings.limits.history);
        for object in objects {
            store.put(&object.key(), Some(&object));
        }
        let mut controllers = Controllers::default();
        for object in store.all() {
            let past = Past { revision, before: None, after: Some(object.clone()) };
            controllers.observe(&store, &past);
        }
        Self { store, controllers, settings }
    }
}

// ---- Reading ----

impl Server {
    /// Returns the revision of the last commit.
    pub fn revision(&self) -> u64 {
        self.store.revision
    }

    /// Returns what to give to a restored server, besides objects and revision.
    pub fn counters(&self) -> Counters {
        self.store.counters
    }

    /// Returns every object as it is stored, sorted by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.store.all()
    }

    /// Returns one object as it is stored, whatever its version.
    pub fn object(&self, key: &ObjectKey) -> Option<&Object> {
        self.store.object(key)
    }

    /// Returns one object in the version asked for.
    pub fn get(&self, target: &Target) -> Result<Object, ApiError> {
        let spoken = self.store.registry.speak(&target.kind)?;
        check_scope(&spoken.info, &target.namespace)?;
        match self.store.object(&target.key()) {
            Some(object) => Ok(spoken.show(object.clone())),
            None => Err(ApiError::not_found(&spoken.info.resource, &target.name)),
        }
    }

    /// Returns the objects of a kind that a filter wants, in the version asked for, sorted by
    /// namespace and name. They are those of [`revision`](Self::revision).
    pub fn list(&self, kind: &ApiKind, filter: &ListFilter) -> Result<Vec<Object>, ApiError> {
        let spoken = self.store.registry.speak(kind)?;
        let found = self.store.list(&kind.kind, filter);
        Ok(found.into_iter().map(|object| spoken.show(object.clone())).collect())
    }

    /// Returns every kind in every version that is served.
    pub fn kinds(&self) -> Vec<ServedKind> {
        self.store.registry.served()
    }

    /// Returns what changed after a revision, oldest first; refuses with [`Reason::Gone`] where
    /// some of it is forgotten, and then the caller must list again.
    pub fn changes_since(
        &self,
        revision: u64,
        filter: &ChangeFilter,
    ) -> Result<Vec<Change>, ApiError> {
        self.store.changes_since(revision, filter).ok_or_else(|| {
            let message = format!("too old resource version: {revision} ({})", self.revision());
            ApiError::new(Reason::Gone, message)
        })
    }
}

// ---- Writing ----

impl Server {
    /// Computes what a request would do at a time.
    pub fn prepare(&self, request: &Request, now: Timestamp) -> Result<Prepared, ApiError> {
        let mut draft = Draft::new(&self.store, &self.settings, now);
        let draft_ref = &mut draft;
        let mut answer = match request {
            Request::Create { object, manager } => {
                write::create(draft_ref, object.clone(), manager)?
            }
            Request::Update { object, manager, part } => {
                write::update(draft_ref, object.clone(), manager, *part)?
            }
            Request::Apply { object, manager, force, part } => {
                write::apply(draft_ref, object.clone(), manager, *force, *part)?
            }
            Request::MergePatch { target, patch, manager, part } => {
                write::merge_patch(draft_ref, target, patch, manager, *part)?
            }
            Request::Delete { target, options } => delete::delete(draft_ref, target, options)?,
        };
        let commit = draft.finish();
        if let Some(commit) = &commit {
            let version = commit.revision.to_string();
            answer.object.metadata_mut().insert("resourceVersion", version);
        }
        Ok(Prepared { answer: Some(answer), commit, base: self.revision(), handled: Vec::new() })
    }

    /// Computes how a CustomResourceDefinition becomes exactly the given one, whatever other writers
    /// made of it. Returns what had to be repaired; nothing if an apply was enough.
    ///
    /// A client could not do this: it skips the rule that stored versions stay in a definition, and
    /// stores the objects of the kind in the storage version instead.
    pub fn prepare_definition(
        &self,
        definition: &Object,
        manager: &str,
        now: Timestamp,
    ) -> Result<(Prepared, Option<Repair>), ApiError> {
        let mut draft = Draft::new(&self.store, &self.settings, now);
        let repair = restore::restore(&mut draft, definition, manager)?;
        let (commit, base) = (draft.finish(), self.revision());
        Ok((Prepared { answer: None, commit, base, handled: Vec::new() }, repair))
    }

    /// Computes what the controllers would do next at a time; nothing if they have nothing to do.
    pub fn prepare_step(&self, now: Timestamp) -> Option<Prepared> {
        let step = self.controllers.step(&self.store, &self.settings, now)?;
        let (commit, handled) = (step.commit, step.handled);
        Some(Prepared { answer: None, commit, base: self.revision(), handled })
    }

    /// Makes it so, and returns the answer.
    ///
    /// # Panics
    ///
    /// If something else was applied since it was prepared: that is a mistake of the wrapper, which
    /// must not prepare two things at once.
    pub fn apply(&mut self, prepared: Prepared) -> Option<Answer> {
        let Prepared { answer, commit, base, handled } = prepared;
        assert!(base == self.revision(), "bug: applied on another revision than prepared on");
        self.controllers.settle(handled);
        if let Some(commit) = commit {
            for past in self.store.apply(&commit) {
                self.controllers.observe(&self.store, &past);
            }
        }
        answer
    }

    /// Does what a request asks, after its commit is stored by the closure.
    pub fn execute<E>(
        &mut self,
        request: &Request,
        now: Timestamp,
        persist: impl FnOnce(&Commit) -> Result<(), E>,
    ) -> Result<Answer, ExecuteError<E>> {
        let prepared = self.prepare(request, now).map_err(ExecuteError::Refused)?;
        if let Some(commit) = &prepared.commit {
            persist(commit).map_err(ExecuteError::NotStored)?;
        }
        Ok(self.apply(prepared).expect("bug: a request has an answer"))
    }

    /// Lets the controllers do what is due at a time, and returns when they want to run again;
    /// nothing if only a change can give them work. Stops where a commit cannot be stored, and
    /// after [`TICK_STEPS_LIMIT`] steps, then with the present as the time to run again.
    pub fn tick<E>(
        &mut self,
        now: Timestamp,
        mut persist: impl FnMut(&Commit) -> Result<(), E>,
    ) -> Result<Option<Timestamp>, E> {
        for _ in 0..TICK_STEPS_LIMIT {
            let Some(prepared) = self.prepare_step(now) else { break };
            if let Some(commit) = &prepared.commit {
                persist(commit)?;
            }
            self.apply(prepared);
        }
        Ok(self.next_wake(now))
    }

    /// Returns when the controllers want to run, at the earliest at the given time.
    pub fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        self.controllers.next_wake(now)
    }
}
