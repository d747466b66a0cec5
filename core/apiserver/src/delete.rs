//! Deleting objects.
//!
//! An object with finalizers is only marked; it goes when the last of them is taken away. What
//! becomes of its dependents is left to the collector.

use operon_object::{Object, ObjectKey, Value};

use crate::{
    Answer, ApiError, DeleteOptions, Outcome, Propagation, Target, builtin, definition,
    draft::Draft,
    names::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER},
    write::{find, put_or_remove},
};

/// Deletes an object for a client.
pub(crate) fn delete(
    draft: &mut Draft<'_>,
    target: &Target,
    options: &DeleteOptions,
) -> Result<Answer, ApiError> {
    let (spoken, object) = find(draft, target)?;
    check_preconditions(&object, options)?;
    if let Some(why) = builtin::deletion_fault(&object) {
        return Err(ApiError::forbidden(&spoken.info.resource, object.name(), why));
    }
    let (object, outcome) = remove(draft, &object, options.propagation);
    Ok(Answer { object: spoken.show(object), outcome })
}

/// Deletes the object with a key, if there is one, for a controller.
pub(crate) fn remove_key(draft: &mut Draft<'_>, key: &ObjectKey, propagation: Propagation) {
    if let Some(object) = draft.object(key).cloned() {
        remove(draft, &object, propagation);
    }
}

/// Takes a finalizer from an object, which may be the end of it.
pub(crate) fn take_finalizer(draft: &mut Draft<'_>, object: &Object, finalizer: &str) {
    let mut after = object.clone();
    let rest: Vec<&str> = object.finalizers().filter(|found| *found != finalizer).collect();
    set_finalizers(&mut after, &rest);
    put_or_remove(draft, object, &after);
}

fn check_preconditions(object: &Object, options: &DeleteOptions) -> Result<(), ApiError> {
    let conflict = |what: &str, wanted: &str, found: &str, might: &str| {
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record \
             ({found}). The object might have been {might}"
        );
        // Upstream: this text names the kind where others name the resource.
        Err(ApiError::conflict(&object.kind().to_string(), object.name(), &why))
    };
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != object.uid()) {
        return conflict("UID", uid, object.uid(), "deleted and then recreated");
    }
    let found = object.resource_version();
    if let Some(version) = options.resource_version.as_deref().filter(|version| *version != found) {
        return conflict("ResourceVersion", version, found, "modified");
    }
    Ok(())
}

fn remove(draft: &mut Draft<'_>, object: &Object, propagation: Propagation) -> (Object, Outcome) {
    let is_ours = |name: &str| matches!(name, ORPHAN_FINALIZER | FOREGROUND_FINALIZER);
    let mut finalizers: Vec<&str> = object.finalizers().filter(|name| !is_ours(name)).collect();
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => finalizers.push(FOREGROUND_FINALIZER),
        Propagation::Orphan => finalizers.push(ORPHAN_FINALIZER),
    }
    let mut after = object.clone();
    set_finalizers(&mut after, &finalizers);
    if !object.is_deleting() {
        let generation = object.generation();
        let metadata = after.metadata_mut();
        if generation > 0 {
            metadata.insert("generation", generation + 1);
        }
        metadata.insert("deletionTimestamp", draft.now);
        metadata.insert("deletionGracePeriodSeconds", 0);
        builtin::begin_deletion(&mut after);
        definition::begin_deletion(draft.now, &mut after);
    }
    let outcome = put_or_remove(draft, object, &after);
    match outcome {
        // The last state that anybody could see is the one before.
        Outcome::Removed => (object.clone(), outcome),
        Outcome::Created | Outcome::Changed | Outcome::Unchanged => (after, outcome),
    }
}

fn set_finalizers(object: &mut Object, finalizers: &[&str]) {
    let metadata = object.metadata_mut();
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else if finalizers != metadata.get("finalizers").iter_texts().collect::<Vec<_>>() {
        metadata.insert("finalizers", Value::texts(finalizers));
    }
}
