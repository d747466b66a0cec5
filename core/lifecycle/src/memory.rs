//! Answers that are kept from one decision to the next.
//!
//! They change how long a decision takes, and nothing else.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    exhausted: Arc<Mutex<ExhaustedResolutions>>,
}

/// Limits the exhausted resolutions that are kept for one namespace. A decision resolves again when it holds
/// a Subscription back, and decisions of other namespaces resolve this one with the steps they have left; so
/// one world needs several.
const MAX_EXHAUSTED_PER_NAMESPACE: usize = 4;

/// Limits the operators that all exhausted resolutions name: some 500 bytes each, 16 MiB in all.
const MAX_EXHAUSTED_WEIGHT: usize = 1 << 15;

/// Resolutions that spent their budget, by namespace.
#[derive(Debug, Default)]
struct ExhaustedResolutions {
    by_namespace: BTreeMap<String, Vec<Exhausted>>,
    /// Counts accesses, to find the resolution that was not used for the longest time.
    accesses: u64,
}

/// A resolution that spent its budget.
#[derive(Debug, Clone)]
struct Exhausted {
    /// A digest of everything that the resolution rests on.
    inputs: String,
    resolution: Resolution,
    steps: u64,
    last_access: u64,
}

impl ExhaustedResolutions {
    fn has(&self, namespace: &str) -> bool {
        self.by_namespace.contains_key(namespace)
    }

    fn get(&mut self, namespace: &str, inputs: &str) -> Option<Exhausted> {
        self.accesses += 1;
        let kept = self.by_namespace.get_mut(namespace)?;
        let found = kept.iter_mut().find(|exhausted| exhausted.inputs == inputs)?;
        found.last_access = self.accesses;
        Some(found.clone())
    }

    fn insert(&mut self, namespace: &str, inputs: String, resolution: Resolution, steps: u64) {
        self.accesses += 1;
        let last_access = self.accesses;
        let kept = self.by_namespace.entry(namespace.to_owned()).or_default();
        kept.push(Exhausted { inputs, resolution, steps, last_access });
        if kept.len() > MAX_EXHAUSTED_PER_NAMESPACE {
            forget_oldest(kept);
        }
        let weight = |kept: &Vec<Exhausted>| kept.iter().map(Exhausted::weight).sum::<usize>();
        while self.by_namespace.values().map(weight).sum::<usize>() > MAX_EXHAUSTED_WEIGHT {
            let oldest = |kept: &Vec<Exhausted>| kept.iter().map(|one| one.last_access).min();
            let next = self.by_namespace.iter().min_by_key(|(_, kept)| oldest(kept));
            let Some(name) = next.map(|(name, _)| name.clone()) else { return };
            if let Some(kept) = self.by_namespace.get_mut(&name) {
                forget_oldest(kept);
            }
            self.by_namespace.retain(|_, kept| !kept.is_empty());
        }
    }
}

fn forget_oldest(kept: &mut Vec<Exhausted>) {
    let oldest = kept.iter().enumerate().min_by_key(|(_, exhausted)| exhausted.last_access);
    if let Some(oldest) = oldest.map(|(place, _)| place) {
        kept.remove(oldest);
    }
}

impl Exhausted {
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
    /// Resolves, unless the same inputs spent the whole budget before: then the answer is the same.
    pub(crate) fn resolve(
        &self,
        world: &World<'_>,
        universe: &Universe<'_>,
        requests: &[Request],
        semantics: &Semantics,
        budget: &mut Budget,
    ) -> Resolution {
        let left = budget.steps_left();
        let inputs = || digest(world, universe, requests, semantics, left);
        if self.lock().has(&universe.namespace) {
            let inputs = inputs();
            if let Some(known) = self.lock().get(&universe.namespace, &inputs) {
                budget.charge_cut(known.steps);
                return known.resolution;
            }
        }
        let resolution = resolve(universe, requests, semantics, budget);
        let is_exhausted = resolution
            .parts
            .iter()
            .any(|part| matches!(part.result, Err(Failure::TooExpensive(_))));
        if is_exhausted {
            let steps = left - budget.steps_left();
            self.lock().insert(&universe.namespace, inputs(), resolution.clone(), steps);
        }
        resolution
    }

    fn lock(&self) -> MutexGuard<'_, ExhaustedResolutions> {
        self.exhausted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a digest of everything that a resolution rests on. Catalogs are named by their digests.
fn digest(
    world: &World<'_>,
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    steps: u64,
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
         {semantics:?} {limits:?} {steps}"
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
        let mut exhausted = ExhaustedResolutions::default();
        for number in 0..MAX_EXHAUSTED_PER_NAMESPACE {
            exhausted.insert("shop", number.to_string(), resolution(0), 10);
        }
        exhausted.insert("other", "0".to_owned(), resolution(0), 20);
        assert_eq!(exhausted.get("shop", "0").map(|one| one.steps), Some(10));
        // The one that was not used for the longest time makes room.
        exhausted.insert("shop", "new".to_owned(), resolution(0), 30);
        assert!(exhausted.get("shop", "1").is_none());
        assert!(exhausted.get("shop", "0").is_some() && exhausted.get("shop", "new").is_some());
        assert_eq!(exhausted.get("other", "0").map(|one| one.steps), Some(20));
    }

    #[test]
    fn large_resolutions_make_older_ones_go() {
        let mut exhausted = ExhaustedResolutions::default();
        for name in ["a", "b", "c"] {
            exhausted.insert(name, "0".to_owned(), resolution(MAX_EXHAUSTED_WEIGHT / 2 - 10), 10);
        }
        assert!(!exhausted.has("a") && exhausted.has("b") && exhausted.has("c"));
        exhausted.insert("d", "0".to_owned(), resolution(MAX_EXHAUSTED_WEIGHT), 10);
        assert!(exhausted.by_namespace.is_empty());
    }
}
