//! What a search gives back.
//!
//! An answer never says why: explanations are made by the caller, who knows what the literals mean.

use crate::literal::{Literal, Variable};

/// Says how a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything can hold together, for example like this.
    Satisfiable(Solution),
    /// These of the assumptions cannot hold together; none of them when the problem has no solution
    /// whatever is assumed. They are in the order in which they were assumed.
    Unsatisfiable(Vec<Literal>),
    /// The budget ended before the search did.
    Spent,
}

/// Holds the variables that are true; all others are false.
///
/// Variables that were assumed and serve as the guard of some constraint are true as well but are
/// not repeated here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The true variables in the order of choosing.
    pub chosen: Vec<Variable>,
}

/// Counts what a solver has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Contradictions met and analysed.
    pub conflicts: u64,
    /// Assignments made by choice.
    pub decisions: u64,
    /// Assignments made because a constraint left no other way.
    pub propagations: u64,
    /// Clauses learnt from conflicts.
    pub learnt: u64,
    /// Learnt clauses forgotten again.
    pub forgotten: u64,
    /// Searches in free order that an ordered search asked for because it did not get on.
    pub fallback_solves: u64,
    /// Contradictions found by counting wishes against places.
    pub counting_proofs: u64,
}
