//! The objects, their indexes and their recent past.
//!
//! A store only does what a commit says; which commit a request makes is decided in drafts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use operon_object::{Kind, Object, ObjectKey, Value, known};

use crate::{Change, ChangeFilter, ChangeKind, Commit, Counters, ListFilter, registry::Registry};

/// Everything a server holds.
#[derive(Debug)]
pub(crate) struct Store {
    objects: BTreeMap<Kind, BTreeMap<Place, Object>>,
    /// Who has an owner with this identity.
    dependents: BTreeMap<String, BTreeSet<ObjectKey>>,
    /// Who has this identity.
    identities: BTreeMap<String, ObjectKey>,
    pub(crate) registry: Registry,
    pub(crate) revision: u64,
    pub(crate) counters: Counters,
    past: VecDeque<Past>,
    /// The latest revision that watchers can no longer ask beyond.
    forgotten: u64,
    history_limit: usize,
}

/// Where an object of a kind lies: namespace and name.
type Place = (String, String);

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) revision: u64,
    pub(crate) before: Option<Object>,
    pub(crate) after: Option<Object>,
}

impl Store {
    pub(crate) fn new(revision: u64, counters: Counters, history_limit: usize) -> Self {
        Self {
            objects: BTreeMap::new(),
            dependents: BTreeMap::new(),
            identities: BTreeMap::new(),
            registry: Registry::new(),
            revision,
            counters,
            past: VecDeque::new(),
            forgotten: revision,
            history_limit,
        }
    }

    pub(crate) fn object(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(&key.kind)?.get(&(key.namespace.clone(), key.name.clone()))
    }

    /// Returns every object, sorted by kind, namespace and name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Object> {
        self.objects.values().flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind, sorted by namespace and name.
    pub(crate) fn of_kind<'a>(&'a self, kind: &Kind) -> impl Iterator<Item = &'a Object> + use<'a> {
        self.objects.get(kind).into_iter().flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind in one namespace, sorted by name.
    pub(crate) fn of_namespace<'a>(
        &'a self,
        kind: &Kind,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        let namespace = namespace.to_owned();
        let from = (namespace.clone(), String::new());
        let places = self.objects.get(kind).into_iter();
        places
            .flat_map(move |objects| objects.range(from.clone()..))
            .take_while(move |((found, _), _)| *found == namespace)
            .map(|(_, object)| object)
    }

    /// Returns the objects of a kind that a filter wants.
    pub(crate) fn list(&self, kind: &Kind, filter: &ListFilter) -> Vec<&Object> {
        let is_wanted = |object: &&Object| {
            filter.name.as_ref().is_none_or(|name| object.name() == name)
                && filter.selector.matches(object)
        };
        match (filter.namespace.as_str(), &filter.name) {
            ("", _) => self.of_kind(kind).filter(is_wanted).collect(),
            (namespace, Some(name)) => {
                let found = self.object(&kind.key(namespace, name));
                found.into_iter().filter(is_wanted).collect()
            }
            (namespace, None) => self.of_namespace(kind, namespace).filter(is_wanted).collect(),
        }
    }

    /// Returns who has an owner with this identity.
    pub(crate) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectKey> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Returns who has this identity.
    pub(crate) fn with_uid(&self, uid: &str) -> Option<&Object> {
        self.identities.get(uid).and_then(|key| self.object(key))
    }

    /// Does what a commit says, and returns the changes it made.
    pub(crate) fn apply(&mut self, commit: &Commit) -> Vec<Past> {
        self.revision = commit.revision;
        self.counters = commit.counters;
        let mut changes = Vec::with_capacity(commit.writes.len());
        for (key, after) in &commit.writes {
            let before = self.put(key, after.as_ref());
            let past = |after| Past { revision: commit.revision, before: before.clone(), after };
            self.past.push_back(past(after.clone()));
            changes.push(past(after.clone()));
        }
        while self.past.len() > self.history_limit {
            let Some(oldest) = self.past.pop_front() else { break };
            // A revision with a forgotten change is forgotten as a whole.
            self.forgotten = oldest.revision;
        }
        changes
    }

    /// Stores an object or takes it away, and returns what was there.
    pub(crate) fn put(&mut self, key: &ObjectKey, after: Option<&Object>) -> Option<Object> {
        let place = (key.namespace.clone(), key.name.clone());
        let before = match after {
            Some(object) => {
                let objects = self.objects.entry(key.kind.clone()).or_default();
                objects.insert(place, object.clone())
            }
            None => self.objects.get_mut(&key.kind).and_then(|objects| objects.remove(&place)),
        };
        if key.kind == known::CUSTOM_RESOURCE_DEFINITION {
            self.registry.follow(&key.name, before.as_ref(), after);
        }
        if let Some(before) = &before {
            self.identities.remove(before.uid());
            for uid in owner_uids(before) {
                if let Some(keys) = self.dependents.get_mut(uid) {
                    keys.remove(key);
                    if keys.is_empty() {
                        self.dependents.remove(uid);
                    }
                }
            }
        }
        if let Some(after) = after {
            self.identities.insert(after.uid().to_owned(), key.clone());
            for uid in owner_uids(after) {
                self.dependents.entry(uid.to_owned()).or_default().insert(key.clone());
            }
        }
        before
    }

    /// Returns the changes after a revision, or nothing if some of them are forgotten.
    pub(crate) fn changes_since(
        &self,
        revision: u64,
        filter: &ChangeFilter,
    ) -> Option<Vec<Change>> {
        if revision < self.forgotten {
            return None;
        }
        let start = self.past.partition_point(|past| past.revision <= revision);
        Some(self.past.range(start..).filter_map(|past| self.show(past, filter)).collect())
    }

    fn show(&self, past: &Past, filter: &ChangeFilter) -> Option<Change> {
        let kind = past.after.as_ref().or(past.before.as_ref())?.kind();
        let spoken = filter.kinds.iter().find(|wanted| wanted.kind == kind);
        if spoken.is_none() && !filter.kinds.is_empty() {
            return None;
        }
        let passes = |object: &&Object| {
            let ListFilter { namespace, name, selector } = &filter.objects;
            (namespace.is_empty() || object.namespace() == namespace)
                && name.as_ref().is_none_or(|name| object.name() == name)
                && selector.matches(object)
        };
        let before = past.before.as_ref().filter(passes);
        let after = past.after.as_ref().filter(passes);
        let (kind, object) = match (before, after) {
            (None, None) => return None,
            (None, Some(after)) => (ChangeKind::Added, after.clone()),
            (Some(_), Some(after)) => (ChangeKind::Modified, after.clone()),
            // What no longer passes is shown as it is now, what is gone as it last was.
            (Some(before), None) => {
                (ChangeKind::Deleted, past.after.as_ref().unwrap_or(before).clone())
            }
        };
        let mut object = object;
        object.set(&["metadata", "resourceVersion"], past.revision.to_string());
        if let Some(spoken) = spoken {
            object.set(&["apiVersion"], spoken.api_version());
        }
        Some(Change { kind, object, revision: past.revision })
    }
}

/// Returns the identities of an object's owners.
pub(crate) fn owner_uids(object: &Object) -> impl Iterator<Item = &str> {
    let owners = object.metadata("ownerReferences").elements().iter();
    owners.map(|owner: &Value| owner.get("uid").str())
}
