//! The entries of a JSON object, sorted by key.
//!
//! Document order is not kept: no reader of properties may depend on it.

use std::fmt;
use std::sync::Arc;

use super::Json;

/// Holds the entries of a JSON object, each key once.
#[derive(Clone, Default)]
pub struct JsonObject {
    entries: Arc<[(String, Json)]>,
}

impl JsonObject {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let found = self.entries.binary_search_by(|(candidate, _)| candidate.as_str().cmp(key));
        found.ok().map(|index| &self.entries[index].1)
    }

    /// Returns the entry at a position in key order.
    pub fn entry(&self, index: usize) -> Option<(&str, &Json)> {
        self.entries.get(index).map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the entries in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> + ExactSizeIterator {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Json> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(super) fn has_keys_of(&self, other: &Self) -> bool {
        let keys = |object: &Self| object.entries.len();
        keys(self) == keys(other)
            && self
                .entries
                .iter()
                .zip(other.entries.iter())
                .all(|((left, _), (right, _))| left == right)
    }

    fn release_children(&mut self, orphans: &mut Vec<Json>) {
        if let Some(entries) = Arc::get_mut(&mut self.entries) {
            let nested = entries.iter_mut().filter(|(_, value)| value.has_children());
            orphans.extend(nested.map(|(_, value)| std::mem::replace(value, Json::Null)));
        }
    }
}

impl FromIterator<(String, Json)> for JsonObject {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(entries: T) -> Self {
        let mut sorted: Vec<(String, Json)> = entries.into_iter().collect();
        // A stable sort keeps equal keys in document order, so that the last one can win.
        sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut unique: Vec<(String, Json)> = Vec::with_capacity(sorted.len());
        for entry in sorted {
            match unique.last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                Some(_) | None => unique.push(entry),
            }
        }
        Self { entries: unique.into() }
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Json::Object(self.clone()), formatter)
    }
}

impl Drop for JsonObject {
    fn drop(&mut self) {
        let mut orphans = Vec::new();
        self.release_children(&mut orphans);
        drop_all(orphans);
    }
}

/// Drops values level by level: each one is emptied before it goes, so no drop nests in another.
pub(super) fn drop_all(mut orphans: Vec<Json>) {
    while let Some(mut orphan) = orphans.pop() {
        match &mut orphan {
            Json::Array(array) => array.release_children(&mut orphans),
            Json::Object(object) => object.release_children(&mut orphans),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
}
