//! Why there is no answer, for people: one sentence, the chain of reasons, and ways out.
//!
//! An explanation is a tree that is built once; every form it is shown in renders this tree. Nothing
//! is claimed that was not derived from the facts of the conflict, and a way out is called checked
//! only when resolving again with the change gave an answer.

mod describe;
mod fold;
mod known;
mod not_found;
mod prove;
mod render;
mod subject;
mod ways_out;

pub use self::{
    fold::{fold_operators, fold_versions},
    render::{MAX_LINE, render_line, render_text},
    ways_out::{Change, MAX_WAYS_OUT, MAX_WAYS_TRIED, WayOut},
};

use crate::budget::Budget;
use crate::conflict::{Conflict, Operator};
use crate::semantics::Semantics;
use crate::universe::{Request, Universe};

/// Why something cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The Subscriptions it is about; none when operators without one are in each other's way.
    pub requests: Vec<String>,
    /// The sentence that a person needs.
    pub headline: String,
    /// The chain of reasons.
    pub because: Vec<Because>,
    /// What could be done, the simplest first.
    pub ways_out: Vec<WayOut>,
}

/// A step of a chain of reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Because {
    /// What kind of step it is.
    pub kind: BecauseKind,
    /// The step in words.
    pub text: String,
    /// The author's words about it; may be empty.
    pub message: String,
    /// The operators it speaks of.
    pub operators: Vec<Operator>,
    /// Why it is so.
    pub because: Vec<Because>,
}

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BecauseKind {
    /// Versions that share the reasons below.
    Versions,
    /// Something is needed.
    Needs,
    /// Nothing meets a need.
    Nothing,
    /// Something is excluded by another operator's constraint.
    Excluded,
    /// Two operators may not run side by side.
    Rival,
    /// Something runs or is asked for, and so must be there.
    Given,
    /// A bundle must not be installed.
    Deprecated,
    /// A bundle cannot be used.
    Malformed,
    /// Something that is named does not exist.
    NotFound,
    /// A supposition leads to a contradiction.
    Leads,
    /// Facts that cannot hold together, without an order.
    Together,
}

impl BecauseKind {
    /// Returns the kind's name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Versions => "versions",
            Self::Needs => "needs",
            Self::Nothing => "nothing",
            Self::Excluded => "excluded",
            Self::Rival => "rival",
            Self::Given => "given",
            Self::Deprecated => "deprecated",
            Self::Malformed => "malformed",
            Self::NotFound => "not-found",
            Self::Leads => "leads-to",
            Self::Together => "together",
        }
    }
}

/// How much of what is left of a budget one explanation may take: a resolution has several
/// conflicts, and each is explained.
const SHARE_OF_AN_EXPLANATION: u64 = 3;

/// Explains a conflict, and looks for ways out by resolving again.
///
/// When the budget is spent, what is left out is said in a sentence: the facts without an order, and
/// no ways out.
pub fn explain(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    budget: &mut Budget,
    conflict: &Conflict,
) -> Explanation {
    let share = budget.steps_left() / SHARE_OF_AN_EXPLANATION;
    budget.within(share, |budget| {
        let tell = |budget: &mut Budget| subject::tell(universe, requests, conflict, budget);
        let (headline, because) = budget.within(share / 2, |budget| budget.scope(tell));
        let ways_out = ways_out::find(universe, requests, semantics, budget, conflict);
        Explanation { requests: conflict.requests.clone(), headline, because, ways_out }
    })
}
