//! The search in free order: any answer will do.
//!
//! Wishes are fulfilled in the order of how contested their candidates are, from time to time from the
//! beginning. It deliberately does not assign variables nobody asks for.

use crate::activity::Activity;
use crate::answer::Answer;
use crate::budget::Budget;
use crate::index::Index;
use crate::literal::Literal;
use crate::solver::{Solver, Start};

/// The shortest run of conflicts between two restarts.
const RESTART_UNIT: u64 = 64;

/// After so many conflicts wishes are counted against places, once per search.
const CONFLICTS_BEFORE_COUNTING: u64 = 64;

impl Solver {
    /// Searches in free order; leaves the solution on the trail.
    pub(crate) fn search_free(&mut self, assumptions: &[Literal], budget: &mut Budget) -> Answer {
        self.note_assumed(assumptions);
        self.backtrack(0);
        self.demand.clear();
        self.remembers_phases = true;
        if let Start::Refuted(core) = self.start(assumptions) {
            self.keep_impossible(&core);
            self.charge(budget);
            return Answer::Unsatisfiable(core);
        }
        let mut conflicts = 0_u64;
        let mut restarts = 1_u64;
        let mut next_restart = RESTART_UNIT;
        let mut has_counted = false;
        loop {
            if let Some(conflict) = self.propagate() {
                if self.trail.level() <= 1 {
                    let core = self.blame_conflict(conflict, assumptions);
                    self.keep_impossible(&core);
                    self.charge(budget);
                    return Answer::Unsatisfiable(core);
                }
                conflicts += 1;
                self.learn_from(conflict);
            } else if !has_counted && conflicts >= CONFLICTS_BEFORE_COUNTING {
                has_counted = true;
                self.backtrack(1);
                if let Some(false_literals) = self.count_wishes() {
                    self.statistics.counting_proofs += 1;
                    let core = self.blame(&false_literals, assumptions);
                    self.charge(budget);
                    return Answer::Unsatisfiable(core);
                }
            } else if conflicts >= next_restart {
                restarts += 1;
                next_restart =
                    conflicts.saturating_add(luby(restarts).saturating_mul(RESTART_UNIT));
                self.backtrack(1);
                let Solver { demand, index, activity, .. } = self;
                demand.refresh(|clause| urgency(index, activity, clause));
            } else if let Some(literal) = self.next_free_decision() {
                self.decide(literal);
                self.demand.remove_first(true);
            } else {
                self.charge(budget);
                let holding = self.trail.literals.iter().filter(|literal| literal.is_positive());
                return Answer::Satisfiable(
                    self.solution(holding.map(|literal| literal.variable())),
                );
            }
            if !self.charge(budget) {
                return Answer::Spent;
            }
        }
    }

    /// Remembers which variables are assumed to be true.
    pub(crate) fn note_assumed(&mut self, assumptions: &[Literal]) {
        for variable in self.assumed_variables.drain(..) {
            self.assumed[variable.index()] = false;
        }
        for assumption in assumptions.iter().filter(|assumption| assumption.is_positive()) {
            self.assumed[assumption.variable().index()] = true;
            self.assumed_variables.push(assumption.variable());
        }
    }

    /// Returns a literal that fulfils the most urgent wish, which is left first; `None` when none is unfulfilled.
    fn next_free_decision(&mut self) -> Option<Literal> {
        self.collect_wishes();
        while let Some(clause) = self.demand.first() {
            match self.wish(clause) {
                Wish::Open(literal) => return Some(literal),
                Wish::Fulfilled => self.demand.remove_first(true),
                Wish::NotInForce => self.demand.remove_first(false),
            }
        }
        None
    }

    /// Adds the wishes that have come into force: the root choices, the clauses of positive literals, and what
    /// the true variables of the trail bring with them.
    fn collect_wishes(&mut self) {
        let Solver { demand, index, activity, trail, steps, .. } = self;
        let urgency = |clause| urgency(index, activity, clause);
        demand.add_reopened(urgency);
        let roots = index.roots.len();
        let unconditional = roots + index.positive_clauses.len();
        loop {
            *steps += 1;
            let source = demand.scanned;
            if source < roots {
                demand.add(index.choice(index.roots[source]).clause, urgency);
            } else if source < unconditional {
                demand.add(index.positive_clauses[source - roots], urgency);
            } else if let Some(literal) = trail.literals.get(source - unconditional) {
                if literal.is_positive() {
                    for choice in index.triggered.of(literal.variable()) {
                        demand.add(index.choice(*choice).clause, urgency);
                    }
                    for clause in index.conditional_clauses.of(literal.variable()) {
                        demand.add(*clause, urgency);
                    }
                }
            } else {
                return;
            }
            demand.scanned += 1;
        }
    }

    /// Looks at a wish: of its open positive literals the one that was true last is best, then the first.
    fn wish(&mut self, clause: u32) -> Wish {
        let mut first_open = None;
        let mut best = None;
        let literals = self.index.problem.clause_literals(clause);
        self.steps += 1 + literals.len() as u64 / 4;
        for literal in literals {
            if self.trail.is_true(*literal) {
                return Wish::Fulfilled;
            }
            if !self.trail.is_open(literal.variable()) {
                continue;
            }
            if !literal.is_positive() {
                return Wish::NotInForce;
            }
            if best.is_none() && self.activity.was_true(literal.variable()) {
                best = Some(*literal);
            }
            first_open = first_open.or(Some(*literal));
        }
        // A wish without any literal left would be a conflict, which propagation has excluded.
        best.or(first_open).map_or(Wish::Fulfilled, Wish::Open)
    }
}

/// The state of a wish.
enum Wish {
    /// The literal would fulfil it.
    Open(Literal),
    Fulfilled,
    /// One of its conditions is open, and will be false if nothing asks for it.
    NotInForce,
}

/// Returns how contested a wish is: as much as the most contested of its candidates.
fn urgency(index: &Index, activity: &Activity, clause: u32) -> u64 {
    let literals = index.problem.clause_literals(clause).iter();
    let wanted = literals.filter(|literal| literal.is_positive());
    wanted.map(|literal| activity.rank(literal.variable())).max().unwrap_or(0)
}

/// Returns the n-th number, from 1, of the sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …
fn luby(mut n: u64) -> u64 {
    loop {
        let size = u64::MAX >> n.leading_zeros();
        if n == size {
            return size / 2 + 1;
        }
        n -= size / 2;
    }
}
