//! Answers that are kept from one decision to the next.
//!
//! They change how long a decision takes, and nothing else.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use operon_object::sha256_hex;
use operon_resolve::{
    Budget, ConstraintCache, Content, Fact, Failure, Part, Request, Resolution, Semantics,
    Universe, resolve,
};

use crate::World;

/// Answers that are kept from one decision to the next. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Answers of constraint rules.
    pub(crate) rules: ConstraintCache,
    remembered: Arc<Mutex<RememberedResolutions>>,
    steps_worked: Arc<AtomicU64>,
}

/// Limits the remembered resolutions that are kept for one namespace. A decision resolves again when it holds
/// a Subscription back, and decisions of other namespaces resolve this one with the steps they have left; so
/// one world needs several.
const MAX_REMEMBERED_PER_NAMESPACE: usize = 4;

/// Limits the operators that all remembered resolutions name: some 500 bytes each, 16 MiB in all.
const MAX_REMEMBERED_WEIGHT: usize = 1 << 15;

/// Resolutions that were cut for lack of steps or bytes, by namespace: those that are too expensive, and
/// conflicts of which not everything was found out.
#[derive(Debug, Default)]
struct RememberedResolutions {
    by_namespace: BTreeMap<String, Vec<Remembered>>,
    /// Counts accesses, to find the resolution that was not used for the longest time.
    accesses: u64,
}

/// A resolution that was cut.
#[derive(Debug, Clone)]
struct Remembered {
    /// A digest of everything that the resolution rests on.
    inputs: String,
    resolution: Resolution,
    steps: u64,
    last_access: u64,
}

impl RememberedResolutions {
    fn has(&self, namespace: &str) -> bool {
        self.by_namespace.contains_key(namespace)
    }

    fn get(&mut self, namespace: &str, inputs: &str) -> Option<Remembered> {
        self.accesses += 1;
        let kept = self.by_namespace.get_mut(namespace)?;
        let found = kept.iter_mut().find(|remembered| remembered.inputs == inputs)?;
        found.last_access = self.accesses;
        Some(found.clone())
    }

    fn insert(&mut self, namespace: &str, inputs: String, resolution: Resolution, steps: u64) {
        self.accesses += 1;
        let last_access = self.accesses;
        let kept = self.by_namespace.entry(namespace.to_owned()).or_default();
        kept.push(Remembered { inputs, resolution, steps, last_access });
        if kept.len() > MAX_REMEMBERED_PER_NAMESPACE {
            forget_oldest(kept);
        }
        let weight = |kept: &Vec<Remembered>| kept.iter().map(Remembered::weight).sum::<usize>();
        while self.by_namespace.values().map(weight).sum::<usize>() > MAX_REMEMBERED_WEIGHT {
            let oldest = |kept: &Vec<Remembered>| kept.iter().map(|one| one.last_access).min();
            let next = self.by_namespace.iter().min_by_key(|(_, kept)| oldest(kept));
            let Some(name) = next.map(|(name, _)| name.clone()) else { return };
            if let Some(kept) = self.by_namespace.get_mut(&name) {
                forget_oldest(kept);
            }
            self.by_namespace.retain(|_, kept| !kept.is_empty());
        }
    }
}

fn forget_oldest(kept: &mut Vec<Remembered>) {
    let oldest = kept.iter().enumerate().min_by_key(|(_, remembered)| remembered.last_access);
    if let Some(oldest) = oldest.map(|(place, _)| place) {
        kept.remove(oldest);
    }
}

impl Remembered {
    /// Counts the operators that the resolution names, and itself.
    fn weight(&self) -> usize {
        let named = |part: &Part| match &part.result {
            Ok(answer) => answer.additions.len() + answer.kept.len(),
            Err(Failure::Conflicts(conflicts)) => {
                conflicts.iter().flat_map(|conflict| &conflict.facts).map(Fact::operators).sum()
            }
            Err(Failure::Error(_) | Failure::TooExpensive(_) | Failure::Defect(_)) => 1,
        };
        1 + self.resolution.parts.iter().map(named).sum::<usize>()
    }
}

impl Memory {
    /// Returns the steps that resolutions took which were not remembered.
    pub fn steps_worked(&self) -> u64 {
        self.steps_worked.load(Ordering::Relaxed)
    }

