//! Namespaces: their default ServiceAccount, and their end.
//!
//! Quotas, limits and the other things that live in real namespaces are not made.

use operon_object::{Object, ObjectKey, known};

use super::Next;
use crate::{
    Propagation,
    builtin::NAMESPACE_FINALIZER,
    delete::remove_key,
    draft::Draft,
    write::{create, put_or_remove},
};

const MANAGER: &str = "kube-controller-manager";

/// Makes the ServiceAccount that every namespace has.
pub(super) fn reconcile_account(draft: &mut Draft<'_>, namespace: &str) -> Next {
    let is_active = draft
        .object(&known::NAMESPACE.key("", namespace))
        .is_some_and(|namespace| !namespace.is_deleting());
    let key = known::SERVICE_ACCOUNT.key(namespace, "default");
    if is_active && draft.object(&key).is_none() {
        let account = Object::new("v1", "ServiceAccount", namespace, "default");
        // Refused only if objects may be smaller than any object is; then there is none.
        let _ = create(draft, account, MANAGER);
    }
    Next::Done
}

/// Empties and removes a namespace that is being deleted.
pub(super) fn reconcile(draft: &mut Draft<'_>, name: &str) -> Next {
    let key = known::NAMESPACE.key("", name);
    let Some(namespace) = draft.object(&key).cloned() else { return Next::Done };
    if !namespace.is_deleting() {
        return Next::Done;
    }
    let contents: Vec<ObjectKey> = draft
        .registry()
        .kinds()
        .filter(|info| info.is_namespaced)
        .flat_map(|info| draft.store().of_namespace(&info.kind, name))
        .map(Object::key)
        .filter(|key| draft.object(key).is_some())
        .collect();
    let alive: Vec<&ObjectKey> = contents
        .iter()
        .filter(|key| draft.object(key).is_some_and(|object| !object.is_deleting()))
        .collect();
    let limit = draft.settings.limits.step_writes.max(1);
    for key in alive.iter().take(limit) {
        remove_key(draft, key, Propagation::Background);
    }
    if !alive.is_empty() {
        return Next::Again;
    }
    if contents.is_empty() {
        finish(draft, &namespace);
    }
    // What is left waits for its finalizers; the end of each brings the namespace back here.
    Next::Done
}

fn finish(draft: &mut Draft<'_>, namespace: &Object) {
    let mut after = namespace.clone();
    let finalizers = after.value_mut().place(&["spec", "finalizers"]).make_list();
    finalizers.retain(|finalizer| finalizer.str() != NAMESPACE_FINALIZER);
    if finalizers.is_empty() {
        after.value_mut().remove(&["spec", "finalizers"]);
    }
    put_or_remove(draft, namespace, &after);
}
