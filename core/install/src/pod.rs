//! Changes to the pod template inside a Deployment's spec.
//!
//! The spec must be in the form of its type (see `golang`), so that equal things look equal. Init
//! containers are never changed.

use operon_object::Value;

/// Returns the pod's spec inside a Deployment's spec, to change it.
pub(crate) fn pod_spec(spec: &mut Value) -> &mut Value {
    spec.place(&["template", "spec"])
}

/// Changes each container; a pod without any is left as it is.
pub(crate) fn each_container(spec: &mut Value, mut change: impl FnMut(&mut Value)) {
    let containers = pod_spec(spec).place(&["containers"]);
    if matches!(containers, Value::List(_)) {
        containers.make_list().iter_mut().for_each(&mut change);
    }
}

/// Puts elements into a list: each in place of the one that is told apart by the same field, or at
/// the end.
pub(crate) fn merge_by(owner: &mut Value, list: &str, field: &str, additions: &Value) {
    if additions.elements().is_empty() {
        return;
    }
    let elements = owner.place(&[list]).make_list();
    for addition in additions.elements() {
        let is_same = |element: &&mut Value| element.get(field) == addition.get(field);
        match elements.iter_mut().find(is_same) {
            Some(element) => *element = addition.clone(),
            None => elements.push(addition.clone()),
        }
    }
}

/// Adds elements to a list that it does not hold yet.
pub(crate) fn append_missing(owner: &mut Value, list: &str, additions: &Value) {
    if additions.elements().is_empty() {
        return;
    }
    let elements = owner.place(&[list]).make_list();
    for addition in additions.elements() {
        if !elements.contains(addition) {
            elements.push(addition.clone());
        }
    }
}

/// Sets environment variables of a container: those it has stay in their place, new ones follow.
///
/// Upstream: of several variables of one name only the last counts; there the others leave nameless
/// entries behind, which no cluster accepts, so here they are dropped.
pub(crate) fn merge_environment(container: &mut Value, additions: &Value) {
    if additions.elements().is_empty() {
        return;
    }
    let mut merged: Vec<Value> = Vec::new();
    for variable in container.get("env").elements().iter().chain(additions.elements()) {
        match merged.iter_mut().find(|other| other.get("name") == variable.get("name")) {
            Some(other) => *other = variable.clone(),
            None => merged.push(variable.clone()),
        }
    }
    container.set(&["env"], merged);
}
