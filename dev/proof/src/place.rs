//! Where proofs run: on rigs of their own, side by side, or on one that runs already.

use std::{
    env,
    sync::{Mutex, PoisonError},
    thread,
};

use operon_parts::{Part, leave_out};
use operon_rig::{Rig, RigError, RigOptions, rig_for_test};

/// Returns rigs for a proof, or none, and says why it is left out.
///
/// A proof takes minutes and is wanted by name: `OPERON_PROOF=all` brings rigs up for it,
/// `OPERON_PROOF_RIG=<name>` uses one that runs already and leaves it running.
pub fn rigs_for_proof(name: &str, count: usize) -> Vec<Rig> {
    if let Ok(running) = env::var("OPERON_PROOF_RIG") {
        return vec![Rig::find(&running).expect("the rig that was named")];
    }
    if env::var_os("OPERON_PROOF").is_none() {
        let reason = "it takes minutes; OPERON_PROOF=all cargo test -p operon-proof";
        leave_out(Part::Proof, reason);
        return Vec::new();
    }
    let bring_up = |number: usize| rig_for_test(RigOptions::cluster(&format!("{name}{number}")));
    // The first finds out, and says once, whether a rig can run here.
    let Some(first) = bring_up(1).expect("a rig") else { return Vec::new() };
    let others: Vec<Result<Option<Rig>, RigError>> = thread::scope(|scope| {
        let started: Vec<_> =
            (2..=count).map(|number| scope.spawn(move || bring_up(number))).collect();
        started.into_iter().map(|rig| rig.join().expect("no panic")).collect()
    });
    let others = others.into_iter().filter_map(|rig| rig.expect("a rig"));
    [first].into_iter().chain(others).collect()
}

/// What is still to be proven, and what failed; shared by those who do it.
#[derive(Debug)]
pub struct Queue<'t, T> {
    waiting: Mutex<&'t [T]>,
    failures: Mutex<Vec<String>>,
}

impl<'t, T> Queue<'t, T> {
    /// Takes the next one.
    pub fn next(&self) -> Option<&'t T> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = waiting.split_first()?;
        *waiting = rest;
        Some(first)
    }

    /// Prints and notes what failed.
    pub fn fail(&self, failure: String) {
        println!("{failure}");
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }
}

/// Shares things out to rigs, one at a time to each, in the network of each; returns what failed.
pub fn side_by_side<T: Sync>(
    rigs: &[Rig],
    things: &[T],
    work: impl Fn(&Rig, &Queue<'_, T>) + Sync,
) -> Vec<String> {
    let queue = Queue { waiting: Mutex::new(things), failures: Mutex::default() };
    thread::scope(|scope| {
        for rig in rigs {
            let (queue, work) = (&queue, &work);
            scope.spawn(move || {
                rig.inside(|| work(rig, queue)).expect("the network of the rig");
            });
        }
    });
    queue.failures.into_inner().unwrap_or_else(PoisonError::into_inner)
}
