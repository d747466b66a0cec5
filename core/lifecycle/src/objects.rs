//! The objects of a cluster, as they were last seen.
//!
//! Only what was put in is here: which kinds are watched is the driver's business.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use operon_install::COMPONENT_LABEL_PREFIX;
use operon_kinds::names::OWNER_NAMESPACE_LABEL;
use operon_object::{Kind, Object, ObjectKey, known};

/// Objects by kind, namespace and name.
///
/// A clone shares everything with its original until one of them changes, and then all but the
/// changed parts: the driver decides about many namespaces at once, each on a clone of its own.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    kinds: BTreeMap<Kind, ByNamespace>,
    /// What lies outside a namespace and belongs to it: by its labels, or as an Operator object.
    by_home: Index,
    /// OperatorGroups by the namespaces that they look after, with their own; the empty one for all.
    by_covered: Index,
    /// What belongs to an operator, by the label that says so.
    by_component: Index,
}

/// Objects of one kind by namespace and name; shared between clones.
type ByNamespace = Arc<BTreeMap<String, Arc<BTreeMap<String, Object>>>>;

/// Keys of objects by a name; shared between clones.
type Index = Arc<BTreeMap<String, Arc<BTreeSet<ObjectKey>>>>;

impl Objects {
    /// Puts an object in, in place of the one of the same key.
    pub fn insert(&mut self, object: Object) {
        let key = object.key();
        self.remove(&key);
        self.index(&key, &object);
        let namespaces = Arc::make_mut(self.kinds.entry(key.kind).or_default());
        let names = Arc::make_mut(namespaces.entry(key.namespace).or_default());
        names.insert(key.name, object);
    }

    /// Takes an object out.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object> {
        // Nothing is copied for an object that does not exist.
        self.find(key)?;
        let namespaces = Arc::make_mut(self.kinds.get_mut(&key.kind)?);
        let names = Arc::make_mut(namespaces.get_mut(&key.namespace)?);
        let removed = names.remove(&key.name)?;
        if names.is_empty() {
            namespaces.remove(&key.namespace);
        }
        self.forget(key, &removed);
        Some(removed)
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
        names.into_iter().flat_map(|names| names.values())
    }

    /// Returns the objects of a kind, sorted by namespace and name.
    pub fn all<'o>(&'o self, kind: &Kind) -> impl Iterator<Item = &'o Object> + use<'o> {
        let namespaces =
            self.kinds.get(kind).into_iter().flat_map(|namespaces| namespaces.values());
        namespaces.flat_map(|names| names.values())
    }

    /// Returns the objects outside a namespace that belong to it: those whose labels name an owner in it,
    /// and its Operator objects; sorted by key.
    pub fn owned_from(&self, namespace: &str) -> impl Iterator<Item = &Object> {
        let keys = self.by_home.get(namespace).into_iter().flat_map(|keys| keys.iter());
        keys.filter_map(|key| self.find(key))
    }

    /// Returns the OperatorGroups that look after a namespace, or lie in it, as they were last seen; for
    /// the empty name those that look after all.
    pub fn groups_covering(&self, namespace: &str) -> impl Iterator<Item = &Object> {
        let keys = self.by_covered.get(namespace).into_iter().flat_map(|keys| keys.iter());
        keys.filter_map(|key| self.find(key))
    }

    /// Returns the namespaces that something outside of them belongs to, also those that are gone.
    pub fn left_namespaces(&self) -> impl Iterator<Item = &str> {
        self.by_home.keys().map(String::as_str)
    }

    /// Returns the objects that carry a label of an operator's components, sorted by key.
    pub fn components(&self, label: &str) -> impl Iterator<Item = &Object> {
        let keys = self.by_component.get(label).into_iter().flat_map(|keys| keys.iter());
        keys.filter_map(|key| self.find(key))
    }

    /// Counts the objects.
    pub fn len(&self) -> usize {
        let namespaces = self.kinds.values().flat_map(|namespaces| namespaces.values());
        namespaces.map(|names| names.len()).sum()
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn index(&mut self, key: &ObjectKey, object: &Object) {
        if let Some(home) = home_of(key, object) {
            put_in(&mut self.by_home, home, key);
        }
        for namespace in covered_by(key, object) {
            put_in(&mut self.by_covered, namespace, key);
        }
        for label in component_labels(object) {
            put_in(&mut self.by_component, label, key);
        }
    }

    fn forget(&mut self, key: &ObjectKey, object: &Object) {
        if let Some(home) = home_of(key, object) {
            take_out(&mut self.by_home, home, key);
        }
        for namespace in covered_by(key, object) {
            take_out(&mut self.by_covered, namespace, key);
        }
        for label in component_labels(object) {
            take_out(&mut self.by_component, label, key);
        }
    }
}

/// Returns the namespace that something outside of it belongs to.
fn home_of<'o>(key: &'o ObjectKey, object: &'o Object) -> Option<&'o str> {
    if key.kind == known::OPERATOR {
        return key.name.rsplit_once('.').map(|(_, home)| home);
    }
    let home = object.label(OWNER_NAMESPACE_LABEL);
    (!home.is_empty() && home != key.namespace).then_some(home)
}

/// Returns the namespaces that an OperatorGroup looks after, with its own; other objects look after none.
fn covered_by<'o>(key: &'o ObjectKey, object: &'o Object) -> BTreeSet<&'o str> {
    if key.kind != known::OPERATOR_GROUP {
        return BTreeSet::new();
    }
    let seen = object.status().get("namespaces").iter_texts();
    seen.chain([key.namespace.as_str()]).collect()
}

/// Returns the labels that say which operators an object belongs to.
pub(crate) fn component_labels(object: &Object) -> impl Iterator<Item = &str> {
    object.labels().map(|(name, _)| name).filter(|name| name.starts_with(COMPONENT_LABEL_PREFIX))
}

fn put_in(index: &mut Index, name: &str, key: &ObjectKey) {
    let keys = Arc::make_mut(index).entry(name.to_owned()).or_default();
    Arc::make_mut(keys).insert(key.clone());
}

fn take_out(index: &mut Index, name: &str, key: &ObjectKey) {
    let index = Arc::make_mut(index);
    if let Some(keys) = index.get_mut(name) {
        let keys = Arc::make_mut(keys);
        keys.remove(key);
        if keys.is_empty() {
            index.remove(name);
        }
    }
}
