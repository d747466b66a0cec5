//! What may be asked of the server, and what it answers.
//!
//! These are plain values: reading them from manifests or URLs is the business of other rooms.

use std::time::Duration;

use operon_object::{ApiKind, Object, ObjectKey, Selector, Value};

/// Limits one object to what etcd takes in one request, so that whatever fits here fits a cluster.
pub const OBJECT_BYTES_LIMIT: usize = 3 * 512 * 1024;

/// Limits how many changes are remembered for watchers. A watcher may be this many changes behind
/// before it must list again; each remembered change keeps two states of an object alive.
pub const HISTORY_LIMIT: usize = 20_000;

/// Limits how many objects one controller step writes, so that a durable wrapper pays for one
/// transaction per batch and no single transaction grows with the cluster.
pub const STEP_WRITES_LIMIT: usize = 64;

/// Limits how many steps one tick makes before it lets requests in again.
pub const TICK_STEPS_LIMIT: usize = 10_000;

/// Says how large things may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one object, written as JSON.
    pub object_bytes: usize,
    /// The changes that watchers may still ask for.
    pub history: usize,
    /// The objects that one controller step writes; 1 shows every state in between.
    pub step_writes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            object_bytes: OBJECT_BYTES_LIMIT,
            history: HISTORY_LIMIT,
            step_writes: STEP_WRITES_LIMIT,
        }
    }
}

/// Says when `metadata.managedFields` begins to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldTracking {
    /// From creation on, as clusters do.
    Always,
    /// From the first apply on; what was there before belongs to `before-first-apply`. Objects
    /// that are only ever updated stay half as large.
    FromFirstApply,
}

/// Says how a server behaves where clusters differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How large things may be.
    pub limits: Limits,
    /// How long after its creation a CustomResourceDefinition is established. With zero, it is
    /// established by the request that creates it; otherwise by a tick.
    pub establish_delay: Duration,
    /// When field managers are recorded.
    pub field_tracking: FieldTracking,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            establish_delay: Duration::ZERO,
            field_tracking: FieldTracking::Always,
        }
    }
}

/// Names one object in the version that the caller speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What it is.
    pub kind: ApiKind,
    /// Where it lies; empty for what lies in no namespace.
    pub namespace: String,
    /// What it is called.
    pub name: String,
}

impl Target {
    /// Names the object that another object is, or would be.
    pub fn of(object: &Object) -> Self {
        Self {
            kind: object.api_kind(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        }
    }

    /// Returns the name without the version.
    pub fn key(&self) -> ObjectKey {
        self.kind.kind.key(&self.namespace, &self.name)
    }
}

/// Says which part of an object a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything; but of kinds with a status subresource, everything except `status`.
    Whole,
    /// `status` alone.
    Status,
}

/// A request that may change objects. `manager` is the name that field ownership is recorded under.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Stores a new object, named by `metadata.name` or `metadata.generateName`.
    Create {
        /// The object.
        object: Object,
        /// Who writes.
        manager: String,
    },
    /// Replaces an object that exists; `metadata.resourceVersion`, where given, must be current.
    Update {
        /// The object as it shall be.
        object: Object,
        /// Who writes.
        manager: String,
        /// Which part of it.
        part: Part,
    },
    /// Applies a configuration (server-side apply); creates the object where there is none.
    Apply {
        /// The fields the manager has an opinion on.
        object: Object,
        /// Who applies.
        manager: String,
        /// Takes fields from other managers instead of reporting a conflict.
        force: bool,
        /// Which part of it.
        part: Part,
    },
    /// Changes an object by an RFC 7386 merge patch.
    MergePatch {
        /// The object to change.
        target: Target,
        /// The patch.
        patch: Value,
        /// Who writes.
        manager: String,
        /// Which part of it.
        part: Part,
    },
    /// Deletes an object, at once or when its finalizers are gone.
    Delete {
        /// The object to delete.
        target: Target,
        /// The conditions and the fate of dependents.
        options: DeleteOptions,
    },
}

/// Says on which conditions to delete, and what becomes of dependents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Deletes only the object with this identity.
    pub uid: Option<String>,
    /// Deletes only this state of the object.
    pub resource_version: Option<String>,
    /// The fate of dependents.
    pub propagation: Propagation,
}

/// Says what becomes of the objects that a deleted object owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Propagation {
    /// They are collected after it is gone.
    #[default]
    Background,
    /// It stays until those that block it are gone.
    Foreground,
    /// They lose their reference to it and stay.
    Orphan,
}

/// Holds the answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The object after the request, in the version asked for; its last state if it is gone.
    pub object: Object,
    /// What happened to it.
    pub outcome: Outcome,
}

/// Names what a request did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The object is new.
    Created,
    /// The object changed; a deletion that waits for finalizers is such a change.
    Changed,
    /// The object already was as asked; nothing was written and no watcher hears of it.
    Unchanged,
    /// The object is gone.
    Removed,
}

/// Holds everything that one request or controller step changes, to be stored atomically.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The revision after it; also the `resourceVersion` of every object in it.
    pub revision: u64,
    /// The new state of each changed object, sorted by key; nothing for one that is gone.
    pub writes: Vec<(ObjectKey, Option<Object>)>,
    /// What to give to a restored server.
    pub counters: Counters,
}

/// Holds what identities are derived from. Must be stored with the objects, or a restored server
/// gives an identity away twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Counts the identities given so far.
    pub uids: u64,
    /// Counts the names generated so far.
    pub names: u64,
}

/// Says which objects are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListFilter {
    /// Only those of this namespace; empty for those of all.
    pub namespace: String,
    /// Only the one of this name.
    pub name: Option<String>,
    /// Only those with these labels.
    pub selector: Selector,
}

/// Says which changes are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangeFilter {
    /// Only those of objects of these kinds, each shown in the version given; all where it is empty.
    pub kinds: Vec<ApiKind>,
    /// Only those of objects that this lets through. An object that no longer passes is shown as
    /// deleted, one that begins to as added.
    pub objects: ListFilter,
}

/// A change of an object, as a watcher sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The object after it; its last state if it is gone.
    pub object: Object,
    /// The revision that the change made.
    pub revision: u64,
}

/// Names what happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
}

/// A kind that the server serves, in one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    /// The kind and version.
    pub kind: ApiKind,
    /// The name in URLs, such as `deployments`.
    pub plural: String,
    /// Says whether its objects lie in namespaces.
    pub is_namespaced: bool,
    /// The names people type, such as `deploy`.
    pub short_names: Vec<String>,
    /// The groups of kinds people ask for together, such as `all`.
    pub categories: Vec<String>,
    /// Says whether `status` is written apart from the rest.
    pub has_status: bool,
    /// Says whether objects are stored in this version.
    pub is_storage: bool,
}
