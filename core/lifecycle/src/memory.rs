//! Answers that are kept from one decision to the next.
//!
//! They change how long a decision takes, and nothing else.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use operon_object::sha256_hex;
use operon_resolve::{
    Budget, ConstraintCache, Content, Failure, Request, Resolution, Semantics, Universe, resolve,
};

use crate::World;

/// Answers that are kept from one decision to the next. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Answers of constraint rules.
    pub(crate) rules: ConstraintCache,
    /// The last resolution of each namespace that spent its whole budget.
    exhausted: Arc<Mutex<BTreeMap<String, Exhausted>>>,
}

/// A resolution that spent its budget.
#[derive(Debug, Clone)]
struct Exhausted {
    /// A digest of everything that the resolution rests on.
    inputs: String,
    resolution: Resolution,
    steps: u64,
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
        let known = self.lock().get(&universe.namespace).cloned();
        if let Some(known) = known
            && known.inputs == inputs()
        {
            budget.charge_cut(known.steps);
            return known.resolution;
        }
        let resolution = resolve(universe, requests, semantics, budget);
        let is_exhausted = resolution
            .parts
            .iter()
            .any(|part| matches!(part.result, Err(Failure::TooExpensive(_))));
        if is_exhausted {
            let steps = left - budget.steps_left();
            let exhausted = Exhausted { inputs: inputs(), resolution: resolution.clone(), steps };
            self.lock().insert(universe.namespace.clone(), exhausted);
        } else {
            self.lock().remove(&universe.namespace);
        }
        resolution
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Exhausted>> {
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
