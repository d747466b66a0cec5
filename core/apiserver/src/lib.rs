//! What an API server does with objects, as a pure state machine.
//!
//! A [`Server`] takes [`Request`]s and time, and gives [`Answer`]s and [`Commit`]s. It does what the
//! engine relies on from a Kubernetes API server (optimistic concurrency, server-side apply,
//! finalizers, custom kinds with schemas, watches) and from the controllers beside it (garbage
//! collection, namespaces, definitions, aggregated roles, Deployments). It reads no clock, stores
//! nothing and listens to nobody: a wrapper does.
//!
//! Deliberately absent: authentication, admission webhooks, conversion webhooks, pods, and the
//! defaulting and validation of whole built-in types.

mod admission;
mod builtin;
mod controllers;
mod custom;
mod definition;
mod delete;
mod draft;
mod error;
mod fields;
mod names;
mod registry;
mod request;
mod restore;
mod secret;
mod server;
mod store;
mod versions;
mod write;

pub use self::{
    controllers::{WORKLOAD_ANNOTATION, WorkloadReport, workload_report},
    error::{ApiError, Reason},
    fields::UPDATE_MANAGERS_LIMIT,
    names::ANNOTATION_BYTES_LIMIT,
    request::{
        Answer, Change, ChangeFilter, ChangeKind, Commit, Counters, DeleteOptions, FieldTracking,
        Limits, ListFilter, Outcome, Part, Propagation, Request, ServedKind, Settings, Target,
    },
    request::{HISTORY_LIMIT, OBJECT_BYTES_LIMIT, STEP_WRITES_LIMIT, TICK_STEPS_LIMIT},
    restore::Repair,
    server::{ExecuteError, Prepared, Server},
    versions::Versions,
    write::NAME_ATTEMPTS_LIMIT,
};
