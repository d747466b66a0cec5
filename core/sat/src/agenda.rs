//! What an ordered search still has to look at, and what it has chosen, with the way back.
//!
//! The wishes wait in a queue, first come first served; clauses that nothing chosen satisfies yet wait until
//! the queue is empty. Truth values are not known here: only what was chosen counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::index::Index;
use crate::literal::{Literal, Variable};

#[derive(Debug)]
pub(crate) struct Agenda {
    /// The choices in the order of their turns; those before `position` have had it.
    queue: Vec<u32>,
    position: usize,
    /// The chosen variables in the order of choosing.
    pub(crate) chosen: Vec<Variable>,
    is_chosen: Vec<bool>,
    /// Clauses whose conditions are all chosen, in the order in which that happened.
    pending: Vec<u32>,
    /// The pending clauses that may still be unsatisfied, the first of the problem on top.
    unsettled: BinaryHeap<Reverse<u32>>,
    /// Whether `unsettled` must be made anew from `pending`.
    unsettled_is_stale: bool,
    marks: Vec<Mark>,
}

/// The state before a level was opened.
#[derive(Clone, Copy, Debug)]
struct Mark {
    queued: usize,
    position: usize,
    chosen: usize,
    pending: usize,
}

/// What an ordered search has to decide next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Choice(u32),
    Clause(u32),
}

impl Agenda {
    pub(crate) fn new(variables: usize) -> Agenda {
        Agenda {
            queue: Vec::new(),
            position: 0,
            chosen: Vec::new(),
            is_chosen: vec![false; variables],
            pending: Vec::new(),
            unsettled: BinaryHeap::new(),
            unsettled_is_stale: false,
            marks: Vec::new(),
        }
    }

    /// Puts the root choices and the unconditional clauses on the empty agenda.
    pub(crate) fn start(&mut self, index: &Index, assumed: &[bool]) {
        self.queue.extend(index.roots.iter().filter(|root| is_switched_on(index, assumed, **root)));
        self.pending.extend(&index.positive_clauses);
        self.unsettled_is_stale = true;
    }

    pub(crate) fn is_chosen(&self, variable: Variable) -> bool {
        self.is_chosen[variable.index()]
    }

    /// Chooses a variable: its wishes go to the back of the queue.
    pub(crate) fn choose(&mut self, index: &Index, assumed: &[bool], variable: Variable) {
        if std::mem::replace(&mut self.is_chosen[variable.index()], true) {
            return;
        }
        self.chosen.push(variable);
        let wishes = index.triggered.of(variable).iter();
        self.queue.extend(wishes.filter(|choice| is_switched_on(index, assumed, **choice)));
        for clause in index.conditional_clauses.of(variable) {
            let literals = index.problem.clause_literals(*clause);
            // Unsatisfied, were every variable that is not chosen false.
            if literals.iter().all(|literal| literal.is_positive() != self.holds(*literal)) {
                self.pending.push(*clause);
                self.unsettled.push(Reverse(*clause));
            }
        }
    }

    /// Returns the next wish without a chosen candidate, or else the first unsatisfied clause.
    ///
    /// It stays the next task until a variable that satisfies it is chosen. The number of literals
    /// looked at is added to the steps.
    pub(crate) fn next_task(&mut self, index: &Index, steps: &mut u64) -> Option<Task> {
        while let Some(choice) = self.queue.get(self.position).copied() {
            if !self.has_chosen(index.candidates(choice), steps) {
                return Some(Task::Choice(choice));
            }
            self.position += 1;
        }
        if std::mem::replace(&mut self.unsettled_is_stale, false) {
            *steps += self.pending.len() as u64;
            self.unsettled = self.pending.iter().copied().map(Reverse).collect();
        }
        while let Some(Reverse(clause)) = self.unsettled.peek().copied() {
            if !self.has_chosen(index.problem.clause_literals(clause), steps) {
                return Some(Task::Clause(clause));
            }
            self.unsettled.pop();
        }
        None
    }

    pub(crate) fn open_level(&mut self) {
        self.marks.push(Mark {
            queued: self.queue.len(),
            position: self.position,
            chosen: self.chosen.len(),
            pending: self.pending.len(),
        });
    }

    /// Restores the state before the level above the given one was opened.
    pub(crate) fn close_levels(&mut self, level: usize) {
        let Some(mark) = self.marks.get(level).copied() else { return };
        self.marks.truncate(level);
        self.queue.truncate(mark.queued);
        self.position = mark.position;
        for variable in self.chosen.drain(mark.chosen..) {
            self.is_chosen[variable.index()] = false;
        }
        self.pending.truncate(mark.pending);
        self.unsettled_is_stale = true;
    }

    fn has_chosen(&self, literals: &[Literal], steps: &mut u64) -> bool {
        *steps += 1 + literals.len() as u64 / 4;
        literals.iter().any(|literal| literal.is_positive() && self.holds(*literal))
    }

    fn holds(&self, literal: Literal) -> bool {
        self.is_chosen(literal.variable())
    }
}

/// Says whether a choice has no guard or an assumed one.
fn is_switched_on(index: &Index, assumed: &[bool], choice: u32) -> bool {
    index.choice(choice).guard.is_none_or(|guard| assumed[guard.index()])
}
