//! A cluster for somebody else: what is made and changed counts with the rights of a ServiceAccount.
//!
//! The API server checks them; this process only says in whose name it asks.

use std::collections::BTreeSet;

use operon_driver::{Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_kinds::names::FIELD_MANAGER;
use operon_object::{Object, ObjectKey};

use crate::{KubeCluster, request::Actor};

/// A cluster for somebody who may make and change only what a ServiceAccount may.
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
        self.cluster.delete(key, uid)
    }
}
