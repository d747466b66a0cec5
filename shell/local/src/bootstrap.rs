//! What a cluster has from its first moment on.
//!
//! Namespaces are created once: a user who deletes one later meant it. Definitions are brought up to
//! date by each opening, because a newer Operon may know more of its own kinds, and restored if other
//! writers changed them. All of it is stored in one commit: until that is done the cluster is still
//! new, and not visible to other processes.

use operon_apiserver::{Repair, Request};
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, Timestamp, known};

use crate::{
    APPLY_MANAGER, OpenError,
    state::{Batch, State},
};

/// The namespaces that a new cluster has.
pub const NAMESPACES: &[&str] = &["default", "kube-system", "olm"];

/// Limits the objects that a notice names, so that it stays readable.
const NAMED_OBJECTS_LIMIT: usize = 5;

/// Puts in what is missing, and returns a notice for each definition that had to be repaired. After
/// a failure the state is not to be used.
pub(crate) fn furnish(
    state: &mut State,
    definitions: &[Object],
    now: Timestamp,
) -> Result<Vec<String>, OpenError> {
    let namespaces: &[&str] = if state.server.revision() == 0 { NAMESPACES } else { &[] };
    let mut batch = Batch::default();
    for name in namespaces {
        let object = Object::new("v1", "Namespace", "", name);
        let key = object.key();
        let request = Request::Create { object, manager: APPLY_MANAGER.to_owned() };
        let answer = state.request_unstored(&request, now, &mut batch);
        answer.map_err(|error| not_begun(&key, error))?;
    }
    let mut notices = Vec::new();
    for definition in definitions {
        let repair = state
            .define_unstored(definition, APPLY_MANAGER, now, &mut batch)
            .map_err(|error| not_begun(&definition.key(), error))?;
        notices.extend(repair.map(|repair| notice(definition, &repair)));
    }
    let stored = state.store_batch(batch);
    stored.map_err(|error| OpenError::NotStored { detail: error.message })?;
    Ok(notices)
}

/// Describes a repair for the user.
fn notice(definition: &Object, repair: &Repair) -> String {
    let Repair { dropped_versions, migrated, removed } = repair;
    let kind = known::CUSTOM_RESOURCE_DEFINITION;
    let mut text = format!(
        "{} {} of the embedded cluster had been changed and was restored",
        kind.name(),
        definition.name()
    );
    if !dropped_versions.is_empty() {
        let names: Vec<String> =
            dropped_versions.iter().map(|version| format!("`{version}`")).collect();
        text.push_str(&format!("; dropped the versions: {}", names.join(", ")));
    }
    if !migrated.is_empty() {
        text.push_str(&format!("; objects kept in another version: {}", named(migrated)));
    }
    if !removed.is_empty() {
        text.push_str(&format!(
            "; objects deleted because their kind or scope differs: {}",
            named(removed)
        ));
    }
    text
}

fn named(keys: &[ObjectKey]) -> String {
    let mut names: Vec<String> =
        keys.iter().take(NAMED_OBJECTS_LIMIT).map(ToString::to_string).collect();
    let more = keys.len().saturating_sub(NAMED_OBJECTS_LIMIT);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
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
