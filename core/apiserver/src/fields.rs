//! Server-side apply: who owns which field, and what an applied configuration changes.
//!
//! The rules are those of Kubernetes' structured merge: maps merge by key, lists are replaced as a
//! whole unless their kind says otherwise, and what a manager applied before and leaves out now
//! goes away if nobody else owns it. Objects are only computed here, not stored.

mod managers;
mod merge;
mod set;
mod shape;

pub use self::managers::UPDATE_MANAGERS_LIMIT;
pub(crate) use self::{
    managers::{Writer, apply, record_update},
    shape::Shape,
};
