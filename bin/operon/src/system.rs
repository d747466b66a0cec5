//! Operon itself on a cluster: the objects that it consists of.
//!
//! What the controller does there is in `controller`; nothing here talks to a cluster.

mod manifests;

pub(crate) use self::manifests::{Manifests, print};
