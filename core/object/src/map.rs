//! Named values, sorted by name.
//!
//! A cluster's definitions are made of many thousands of maps with two or three entries each, and all of them
//! are kept in memory: a sorted list takes a fifth of what a tree would.

use std::{fmt, mem, sync::Arc};

use crate::Value;

static ABSENT: Value = Value::Null;

/// Holds named values, sorted by name.
#[derive(Clone, Default)]
pub struct Map {
    entries: Arc<Vec<(Arc<str>, Value)>>,
}

impl Map {
    /// Makes a map of entries in any order; the last of several equal names wins.
    pub(crate) fn of(mut entries: Vec<(Arc<str>, Value)>) -> Self {
        if !entries.is_sorted_by(|(left, _), (right, _)| left < right) {
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            entries.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    mem::swap(later, earlier);
                }
                is_same
            });
        }
        entries.shrink_to_fit();
        Self { entries: Arc::new(entries) }
    }

    /// Tells whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, sorted by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the value of a name, or `null`.
    pub fn get(&self, name: &str) -> &Value {
        self.find(name).ok().and_then(|at| self.entries.get(at)).map_or(&ABSENT, |(_, value)| value)
    }

    /// Tells whether a name is there, also with `null`.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Puts a value under a name.
    pub fn insert(&mut self, name: impl AsRef<str>, value: impl Into<Value>) {
        *self.place(name.as_ref()) = value.into();
    }

    /// Takes an entry away.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.find(name).ok()?;
        Some(Arc::make_mut(&mut self.entries).remove(at).1)
    }

    /// Returns the place of a name to change, `null` at first.
    pub fn place(&mut self, name: &str) -> &mut Value {
        let found = self.find(name);
        let entries = Arc::make_mut(&mut self.entries);
        let at = found.unwrap_or_else(|at| {
            entries.insert(at, (name.into(), Value::Null));
            at
        });
        &mut entries[at].1
    }

    /// Keeps the entries that are wanted.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&str, &Value) -> bool) {
        Arc::make_mut(&mut self.entries).retain(|(name, value)| is_wanted(name, value));
    }

    /// Returns where a name is, or where it would be.
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(known, _)| (**known).cmp(name))
    }
}

/// What is shared is equal without a look.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries) || self.entries == other.entries
    }
}

impl<K: AsRef<str>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let entries = entries.into_iter().map(|(name, value)| (name.as_ref().into(), value));
        Self::of(entries.collect())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Map(self.clone()), formatter)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A game of random moves, against the map that everybody knows.
    #[test]
    fn it_is_the_map_that_everybody_knows() {
        let mut state: u64 = 7;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let mut entries: Vec<(String, Value)> = Vec::new();
            for _ in 0..draw(8) {
                entries.push((format!("n{}", draw(6)), Value::Integer(draw(100).cast_signed())));
            }
            let mut known: BTreeMap<String, Value> = entries.iter().cloned().collect();
            let mut map: Map = entries.into_iter().collect();
            for _ in 0..30 {
                let (name, value) =
                    (format!("n{}", draw(9)), Value::Integer(draw(100).cast_signed()));
                match draw(5) {
                    0 => assert_eq!(map.remove(&name), known.remove(&name)),
                    1 => assert_eq!(map.place(&name), known.entry(name).or_default()),
                    2 => assert_eq!(map.get(&name), known.get(&name).unwrap_or(&Value::Null)),
                    3 if draw(10) == 0 => {
                        map.retain(|kept, _| *kept < *name);
                        known.retain(|kept, _| *kept < name);
                    }
                    _ => {
                        map.insert(&name, value.clone());
                        known.insert(name, value);
                    }
                }
                assert!(map.iter().eq(known.iter().map(|(name, value)| (name.as_str(), value))));
                assert_eq!((map.len(), map.is_empty()), (known.len(), known.is_empty()));
            }
        }
    }
}
