//! Taking the Roles of an operator to the namespaces it watches.
//!
//! Whether that is needed is asked of the [`Authorizer`](crate::Authorizer) first: an operator whose
//! account may do everything already gets nothing more.

use operon_object::{Object, known, list, map};

use crate::{
    ownership::{
        COPIED_FROM_LABEL, csv_reference, has_owner_labels, label_owner, mark_managed,
        refers_to_owner,
    },
    rbac::RBAC_VERSION,
};

/// Returns the ClusterRoles and ClusterRoleBindings that stand for the Roles and RoleBindings of an
/// operator that watches all namespaces.
///
/// `objects` are the Roles and RoleBindings of the operator's namespace; those that do not carry its
/// labels, and other kinds, are left out, and so are bindings to roles that are not among them. A
/// lifted Role may also read namespaces.
pub fn cluster_lift<'a>(
    csv: &Object,
    objects: impl IntoIterator<Item = &'a Object>,
) -> Vec<Object> {
    let owned = objects.into_iter().filter(|object| is_owned_by_labels(object, csv));
    let owned: Vec<&Object> = owned.collect();
    let roles = || owned.iter().filter(|object| object.kind() == known::ROLE);
    // A binding to any other role would grant it in all namespaces.
    let is_complete = |object: &&&Object| {
        let reference = object.at(&["roleRef"]);
        object.kind() != known::ROLE_BINDING
            || (reference.get("kind").str() == known::ROLE.name()
                && roles().any(|role| role.name() == reference.get("name").str()))
    };
    owned.iter().filter(is_complete).filter_map(|object| lifted(object)).collect()
}

/// Returns the Roles and RoleBindings that an operator gets in a namespace it watches.
///
/// `copy` is the copy of the ClusterServiceVersion in that namespace, which they belong to. `objects`
/// are the Roles and RoleBindings of the operator's namespace; those that do not name the operator
/// both by labels and by reference are left out.
pub fn namespace_lift<'a>(
    csv: &Object,
    copy: &Object,
    objects: impl IntoIterator<Item = &'a Object>,
) -> Vec<Object> {
    if csv.namespace() == copy.namespace() {
        return Vec::new();
    }
    let owned = objects.into_iter().filter(|object| {
        let is_known = [known::ROLE, known::ROLE_BINDING].contains(&object.kind());
        is_known && is_owned_by_labels(object, csv) && refers_to_owner(object, csv)
    });
    owned.map(|object| cloned(object, csv, copy)).collect()
}

fn is_owned_by_labels(object: &Object, csv: &Object) -> bool {
    object.namespace() == csv.namespace() && has_owner_labels(object, csv)
}

fn lifted(object: &Object) -> Option<Object> {
    let kind = object.kind();
    let mut lifted = if kind == known::ROLE {
        let mut role = Object::new(RBAC_VERSION, "ClusterRole", "", object.name());
        role.set(&["rules"], object.at(&["rules"]).clone());
        let namespaces = map! {
            "verbs" => list!["get", "list", "watch"],
            "apiGroups" => list![""],
            "resources" => list!["namespaces"],
        };
        role.value_mut().place(&["rules"]).make_list().push(namespaces);
        role
    } else if kind == known::ROLE_BINDING {
        let mut binding = Object::new(RBAC_VERSION, "ClusterRoleBinding", "", object.name());
        binding.set(&["subjects"], object.at(&["subjects"]).clone());
        binding.set(&["roleRef"], object.at(&["roleRef"]).clone());
        binding.set(&["roleRef", "kind"], "ClusterRole");
        binding
    } else {
        return None;
    };
    for (label, value) in object.labels() {
        lifted.set_label(label, value);
    }
    Some(lifted)
}

fn cloned(object: &Object, csv: &Object, copy: &Object) -> Object {
    let kind = object.kind();
    let mut clone = Object::new(RBAC_VERSION, kind.name(), copy.namespace(), object.name());
    for (label, value) in object.labels() {
        clone.set_label(label, value);
    }
    for (annotation, value) in object.annotations() {
        clone.set_annotation(annotation, value);
    }
    for field in ["rules", "subjects", "roleRef"] {
        let value = object.at(&[field]);
        if !value.is_null() {
            clone.set(&[field], value.clone());
        }
    }
    clone.add_owner(&csv_reference(copy));
    label_owner(&mut clone, copy);
    clone.set_label(COPIED_FROM_LABEL, csv.namespace());
    mark_managed(&mut clone);
    clone
}
