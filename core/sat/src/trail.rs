//! The assignment: which literals hold, since which level, and why.
//!
//! Level 0 holds what is true whatever is assumed, level 1 the assumptions and what follows from them,
//! every further level one decision. What to assign is decided elsewhere.

use crate::literal::{Literal, Variable};
use crate::store::ClauseReference;

/// Says why a literal holds. The literals named here are the false ones of the clause that forced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It was decided or assumed.
    Decision,
    /// It is true whatever is assumed.
    Fact,
    /// All other literals of the clause are false.
    Clause(ClauseReference),
    /// A clause of two literals, of which the other is false.
    Binary(Literal),
    /// A clause of three literals, of which the others are false: a guarded at-most-one group.
    Ternary(Literal, Literal),
}

#[derive(Clone, Copy, Debug)]
struct Place {
    level: u32,
    reason: Reason,
}

#[derive(Debug)]
pub(crate) struct Trail {
    /// By literal: 1 true, -1 false, 0 open.
    values: Vec<i8>,
    places: Vec<Place>,
    pub(crate) literals: Vec<Literal>,
    /// The literals before this place have been followed up.
    pub(crate) propagated: usize,
    /// Where levels 1, 2, … begin.
    starts: Vec<usize>,
}

impl Trail {
    pub(crate) fn new(variables: usize) -> Trail {
        Trail {
            values: vec![0; variables * 2],
            places: vec![Place { level: 0, reason: Reason::Decision }; variables],
            literals: Vec::new(),
            propagated: 0,
            starts: Vec::new(),
        }
    }

    pub(crate) fn is_true(&self, literal: Literal) -> bool {
        self.values[literal.code()] > 0
    }

    pub(crate) fn is_false(&self, literal: Literal) -> bool {
        self.values[literal.code()] < 0
    }

    pub(crate) fn is_open(&self, variable: Variable) -> bool {
        self.values[variable.positive().code()] == 0
    }

    /// Returns the current level.
    pub(crate) fn level(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn level_of(&self, variable: Variable) -> usize {
        self.places[variable.index()].level as usize
    }

    pub(crate) fn reason(&self, variable: Variable) -> Reason {
        self.places[variable.index()].reason
    }

    pub(crate) fn set_reason(&mut self, variable: Variable, reason: Reason) {
        self.places[variable.index()].reason = reason;
    }

    /// Returns where the given level, which is not 0, begins.
    pub(crate) fn start_of(&self, level: usize) -> usize {
        self.starts[level - 1]
    }

    pub(crate) fn open_level(&mut self) {
        self.starts.push(self.literals.len());
    }

    /// Makes an open literal true.
    pub(crate) fn assign(&mut self, literal: Literal, reason: Reason) {
        // A fact that is found late is on level 0 wherever it stands, so that no conflict blames it.
        let level = if reason == Reason::Fact { 0 } else { self.starts.len() };
        self.values[literal.code()] = 1;
        self.values[(!literal).code()] = -1;
        // There are fewer levels than variables plus two.
        self.places[literal.variable().index()] =
            Place { level: crate::problem::place(level), reason };
        self.literals.push(literal);
    }

    /// Takes back the last literal.
    pub(crate) fn pop(&mut self) -> Option<Literal> {
        let literal = self.literals.pop()?;
        self.values[literal.code()] = 0;
        self.values[(!literal).code()] = 0;
        Some(literal)
    }

    /// Forgets the levels above the given one, whose literals have been taken back.
    pub(crate) fn close_levels(&mut self, level: usize) {
        self.starts.truncate(level);
        self.propagated = self.propagated.min(self.literals.len());
    }
}
