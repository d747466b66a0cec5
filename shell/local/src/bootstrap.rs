//! What a cluster has from its first moment on.
//!
//! Namespaces are put in once: whoever deletes one later meant it. Definitions are brought up to date
//! by each opening, because a newer Operon may know more of its own kinds. All of it is stored in one
//! commit: until that is done the cluster is still new, and nobody sees it.

use operon_apiserver::{Part, Request};
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, Timestamp};

use crate::{
    APPLY_MANAGER, OpenError,
    state::{Batch, State},
};

/// The namespaces that a new cluster has.
pub const NAMESPACES: &[&str] = &["default", "kube-system", "olm"];

/// Puts in what is missing. After a failure the state is not to be used.
pub(crate) fn furnish(
    state: &mut State,
    definitions: &[Object],
    now: Timestamp,
) -> Result<(), OpenError> {
    let manager = APPLY_MANAGER;
    let namespaces: &[&str] = if state.server.revision() == 0 { NAMESPACES } else { &[] };
    let create = |name: &&str| {
        let object = Object::new("v1", "Namespace", "", name);
        (object.key(), Request::Create { object, manager: manager.to_owned() })
    };
    let apply = |object: &Object| {
        let (key, object, manager) = (object.key(), object.clone(), manager.to_owned());
        (key, Request::Apply { object, manager, force: true, part: Part::Whole })
    };
    let mut batch = Batch::default();
    for (key, request) in namespaces.iter().map(create).chain(definitions.iter().map(apply)) {
        let answer = state.request_unstored(&request, now, &mut batch);
        answer.map_err(|error| not_begun(&key, error))?;
    }
    let stored = state.store_batch(batch);
    stored.map_err(|error| OpenError::NotStored { detail: error.message })
}

fn not_begun(key: &ObjectKey, error: ClusterError) -> OpenError {
    match error.kind {
        ErrorKind::Unavailable => OpenError::NotStored { detail: error.message },
        ErrorKind::Forbidden
        | ErrorKind::NotFound
        | ErrorKind::AlreadyExists
        | ErrorKind::Invalid
        | ErrorKind::Conflict
        | ErrorKind::Other => OpenError::Refused { key: key.to_string(), detail: error.message },
    }
}
