//! Universe and requests to a resolution, or to a conflict with its explanation.
//!
//! [`resolve`] takes what a namespace sees and wants and answers which operators should run next.
//! It knows no cluster: where catalogs and manifests come from is not asked here.

mod answer;
mod budget;
mod candidates;
mod check;
mod conflict;
mod encode;
pub mod explain;
mod facts;
mod limits;
mod parts;
mod resolution;
mod resolve;
mod search;
mod semantics;
mod space;
mod steps;
pub mod survey;
mod universe;
mod upstream;
mod words;

pub use operon_constraint::ConstraintCache;

pub use self::{
    budget::{Budget, Spent},
    candidates::candidates,
    check::{Fulfilment, RunningOperator, RunningSet},
    conflict::{Conflict, Fact, Missing, Operator},
    explain::{Because, BecauseKind, Explanation, explain},
    limits::{DEFAULT_BYTES, DEFAULT_CONFLICT_STEPS, DEFAULT_CONFLICTS, DEFAULT_STEPS, Limits},
    resolution::{
        Addition, Answer, Effort, Expense, Failure, Kept, Notice, NoticeKind, Part, Reason,
        Resolution,
    },
    resolve::resolve,
    semantics::{ConstraintReading, FailureScope, Semantics, UpdateSources},
    steps::{BundleLookup, NewSubscription, Steps, UpdatedSubscription, steps},
    universe::{
        Allowed, Content, Installed, InstalledProperties, Request, Source, SourceName, Universe,
    },
    upstream::{upstream_id, upstream_texts},
};
