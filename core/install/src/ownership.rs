//! How objects say whom they belong to, by labels and by references.
//!
//! An owner reference cannot leave a namespace, so what lies outside the owner's namespace carries
//! three labels instead. Deleting what lost its owner is not done here.

use operon_object::{Object, ObjectKey, OwnerReference, known};

/// The label with the owner's name.
pub const OWNER_LABEL: &str = "olm.owner";
/// The label with the owner's namespace.
pub const OWNER_NAMESPACE_LABEL: &str = "olm.owner.namespace";
/// The label with the owner's kind.
pub const OWNER_KIND_LABEL: &str = "olm.owner.kind";
/// The label on nearly everything that is installed; its value is `true`.
pub const MANAGED_LABEL: &str = "olm.managed";
/// The label on copies, with the namespace of the original.
pub const COPIED_FROM_LABEL: &str = "olm.copiedFrom";

/// Returns the three labels that name an owner.
pub fn owner_labels(owner: &Object) -> [(&'static str, String); 3] {
    [
        (OWNER_LABEL, owner.name().to_owned()),
        (OWNER_NAMESPACE_LABEL, owner.namespace().to_owned()),
        (OWNER_KIND_LABEL, owner.kind().name().to_owned()),
    ]
}

/// Puts the labels of its owner on an object, in place of those of another one.
pub fn label_owner(object: &mut Object, owner: &Object) {
    label_owner_key(object, &owner.key());
}

/// Puts the labels of an owner that may not be there yet on an object.
pub fn label_owner_key(object: &mut Object, owner: &ObjectKey) {
    object.set_label(OWNER_LABEL, &owner.name);
    object.set_label(OWNER_NAMESPACE_LABEL, &owner.namespace);
    object.set_label(OWNER_KIND_LABEL, owner.kind.name());
}

/// Tells whether an object carries the labels of an owner.
pub fn has_owner_labels(object: &Object, owner: &Object) -> bool {
    owner_labels(owner).iter().all(|(name, value)| object.label(name) == value)
}

/// Tells whether an object refers to an owner by its identity.
pub fn refers_to_owner(object: &Object, owner: &Object) -> bool {
    let kind = owner.kind();
    object.owners().any(|reference| {
        reference.kind == kind.name()
            && reference.name == owner.name()
            && reference.uid == owner.uid()
    })
}

/// Marks an object as managed.
pub(crate) fn mark_managed(object: &mut Object) {
    object.set_label(MANAGED_LABEL, "true");
}

/// Returns the reference to a ClusterServiceVersion, in the form every installed object carries.
pub(crate) fn csv_reference(csv: &Object) -> OwnerReference {
    OwnerReference {
        api_version: "operators.coreos.com/v1alpha1".to_owned(),
        kind: known::CLUSTER_SERVICE_VERSION.name().to_owned(),
        ..csv.owner_reference()
    }
}
