//! A real cluster for whoever only looks: nothing is followed, and nothing is ever written.
//!
//! The engine looks at more than its outlook rests on. What it can do without is left out where somebody
//! may not read it; what it rests on is asked for in one go.

use std::{collections::BTreeSet, sync::Arc};

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Driver, Interest, Listing, Part};
use operon_image::{Fetcher, SourceCatalogs};
use operon_kube::KubeCluster;
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, known};

use super::{rights, settings_of_real};
use crate::output::{clean, stderr_line};

/// What an outlook rests on.
const RESTS_ON: &[Kind] = &[
    known::NAMESPACE,
    known::CUSTOM_RESOURCE_DEFINITION,
    known::API_SERVICE,
    known::OPERATOR_GROUP,
    known::CATALOG_SOURCE,
    known::SUBSCRIPTION,
    known::INSTALL_PLAN,
    known::CLUSTER_SERVICE_VERSION,
    known::CONTROLLER_REVISION,
];

/// What the rights that an operator would get are compared with.
const RIGHTS: &[Kind] = &[known::ROLE, known::CLUSTER_ROLE];

/// A real cluster for whoever only looks.
#[derive(Debug)]
pub(crate) struct Reader {
    cluster: Arc<KubeCluster>,
}

impl Reader {
    /// Sets the engine up to look at a real cluster.
    pub(crate) fn engine(
        cluster: &Arc<KubeCluster>,
        global_namespace: &str,
        fetcher: Arc<Fetcher>,
    ) -> Result<Driver<Self, SourceCatalogs>, ClusterError> {
        let settings = settings_of_real(cluster, global_namespace)
            .map_err(|error| rights::told(cluster, error, &rests_on()))?;
        let reader = Self { cluster: Arc::clone(cluster) };
        Ok(Driver::new(reader, SourceCatalogs::of_strangers(fetcher), settings))
    }
}

fn rests_on() -> BTreeSet<Interest> {
    Interest::all_of(RESTS_ON.iter().cloned())
}

impl Cluster for Reader {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        let mut objects = Vec::new();
        let mut unread: BTreeSet<Interest> = BTreeSet::new();
        for (interest, found) in self.cluster.look(interests) {
            match found {
                Ok(mut found) => objects.append(&mut found),
                Err(error) if error.kind != ErrorKind::Forbidden => return Err(error),
                Err(error) if RESTS_ON.contains(&interest.kind) => {
                    return Err(rights::told(&self.cluster, error, &rests_on()));
                }
                Err(_) => {
                    unread.insert(interest);
                }
            }
        }
        warn(&unread);
        Ok(Listing { objects, cursor: Cursor::default() })
    }

    fn changes(&self, _: &BTreeSet<Interest>, since: &Cursor) -> Result<Changes, ClusterError> {
        Ok(Changes { changes: Vec::new(), cursor: since.clone() })
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        Err(only_looks(&object.key()))
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        Err(only_looks(&object.key()))
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        Err(only_looks(&object.key()))
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        Err(only_looks(&object.key()))
    }

    fn delete(&self, key: &ObjectKey, _: &str) -> Result<(), ClusterError> {
        Err(only_looks(key))
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        Err(only_looks(&object.key()))
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Err(only_looks(account))
    }
}

fn only_looks(key: &ObjectKey) -> ClusterError {
    ClusterError {
        kind: ErrorKind::Forbidden,
        message: format!("bug: {key} was to be written by a command that only looks"),
    }
}

/// Says what an outlook would look at if it could, where that shows.
fn warn(unread: &BTreeSet<Interest>) {
    for interest in unread {
        if let Part::Named { namespace, name } = &interest.part {
            let key = clean(&interest.kind.key(namespace, name).to_string());
            stderr_line!("warning: you may not read {key}, so its catalog is read without it");
        }
    }
    // Objects of users are listed only to check what a plan would do to them.
    let is_known = |kind: &Kind| known::KNOWN_KINDS.iter().any(|known| known.kind == *kind);
    for interest in unread.iter().filter(|interest| !is_known(&interest.kind)) {
        let kind = clean(&interest.kind.to_string());
        stderr_line!(
            "warning: you may not list {kind}, so it is not checked whether the plan keeps them valid"
        );
    }
    let roles: Vec<String> = RIGHTS
        .iter()
        .filter(|kind| unread.contains(&Interest::all((*kind).clone())))
        .map(rights::resource)
        .collect();
    if !roles.is_empty() {
        stderr_line!(
            "warning: you may not list {}, so rights that an operator has already are shown as new",
            roles.join(", ")
        );
    }
}
