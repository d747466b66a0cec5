//! Answers of rules, kept so that the same rule is not evaluated again for the same properties.
//!
//! An answer depends on the text of the rule and on the properties alone, so it holds across
//! bundles, catalogs and decisions. The steps of the evaluation are kept beside it: a caller that
//! charges them for a cached answer, too, gets outcomes that do not depend on what is cached.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limits the answers that are kept: a hundred bytes each with their keys, so 26 MB in all, and
/// thirty rules about every bundle of the community catalog.
pub const MAX_CACHED_ANSWERS: usize = 1 << 18;

/// A digest of the properties of one bundle: types and texts of values, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PropertiesDigest(Digest);

/// Two hashes under different secret keys: nobody can prepare two texts with the same digest.
type Digest = [u64; 2];

/// What a rule answered, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedAnswer {
    /// Whether the rule is fulfilled. A rule without an answer is not.
    pub is_fulfilled: bool,
    /// The steps of the evaluation.
    pub steps: u32,
}

/// Answers of rules by the texts of rules and the properties they were asked about.
///
/// Clones share their content, and threads may share a clone. What is kept changes how long
/// something takes and nothing else.
#[derive(Clone)]
pub struct ConstraintCache {
    keys: [RandomState; 2],
    answers: Arc<Mutex<HashMap<(Digest, Digest), CachedAnswer>>>,
}

impl ConstraintCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self { keys: [RandomState::new(), RandomState::new()], answers: Arc::default() }
    }

    /// Returns the digest of properties, given as types and texts of values in order.
    pub fn digest<'p>(
        &self,
        properties: impl Iterator<Item = (&'p str, &'p str)>,
    ) -> PropertiesDigest {
        let mut hashers = self.keys.each_ref().map(BuildHasher::build_hasher);
        for property in properties {
            hashers.iter_mut().for_each(|hasher| property.hash(hasher));
        }
        PropertiesDigest(hashers.map(|hasher| hasher.finish()))
    }

    /// Returns the answer of a rule about properties, if it is kept.
    pub fn get(&self, rule: &str, properties: PropertiesDigest) -> Option<CachedAnswer> {
        let key = (self.rule(rule), properties.0);
        self.lock().get(&key).copied()
    }

    /// Keeps an answer. When there is no room, all others are forgotten first.
    pub fn insert(&self, rule: &str, properties: PropertiesDigest, answer: CachedAnswer) {
        let key = (self.rule(rule), properties.0);
        let mut answers = self.lock();
        if answers.len() >= MAX_CACHED_ANSWERS {
            answers.clear();
        }
        answers.insert(key, answer);
    }

    /// Returns how many answers are kept.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns `true` if no answer is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn rule(&self, text: &str) -> Digest {
        self.keys.each_ref().map(|key| key.hash_one(text))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Digest, Digest), CachedAnswer>> {
        // An answer is complete or absent, whatever happened to another holder of the lock.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ConstraintCache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ConstraintCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ConstraintCache({} answers)", self.len())
    }
}
