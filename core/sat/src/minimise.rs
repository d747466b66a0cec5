//! Shrinking a set of assumptions that cannot hold together.
//!
//! The result depends on the problem and on the order of the set alone, not on what the solver has
//! done before, as long as the budget suffices. It is minimal, not the smallest one.

use crate::answer::Answer;
use crate::budget::Budget;
use crate::literal::Literal;
use crate::solver::Solver;

/// A set of assumptions that cannot hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised {
    /// The assumptions, in the order given.
    pub literals: Vec<Literal>,
    /// Whether none of them can be left out; false when the budget ended the work early.
    pub minimal: bool,
}

/// Shrinks an unsatisfiable set of assumptions until no member can be left out.
///
/// Later members are tried first, so that earlier ones are kept where there is a choice.
pub fn minimise(solver: &mut Solver, core: Vec<Literal>, budget: &mut Budget) -> Minimised {
    let mut literals = core;
    // A subset known to be unsatisfiable: a member outside of it can go without a search.
    let mut known = literals.clone();
    known.sort_unstable();
    for place in (0..literals.len()).rev() {
        // A search may end with the last of the budget and still have its answer.
        if budget.remaining() == 0 {
            return Minimised { literals, minimal: false };
        }
        let candidate = literals.remove(place);
        if known.binary_search(&candidate).is_err() {
            continue;
        }
        match solver.satisfy(&literals, budget) {
            Answer::Unsatisfiable(core) => {
                known = core;
                known.sort_unstable();
            }
            Answer::Satisfiable(_) => literals.insert(place, candidate),
            Answer::Spent => {
                literals.insert(place, candidate);
                return Minimised { literals, minimal: false };
            }
        }
    }
    Minimised { literals, minimal: true }
}

/// Shrinks assumptions that [`Solver::refute`] refutes until it would not refute them without any
/// one of them; later members are tried first.
///
/// The result may have members that a search could do without.
pub fn minimise_refutation(
    solver: &mut Solver,
    core: Vec<Literal>,
    budget: &mut Budget,
) -> Minimised {
    let mut literals = core;
    for place in (0..literals.len()).rev() {
        // A smaller set that was blamed may have lost several of the later members at once.
        let Some(candidate) = literals.get(place).copied() else { continue };
        literals.remove(place);
        match solver.refute(&literals) {
            Some(mut core) => {
                core.sort_unstable();
                literals.retain(|literal| core.binary_search(literal).is_ok());
            }
            None => literals.insert(place, candidate),
        }
        if !solver.charge(budget) {
            return Minimised { literals, minimal: false };
        }
    }
    Minimised { literals, minimal: true }
}
