//! A change in the making.
//!
//! A draft sees the store through what it has written itself; the store hears of it only when the
//! commit it ends as is applied. Nothing is checked here.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, ObjectKey, Timestamp, sha256_hex};

use crate::{
    Commit, Counters, Settings,
    registry::{Registry, Spoken},
    store::{Store, owner_uids},
};

/// The letters of generated names: no vowels, so no words, and nothing that looks alike.
const SUFFIX_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// What a request or a controller step wants to write.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) now: Timestamp,
    pub(crate) settings: &'a Settings,
    store: &'a Store,
    writes: BTreeMap<ObjectKey, Option<Object>>,
    counters: Counters,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(store: &'a Store, settings: &'a Settings, now: Timestamp) -> Self {
        Self { now, settings, store, writes: BTreeMap::new(), counters: store.counters }
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    pub(crate) fn registry(&self) -> &'a Registry {
        &self.store.registry
    }

    /// Returns an object as it will be.
    pub(crate) fn object(&self, key: &ObjectKey) -> Option<&Object> {
        match self.writes.get(key) {
            Some(written) => written.as_ref(),
            None => self.store.object(key),
        }
    }

    /// Returns who will have an owner with this identity.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<ObjectKey> {
        let mut keys: BTreeSet<ObjectKey> = self.store.dependents(uid).cloned().collect();
        for (key, written) in &self.writes {
            let depends = |object: &Object| owner_uids(object).any(|owner| owner == uid);
            if written.as_ref().is_some_and(depends) {
                keys.insert(key.clone());
            } else {
                keys.remove(key);
            }
        }
        keys.into_iter().collect()
    }

    /// Tells whether some object that will have an owner with this identity is as asked for; looks
    /// at no more of them than it must.
    pub(crate) fn any_dependent(&self, uid: &str, is_wanted: impl Fn(&Object) -> bool) -> bool {
        let fits =
            |object: &Object| owner_uids(object).any(|owner| owner == uid) && is_wanted(object);
        let mut stored = self.store.dependents(uid);
        stored.any(|key| self.object(key).is_some_and(fits))
            || self.writes.values().flatten().any(fits)
    }

    pub(crate) fn put(&mut self, object: Object) {
        self.writes.insert(object.key(), Some(object));
    }

    pub(crate) fn remove(&mut self, key: &ObjectKey) {
        self.writes.insert(key.clone(), None);
    }

    /// Counts the objects written so far.
    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }

    /// Gives a new identity away, in the form of a random UUID.
    pub(crate) fn next_uid(&mut self) -> String {
        self.counters.uids += 1;
        let digest = sha256_hex(format!("uid {}", self.counters.uids));
        let part = |range: std::ops::Range<usize>| digest.get(range).unwrap_or_default();
        format!(
            "{}-{}-4{}-a{}-{}",
            part(0..8),
            part(8..12),
            part(12..15),
            part(15..18),
            part(18..30)
        )
    }

    /// Returns the next five letters for a generated name.
    pub(crate) fn next_suffix(&mut self) -> String {
        self.counters.names += 1;
        let digest = sha256_hex(format!("name {}", self.counters.names));
        letters(&digest, 5)
    }

    /// Ends the draft; nothing if everything is as it was.
    pub(crate) fn finish(self) -> Option<Commit> {
        let Self { store, writes, counters, .. } = self;
        let revision = store.revision + 1;
        let mut changed = Vec::with_capacity(writes.len());
        for (key, mut after) in writes {
            if store.object(&key) == after.as_ref() {
                continue;
            }
            if let Some(object) = &mut after {
                object.metadata_mut().insert("resourceVersion", revision.to_string());
            }
            changed.push((key, after));
        }
        if changed.is_empty() {
            return None;
        }
        Some(Commit { revision, writes: changed, counters })
    }
}

/// Turns hexadecimal digits into letters that names may have.
pub(crate) fn letters(digest: &str, count: usize) -> String {
    let pairs = digest.as_bytes().chunks_exact(2).take(count);
    let letter = |pair: &[u8]| {
        let sum: usize =
            pair.iter().map(|byte| usize::from(*byte)).fold(0, |sum, byte| sum * 31 + byte);
        char::from(SUFFIX_LETTERS[sum % SUFFIX_LETTERS.len()])
    };
    pairs.map(letter).collect()
}

impl Draft<'_> {
    /// Returns the kind of an object that is stored.
    pub(crate) fn stored_kind(&self, object: &Object) -> Option<Spoken> {
        self.registry().stored(&object.kind())
    }
}
