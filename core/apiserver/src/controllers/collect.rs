//! The garbage collector: what nobody owns any more goes away.
//!
//! An owner is who has the kind, name and identity that a reference gives, in the namespace of the
//! dependent or in none. References to kinds that nobody serves, and references from objects of the
//! cluster into a namespace, are left alone: they cannot be looked up.

use operon_object::{ApiKind, Object, ObjectKey, OwnerReference, Value};

use super::Next;
use crate::{
    Propagation,
    delete::{remove_key, take_finalizer},
    draft::Draft,
    names::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER},
};

/// What is known of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// It exists.
    Solid,
    /// It is being deleted and waits for its dependents.
    Waiting,
    /// It does not exist.
    Absent,
    /// It cannot be looked up.
    Unknown,
}

/// Looks at one object.
pub(super) fn reconcile(draft: &mut Draft<'_>, key: &ObjectKey) -> Next {
    let Some(object) = draft.object(key).cloned() else { return Next::Done };
    let has = |wanted: &str| object.finalizers().any(|finalizer| finalizer == wanted);
    if object.is_deleting() {
        if has(ORPHAN_FINALIZER) {
            return orphan_dependents(draft, &object);
        }
        if has(FOREGROUND_FINALIZER) && !is_blocked(draft, &object) {
            take_finalizer(draft, &object, FOREGROUND_FINALIZER);
        }
        return Next::Done;
    }
    let owners: Vec<(OwnerReference, Owner)> = object
        .owners()
        .map(|owner| {
            let found = look_up(draft, &object, &owner);
            (owner, found)
        })
        .collect();
    let any = |wanted: Owner| owners.iter().any(|(_, found)| *found == wanted);
    if owners.is_empty() || any(Owner::Unknown) {
        return Next::Done;
    }
    if any(Owner::Solid) {
        let is_solid = |uid: &str| {
            owners.iter().any(|(owner, found)| owner.uid == uid && *found == Owner::Solid)
        };
        keep_references(draft, &object, |reference| is_solid(reference.get("uid").str()));
    } else if any(Owner::Waiting) && draft.any_dependent(object.uid(), |_| true) {
        delete_with_dependents(draft, &object);
    } else {
        remove_key(draft, key, policy_of(&object));
    }
    Next::Done
}

fn look_up(draft: &Draft<'_>, dependent: &Object, owner: &OwnerReference) -> Owner {
    let kind = ApiKind::from_api_version(&owner.api_version, &owner.kind).kind;
    let Some(info) = draft.registry().kind(&kind) else { return Owner::Unknown };
    let namespace = match (info.is_namespaced, dependent.namespace()) {
        (true, "") => return Owner::Unknown,
        (true, namespace) => namespace,
        (false, _) => "",
    };
    match draft.object(&kind.key(namespace, &owner.name)) {
        Some(found) if found.uid() == owner.uid => {
            let waits = |finalizer| finalizer == FOREGROUND_FINALIZER;
            let is_waiting = found.is_deleting() && found.finalizers().any(waits);
            if is_waiting { Owner::Waiting } else { Owner::Solid }
        }
        Some(_) | None => Owner::Absent,
    }
}

fn keep_references(draft: &mut Draft<'_>, object: &Object, is_kept: impl Fn(&Value) -> bool) {
    let references = object.metadata("ownerReferences").elements();
    let kept: Vec<Value> = references.iter().filter(|one| is_kept(one)).cloned().collect();
    if kept.len() == references.len() {
        return;
    }
    let mut after = object.clone();
    if kept.is_empty() {
        after.metadata_mut().remove("ownerReferences");
    } else {
        after.metadata_mut().insert("ownerReferences", kept);
    }
    draft.put(after);
}

/// Upstream: an object in a ring of owners no longer blocks them, so that the ring can go.
fn delete_with_dependents(draft: &mut Draft<'_>, object: &Object) {
    let is_waiting = |dependent: &Object| {
        dependent.is_deleting()
            && dependent.finalizers().any(|finalizer| finalizer == FOREGROUND_FINALIZER)
    };
    if draft.any_dependent(object.uid(), is_waiting) {
        let mut after = object.clone();
        let references = after.value_mut().place(&["metadata", "ownerReferences"]).make_list();
        for reference in references {
            reference.set(&["blockOwnerDeletion"], false);
        }
        draft.put(after);
    }
    remove_key(draft, &object.key(), Propagation::Foreground);
}

fn policy_of(object: &Object) -> Propagation {
    let has = |wanted: &str| object.finalizers().any(|finalizer| finalizer == wanted);
    if has(ORPHAN_FINALIZER) {
        Propagation::Orphan
    } else if has(FOREGROUND_FINALIZER) {
        Propagation::Foreground
    } else {
        Propagation::Background
    }
}

fn is_blocked(draft: &Draft<'_>, owner: &Object) -> bool {
    draft.any_dependent(owner.uid(), |dependent| {
        dependent.owners().any(|reference| {
            reference.uid == owner.uid() && reference.block_owner_deletion == Some(true)
        })
    })
}

fn orphan_dependents(draft: &mut Draft<'_>, owner: &Object) -> Next {
    let dependents = draft.dependents(owner.uid());
    let limit = draft.settings.limits.step_writes.max(1);
    for key in dependents.iter().take(limit) {
        if let Some(dependent) = draft.object(key).cloned() {
            let is_kept = |reference: &Value| reference.get("uid").str() != owner.uid();
            keep_references(draft, &dependent, is_kept);
        }
    }
    if dependents.len() > limit {
        return Next::Again;
    }
    take_finalizer(draft, owner, ORPHAN_FINALIZER);
    Next::Done
}
