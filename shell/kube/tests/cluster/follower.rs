//! Somebody who follows a cluster, as the driver does, and remembers everything he was told.

use std::collections::{BTreeMap, BTreeSet};

use operon_driver::{Change, Cluster, Cursor, Interest};
use operon_kube::KubeCluster;
use operon_object::{Object, ObjectKey};

use crate::support::eventually;

pub(crate) struct Follower<'a> {
    pub(crate) cluster: &'a KubeCluster,
    interests: BTreeSet<Interest>,
    cursor: Cursor,
    /// What there is, as far as it was told.
    pub(crate) objects: BTreeMap<ObjectKey, Object>,
    /// Everything that was told after the listing: what was gone is marked by no version.
    pub(crate) told: Vec<(ObjectKey, Option<String>)>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(cluster: &'a KubeCluster, interests: BTreeSet<Interest>) -> Self {
        let listing = cluster.list(&interests).expect("a listing");
        let objects = listing.objects.into_iter().map(|object| (object.key(), object)).collect();
        let told = Vec::new();
        let mut follower = Self { cluster, interests, cursor: listing.cursor, objects, told };
        follower.look();
        follower
    }

    /// Takes in what happened.
    pub(crate) fn look(&mut self) {
        let changes = self.cluster.changes(&self.interests, &self.cursor).expect("changes");
        self.cursor = changes.cursor;
        for change in changes.changes {
            match change {
                Change::Is(object) => {
                    let version = Some(object.resource_version().to_owned());
                    self.told.push((object.key(), version));
                    self.objects.insert(object.key(), object);
                }
                Change::Gone(object) => {
                    self.told.push((object.key(), None));
                    self.objects.remove(&object.key());
                }
            }
        }
    }

    /// Looks until an object is there as it is, or is gone.
    #[track_caller]
    pub(crate) fn look_for(&mut self, key: &ObjectKey, version: Option<&str>) {
        eventually(&format!("{key} is told as {version:?}"), || {
            self.look();
            self.objects.get(key).map(Object::resource_version) == version
        });
    }

    /// Requires that nothing was told twice.
    #[track_caller]
    pub(crate) fn require_no_doubles(&self) {
        let versions = self.told.iter().filter(|(_, version)| version.is_some());
        let mut seen = BTreeSet::new();
        let doubled: Vec<_> = versions.filter(|told| !seen.insert((*told).clone())).collect();
        assert!(doubled.is_empty(), "told twice: {doubled:?}");
    }
}
