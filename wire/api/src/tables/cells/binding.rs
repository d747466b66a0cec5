//! The cells of RoleBindings and ClusterRoleBindings.
//!
//! What the role allows is not looked up.

use operon_object::{Object, Timestamp};

pub(in crate::tables) fn role(object: &Object, _: Timestamp) -> String {
    let [kind, name] = ["kind", "name"].map(|field| object.at(&["roleRef", field]).str());
    format!("{kind}/{name}")
}

pub(in crate::tables) fn users(object: &Object, _: Timestamp) -> String {
    subjects(object, "User")
}

pub(in crate::tables) fn groups(object: &Object, _: Timestamp) -> String {
    subjects(object, "Group")
}

pub(in crate::tables) fn service_accounts(object: &Object, _: Timestamp) -> String {
    subjects(object, "ServiceAccount")
}

fn subjects(object: &Object, kind: &str) -> String {
    let subjects = object.at(&["subjects"]).elements().iter();
    let names = subjects.filter(|subject| subject.get("kind").str() == kind).map(|subject| {
        let name = subject.get("name").str();
        match subject.get("namespace").str() {
            "" => name.to_owned(),
            namespace => format!("{namespace}/{name}"),
        }
    });
    names.collect::<Vec<_>>().join(", ")
}
