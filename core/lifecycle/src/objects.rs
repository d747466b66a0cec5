//! The objects of a cluster, as they were last seen.
//!
//! Only what was put in is here: which kinds are watched is the driver's business.

use std::collections::BTreeMap;

use operon_object::{Kind, Object, ObjectKey};

/// Objects by kind, namespace and name.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    kinds: BTreeMap<Kind, BTreeMap<String, BTreeMap<String, Object>>>,
}

impl Objects {
    /// Puts an object in, in place of the one of the same key.
    pub fn insert(&mut self, object: Object) {
        let namespaces = self.kinds.entry(object.kind()).or_default();
        let names = namespaces.entry(object.namespace().to_owned()).or_default();
        names.insert(object.name().to_owned(), object);
    }

    /// Takes an object out.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object> {
        let namespaces = self.kinds.get_mut(&key.kind)?;
        let names = namespaces.get_mut(&key.namespace)?;
        let removed = names.remove(&key.name);
        if names.is_empty() {
            namespaces.remove(&key.namespace);
        }
        removed
    }

    /// Takes all objects of a kind out.
    pub fn clear(&mut self, kind: &Kind) {
        self.kinds.remove(kind);
    }

    /// Returns an object.
    pub fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<&Object> {
        self.kinds.get(kind)?.get(namespace)?.get(name)
    }

    /// Returns the object of a key.
    pub fn find(&self, key: &ObjectKey) -> Option<&Object> {
        self.get(&key.kind, &key.namespace, &key.name)
    }

    /// Returns the objects of a kind in a namespace, sorted by name.
    pub fn within<'o>(
        &'o self,
        kind: &Kind,
        namespace: &str,
    ) -> impl Iterator<Item = &'o Object> + use<'o> {
        let names = self.kinds.get(kind).and_then(|namespaces| namespaces.get(namespace));
        names.into_iter().flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind, sorted by namespace and name.
    pub fn all<'o>(&'o self, kind: &Kind) -> impl Iterator<Item = &'o Object> + use<'o> {
        self.kinds.get(kind).into_iter().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// Counts the objects.
    pub fn len(&self) -> usize {
        self.kinds.values().flat_map(BTreeMap::values).map(BTreeMap::len).sum()
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