    /// Resolves, unless a resolution with the same inputs was cut before: then the answer is the same.
    pub(crate) fn resolve(
        &self,
        world: &World<'_>,
        universe: &Universe<'_>,
        requests: &[Request],
        semantics: &Semantics,
        budget: &mut Budget,
    ) -> Resolution {
        let left = budget.steps_left();
        // A budget that was cut before does not say whether this resolution was.
        let was_cut = budget.was_cut();
        let inputs = || digest(world, universe, requests, semantics, left, was_cut);
        if self.lock().has(&universe.namespace) {
            let inputs = inputs();
            if let Some(known) = self.lock().get(&universe.namespace, &inputs) {
                budget.charge_cut(known.steps);
                return known.resolution;
            }
        }
        let resolution = resolve(universe, requests, semantics, budget);
        let steps = left - budget.steps_left();
        self.steps_worked.fetch_add(steps, Ordering::Relaxed);
        if budget.was_cut() {
            self.lock().insert(&universe.namespace, inputs(), resolution.clone(), steps);
        }
        resolution
    }

    fn lock(&self) -> MutexGuard<'_, RememberedResolutions> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a digest of everything that a resolution rests on. Catalogs are named by their digests.
fn digest(
    world: &World<'_>,
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    steps: u64,
    was_cut: bool,
) -> String {
    let Universe { namespace, sources, installed, fail_forward, native_apis } = universe;
    let sources: Vec<_> = sources
        .iter()
        .map(|source| {
            let content = match &source.content {
                Content::Ready(_) => {
                    world.catalogs.get(&source.name).map_or("", |state| state.digest.as_str())
                }
                Content::Unavailable(reason) => reason,
            };
            (&source.name, source.priority, content)
        })
        .collect();
    let limits = &world.settings.limits;
    sha256_hex(format!(
        "{namespace} {sources:?} {installed:?} {fail_forward} {native_apis:?} {requests:?} \
         {semantics:?} {limits:?} {steps} {was_cut}"
    ))
}

#[cfg(test)]
mod tests {
    use operon_resolve::{Effort, Expense, Kept, Spent};

    use super::*;

    /// Makes a resolution with a part that was too expensive, and one that keeps operators.
    fn resolution(kept: usize) -> Resolution {
        let part = |result| Part { requests: Vec::new(), installed: Vec::new(), result };
        let expense = Expense {
            bundle: "a.v1".to_owned(),
            need: String::new(),
            spent: Spent::Steps,
            limit: 10,
        };
        let operator = Kept {
            name: "b.v1".to_owned(),
            package: "b".to_owned(),
            version: "1.0.0".to_owned(),
            reasons: Vec::new(),
        };
        let answer = operon_resolve::Answer { kept: vec![operator; kept], ..Default::default() };
        let parts = vec![part(Err(Failure::TooExpensive(expense))), part(Ok(answer))];
        Resolution { parts, notices: Vec::new(), effort: Effort::default() }
    }

    #[test]
    fn several_inputs_of_a_namespace_are_kept() {
        let mut remembered = RememberedResolutions::default();
        for number in 0..MAX_REMEMBERED_PER_NAMESPACE {
            remembered.insert("shop", number.to_string(), resolution(0), 10);
        }
        remembered.insert("other", "0".to_owned(), resolution(0), 20);
        assert_eq!(remembered.get("shop", "0").map(|one| one.steps), Some(10));
        // The one that was not used for the longest time makes room.
        remembered.insert("shop", "new".to_owned(), resolution(0), 30);
        assert!(remembered.get("shop", "1").is_none());
        assert!(remembered.get("shop", "0").is_some() && remembered.get("shop", "new").is_some());
        assert_eq!(remembered.get("other", "0").map(|one| one.steps), Some(20));
    }

    #[test]
    fn large_resolutions_make_older_ones_go() {
        let mut remembered = RememberedResolutions::default();
        for name in ["a", "b", "c"] {
            remembered.insert(name, "0".to_owned(), resolution(MAX_REMEMBERED_WEIGHT / 2 - 10), 10);
        }
        assert!(!remembered.has("a") && remembered.has("b") && remembered.has("c"));
        remembered.insert("d", "0".to_owned(), resolution(MAX_REMEMBERED_WEIGHT), 10);
        assert!(remembered.by_namespace.is_empty());
    }
}
