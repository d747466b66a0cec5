//! The cluster as an impersonated ServiceAccount: its permissions count for every write.
//!
//! The API server checks them.

use std::collections::BTreeSet;

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_kinds::names::FIELD_MANAGER;
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, map};

use crate::{KubeCluster, request::Actor};

/// A cluster whose writes use the permissions of a ServiceAccount.
pub(crate) struct OnBehalf<'c> {
    pub(crate) cluster: &'c KubeCluster,
    pub(crate) actor: Actor,
}

impl Cluster for OnBehalf<'_> {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.cluster.list(interests)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.cluster.changes(interests, since)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster.create_by(object, Some(&self.actor))
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster.replace(object, "", Some(&self.actor))
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster.replace(object, "/status", Some(&self.actor))
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.cluster.apply_by(object, FIELD_MANAGER, Some(&self.actor))
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.cluster.remove(key, map! { "uid" => uid }, Some(&self.actor))
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        let version = object.resource_version();
        let preconditions = map! { "uid" => object.uid(), "resourceVersion" => version };
        self.cluster.remove(&object.key(), preconditions, Some(&self.actor))
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Err(ClusterError {
            kind: ErrorKind::Forbidden,
            message: format!("an impersonated ServiceAccount cannot impersonate {account}"),
        })
    }
}
