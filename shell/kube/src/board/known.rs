//! What is known of objects that are not kept: where they lie, who they are, and in which version.

use std::collections::{BTreeMap, btree_map::Entry};

use operon_object::{Object, ObjectKey};

/// Where an object of a kind lies: its namespace and its name.
pub(super) type Place = (Box<str>, Box<str>);

/// What is known of an object.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) uid: Box<str>,
    pub(super) version: Box<str>,
    /// The version at which it went, as far as other interests say.
    pub(super) gone: u64,
}

pub(super) fn place(object: &Object) -> Place {
    (object.namespace().into(), object.name().into())
}

/// Reads a version. Those of one kind are numbers that grow, whichever object they belong to.
pub(super) fn number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}

/// Leaves one state of each object, the newest, sorted by key. Who lists several interests may see an
/// object at several times; nobody would tell again what an older state lacks.
pub(crate) fn newest(objects: Vec<Object>) -> Vec<Object> {
    let mut found: BTreeMap<ObjectKey, Object> = BTreeMap::new();
    for object in objects {
        let version = |object: &Object| number(object.resource_version());
        match found.entry(object.key()) {
            Entry::Vacant(entry) => drop(entry.insert(object)),
            Entry::Occupied(mut entry) if version(entry.get()) < version(&object) => {
                drop(entry.insert(object));
            }
            Entry::Occupied(_) => {}
        }
    }
    found.into_values().collect()
}
