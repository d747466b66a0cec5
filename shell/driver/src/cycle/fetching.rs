//! Reads catalogs and the contents of bundles.

use std::{collections::BTreeSet, sync::Arc};

use operon_kinds::CatalogSource;
use operon_lifecycle::{BundleKey, BundleState, Objects};
use operon_object::{Object, Timestamp, known};

use super::Driver;
use crate::{CatalogRequest, Catalogs, Cluster};

impl<C: Cluster, S: Catalogs> Driver<C, S> {
    /// Requests contents again whose retry is due. What is known of them holds until something else is.
    pub(super) fn ask_again(&mut self, now: Timestamp) {
        for key in self.asks.due(now) {
            self.ask(key, now);
        }
    }

    /// Forgets the contents that no namespace needs now: those of operators that are installed would be most
    /// of what is kept in memory.
    pub(super) fn forget_contents(&mut self) {
        let used: BTreeSet<&BundleKey> = self.used.values().flatten().collect();
        if self.bundles.keys().any(|key| !used.contains(key)) {
            Arc::make_mut(&mut self.bundles).retain(|key, _| used.contains(key));
        }
        self.asks.retain(|key| self.bundles.contains_key(key));
    }

    /// Asks for the contents of a bundle.
    pub(crate) fn ask(&mut self, key: BundleKey, now: Timestamp) {
        let state = self.catalogs.bundle(&key);
        let known = self.bundles.get(&key);
        if !known.is_some_and(|known| says_the_same(known, &state)) {
            let wanting = self.wanted.iter().filter(|(_, wanted)| wanted.contains(&key));
            wanting.for_each(|(namespace, _)| self.touched.touch_namespace(namespace));
        }
        self.note(key, state, now);
    }

    /// Remembers what is known of the contents of a bundle, and when to ask again.
    pub(super) fn note(&mut self, key: BundleKey, state: BundleState, now: Timestamp) {
        self.asks.note(&key, &state, now);
        Arc::make_mut(&mut self.bundles).insert(key, state);
    }

    pub(super) fn is_fetching(&self) -> bool {
        let is_pending = |state: &BundleState| matches!(state, BundleState::Pending { .. });
        self.states.values().any(|state| state.is_being_read)
            || self.bundles.values().any(is_pending)
    }

    pub(super) fn read_catalogs(&mut self, now: Timestamp) {
        let objects = &self.picture.objects;
        let requests: Vec<CatalogRequest<'_>> = objects
            .all(&known::CATALOG_SOURCE)
            .filter(|object| CatalogSource::read(object).problem().is_none())
            .map(|object| request(objects, object))
            .collect();
        let states = self.catalogs.read(&requests, now);
        let is_same = states.len() == self.states.len()
            && states.iter().all(|(name, state)| {
                self.states.get(name).is_some_and(|known| {
                    known.digest == state.digest
                        && known.problem == state.problem
                        && known.polled == state.polled
                })
            });
        if is_same {
            let mut pairs = self.states.values().zip(states.values());
            if pairs.any(|(known, state)| known.is_being_read != state.is_being_read) {
                let known = Arc::make_mut(&mut self.states);
                for (known, state) in known.values_mut().zip(states.values()) {
                    known.is_being_read = state.is_being_read;
                }
            }
            return;
        }
        self.touched.touch_everything();
        // Contents are named by the digest of their catalog; those of others are not asked for again.
        Arc::make_mut(&mut self.bundles).retain(|key, _| {
            states.get(&key.source).is_some_and(|state| state.digest == key.digest)
        });
        self.asks.retain(|key| self.bundles.contains_key(key));
        self.states = Arc::new(states);
    }
}

/// Puts the objects that a CatalogSource names beside it.
fn request<'o>(objects: &'o Objects, source: &'o Object) -> CatalogRequest<'o> {
    let wishes = CatalogSource::read(source);
    let namespace = source.namespace();
    let secret = |name| objects.get(&known::SECRET, namespace, name);
    CatalogRequest {
        source,
        config_map: objects.get(&known::CONFIG_MAP, namespace, wishes.config_map()),
        pull_secrets: wishes.pull_secrets().filter_map(secret).collect(),
    }
}

/// Tells whether there is nothing new for a decision. That something is tried again is nothing new.
fn says_the_same(known: &BundleState, state: &BundleState) -> bool {
    match (known, state) {
        (BundleState::Pending { message: known }, BundleState::Pending { message }) => {
            known == message
        }
        (BundleState::Ready(known), BundleState::Ready(contents)) => Arc::ptr_eq(known, contents),
        (
            BundleState::Failed { reason: known, message: said, is_retried: _ },
            BundleState::Failed { reason, message, is_retried: _ },
        ) => (known, said) == (reason, message),
        (BundleState::Pending { .. } | BundleState::Ready(_) | BundleState::Failed { .. }, _) => {
            false
        }
    }
}
