//! First OperatorGroups: which namespaces may ask for one by annotation.
//!
//! `operon install` creates a namespace for operators before the kind OperatorGroup is served, so the
//! namespace carries an annotation with the name of its group. Any other namespace with that annotation is
//! ignored: permission to update a namespace must not turn into an OperatorGroup over all namespaces.

use std::collections::BTreeSet;

use operon_lifecycle::Objects;
use operon_object::{Object, known};

use crate::system::FIRST_GROUP_ANNOTATION;

/// Decides which annotated namespaces get a first OperatorGroup.
#[derive(Debug, Default)]
pub(super) struct FirstGroups {
    /// The namespaces that the installation names.
    allowed: BTreeSet<String>,
    /// UIDs of ignored namespaces that were reported already.
    reported: BTreeSet<String>,
}

/// The annotated namespaces of a cluster.
#[derive(Debug, Default)]
pub(super) struct Annotated<'o> {
    /// Namespaces in which the group is created.
    pub(super) allowed: Vec<&'o Object>,
    /// Namespaces whose annotation is ignored, each returned once.
    pub(super) ignored: Vec<&'o Object>,
}

impl FirstGroups {
    pub(super) fn new(allowed: impl IntoIterator<Item = String>) -> Self {
        Self { allowed: allowed.into_iter().collect(), reported: BTreeSet::new() }
    }

    /// Returns the namespaces that carry the annotation.
    pub(super) fn annotated<'o>(&mut self, objects: &'o Objects) -> Annotated<'o> {
        let mut annotated = Annotated::default();
        let namespaces = objects
            .all(&known::NAMESPACE)
            .filter(|namespace| namespace.annotation(FIRST_GROUP_ANNOTATION).is_some());
        for namespace in namespaces {
            if self.allowed.contains(namespace.name()) {
                annotated.allowed.push(namespace);
            } else if self.reported.insert(namespace.uid().to_owned()) {
                annotated.ignored.push(namespace);
            }
        }
        annotated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_groups_are_created_only_in_named_namespaces() {
        let mut objects = Objects::default();
        for (name, is_annotated) in [("operators", true), ("tenant", true), ("plain", false)] {
            let mut namespace = Object::new("v1", "Namespace", "", name);
            namespace.set(&["metadata", "uid"], format!("uid-of-{name}"));
            if is_annotated {
                namespace.set_annotation(FIRST_GROUP_ANNOTATION, "global-operators");
            }
            objects.insert(namespace);
        }
        let names = |found: &[&Object]| -> Vec<String> {
            found.iter().map(|object| object.name().to_owned()).collect()
        };
        let mut first_groups = FirstGroups::new(["operators".to_owned(), "plain".to_owned()]);
        let annotated = first_groups.annotated(&objects);
        assert_eq!(names(&annotated.allowed), ["operators"]);
        assert_eq!(names(&annotated.ignored), ["tenant"]);
        // The annotation stays on the namespace, and one log line is enough.
        let annotated = first_groups.annotated(&objects);
        assert_eq!(names(&annotated.allowed), ["operators"]);
        assert!(annotated.ignored.is_empty());
        let none = FirstGroups::default().annotated(&objects).allowed.len();
        assert_eq!(none, 0, "without a named namespace every annotation is ignored");
    }
}
