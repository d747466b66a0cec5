//! Applying manifests: in an order that works, each into its namespace.

use operon_api::LocatedObject;
use operon_driver::{Cluster, ClusterError};
use operon_object::{Object, known};

use super::Kinds;

/// The namespace of manifests that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// A cluster to which manifests are applied under the names of several managers.
pub(crate) trait Appliable: Cluster {
    /// Does what [`Cluster::apply`] does in the name of somebody.
    fn apply_as(&self, object: &Object, manager: &str) -> Result<Object, ClusterError>;
}

/// What applying a manifest did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The object is new.
    Created,
    /// The object was changed.
    Configured,
    /// The object was like that already.
    Unchanged,
}

impl Applied {
    /// Returns the word for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Sorts manifests so that namespaces come first, then definitions, then the rest as it is written.
pub(crate) fn in_order(mut objects: Vec<LocatedObject>) -> Vec<LocatedObject> {
    objects.sort_by_key(|located| {
        let kind = located.object.kind();
        if kind == known::NAMESPACE {
            0
        } else if kind == known::CUSTOM_RESOURCE_DEFINITION {
            1
        } else {
            2
        }
    });
    objects
}

/// Puts a manifest that names no namespace into one, if its kind lies in namespaces.
pub(crate) fn place(object: &mut Object, kinds: &Kinds, namespace: Option<&str>) {
    if object.namespace().is_empty() && kinds.is_namespaced(&object.kind()) == Some(true) {
        object.set_namespace(namespace.unwrap_or(DEFAULT_NAMESPACE));
    }
}

/// Applies a manifest under the name of a manager, whose fields stay apart from those of others.
pub(crate) fn apply(
    cluster: &impl Appliable,
    object: &Object,
    manager: &str,
) -> Result<(Object, Applied), ClusterError> {
    let mut object = object.clone();
    // A manifest may come from `kubectl get`, perhaps of another cluster.
    object.forget_server_metadata();
    let before = cluster.get(&object.key())?;
    let after = cluster.apply_as(&object, manager)?;
    let applied = match before {
        None => Applied::Created,
        Some(before) if before.resource_version() == after.resource_version() => Applied::Unchanged,
        Some(_) => Applied::Configured,
    };
    Ok((after, applied))
}
