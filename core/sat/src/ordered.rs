//! The search for the preferred answer.
//!
//! # Why learning and jumping back do not change the answer
//!
//! The answer is defined by a plain depth-first search: every wish takes its first candidate with which the
//! search can be completed. Two facts make the search here end at the same leaf.
//!
//! A set of chosen variables can be completed exactly when some model of the problem and the assumptions contains it.
//! A leaf is such a model. Conversely, given a model, every wish of a variable in it has a candidate in it, and so
//! has every clause that what is chosen leaves unsatisfied; choosing only from the model, the search ends at a leaf.
//!
//! A candidate is passed over only when it is false, and it is false only because it contradicts the problem, the
//! assumptions and what was chosen before: learnt clauses follow from the problem, and the true literals
//! follow from the decisions, all of which were chosen. So no model, and no leaf, contains it with the earlier
//! choices. This stays so when later levels are taken back: the lower levels, and the order in which
//! they were chosen, do not change, and the queue is read on from where it was. How many levels are taken back
//! does not matter: a candidate that could be known to be false but is not is tried and refuted again.
//!
//! By the first fact a candidate may also be tried by a search in free order, which is done when the order
//! of the wishes keeps the conflicts from getting anywhere. This file does not decide how that search goes.

use crate::agenda::Task;
use crate::answer::Answer;
use crate::budget::Budget;
use crate::literal::Literal;
use crate::solver::{Solver, Start};

/// So many conflicts without a proved choice make an ordered search ask a free one.
pub(crate) const PATIENCE: u64 = 200;

/// What is known about the answer before it is found.
#[derive(Debug, Default)]
struct Progress {
    /// The decisions of the answer known so far, in order.
    proved: Vec<Literal>,
    is_proved: Vec<bool>,
    /// By variable whether it is true in some model with everything proved; empty if none is known.
    model: Vec<bool>,
}

/// What to do at the first decision that is not proved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Go on until patience ends.
    Search,
    /// Stop there.
    StopAtUnproved,
}

/// How one attempt ended.
enum Round {
    Answered(Answer),
    OutOfPatience,
    Unproved(Literal),
}

impl Solver {
    /// Searches for the preferred answer.
    pub(crate) fn search_ordered(
        &mut self,
        assumptions: &[Literal],
        budget: &mut Budget,
    ) -> Answer {
        let mut progress = Progress::default();
        loop {
            match self.search_round(assumptions, &mut progress, Pace::Search, budget) {
                Round::Answered(answer) => return answer,
                Round::OutOfPatience | Round::Unproved(_) => {}
            }
            if let Some(answer) = self.prove_next(assumptions, &mut progress, budget) {
                return answer;
            }
        }
    }

    fn search_round(
        &mut self,
        assumptions: &[Literal],
        progress: &mut Progress,
        pace: Pace,
        budget: &mut Budget,
    ) -> Round {
        self.note_assumed(assumptions);
        self.backtrack(0);
        self.remembers_phases = false;
        if let Start::Refuted(core) = self.start(assumptions) {
            self.keep_impossible(&core);
            self.charge(budget);
            return Round::Answered(Answer::Unsatisfiable(core));
        }
        self.agenda.start(&self.index, &self.assumed);
        for assumption in assumptions.iter().filter(|assumption| assumption.is_positive()) {
            self.agenda.choose(&self.index, &self.assumed, assumption.variable());
        }
        let mut conflicts = 0;
        let mut first_unproved_level = usize::MAX;
        loop {
            if let Some(conflict) = self.propagate() {
                if self.trail.level() <= 1 {
                    let core = self.blame_conflict(conflict, assumptions);
                    self.charge(budget);
                    return Round::Answered(Answer::Unsatisfiable(core));
                }
                self.learn_from(conflict);
                conflicts += 1;
                if self.trail.level() < first_unproved_level {
                    first_unproved_level = usize::MAX;
                }
                if conflicts > self.patience {
                    return Round::OutOfPatience;
                }
            } else if let Some(candidate) = self.next_ordered_decision() {
                if first_unproved_level == usize::MAX && !progress.prove_for_free(candidate) {
                    if pace == Pace::StopAtUnproved {
                        return Round::Unproved(candidate);
                    }
                    first_unproved_level = self.trail.level() + 1;
                }
                self.decide(candidate);
                self.agenda.choose(&self.index, &self.assumed, candidate.variable());
            } else {
                self.charge(budget);
                let chosen = self.agenda.chosen.iter().copied();
                return Round::Answered(Answer::Satisfiable(self.solution(chosen)));
            }
            if !self.charge(budget) {
                return Round::Answered(Answer::Spent);
            }
        }
    }

    /// Returns the next open candidate in order of preference, or `None` when nothing is wished for any more.
    fn next_ordered_decision(&mut self) -> Option<Literal> {
        loop {
            let literals = match self.agenda.next_task(&self.index, &mut self.steps)? {
                Task::Choice(choice) => self.index.candidates(choice),
                Task::Clause(clause) => self.index.problem.clause_literals(clause),
            };
            self.steps += literals.len() as u64 / 4;
            let candidate = literals
                .iter()
                .find(|literal| literal.is_positive() && !self.trail.is_false(**literal))
                .expect("bug: propagation lets no wish lose its last candidate unnoticed");
            if self.trail.is_open(candidate.variable()) {
                return Some(*candidate);
            }
            self.agenda.choose(&self.index, &self.assumed, candidate.variable());
        }
    }

    /// Settles the first choice that is not proved yet by a search in free order.
    fn prove_next(
        &mut self,
        assumptions: &[Literal],
        progress: &mut Progress,
        budget: &mut Budget,
    ) -> Option<Answer> {
        let mut question = assumptions.to_vec();
        let mut asked = None;
        if !progress.model.is_empty() {
            match self.search_round(assumptions, progress, Pace::StopAtUnproved, budget) {
                Round::Answered(answer) => return Some(answer),
                // Only proved decisions were made, so something was learnt below them: look again.
                Round::OutOfPatience => return None,
                Round::Unproved(candidate) => asked = Some(candidate),
            }
            question.extend(&progress.proved);
            question.extend(asked);
        }
        self.statistics.fallback_solves += 1;
        match self.search_free(&question, budget) {
            Answer::Spent => Some(Answer::Spent),
            Answer::Satisfiable(_) => {
                progress.remember_model(self.index.problem.variable_count(), &self.trail.literals);
                if let Some(candidate) = asked {
                    progress.prove_for_free(candidate);
                }
                None
            }
            Answer::Unsatisfiable(core) if asked.is_none() => Some(Answer::Unsatisfiable(core)),
            Answer::Unsatisfiable(core) => {
                // From now on the candidate is false whenever the earlier choices are made. The clause gets the
                // best quality, so that it is never forgotten.
                self.backtrack(0);
                let lesson: Vec<Literal> = core.iter().map(|literal| !*literal).collect();
                self.keep(&lesson, 0);
                None
            }
        }
    }
}

impl Progress {
    /// Says whether a decision is part of the answer, given that all decisions before it are.
    fn prove_for_free(&mut self, candidate: Literal) -> bool {
        let place = candidate.variable().index();
        if !self.model.get(place).copied().unwrap_or(false) {
            return false;
        }
        if !std::mem::replace(&mut self.is_proved[place], true) {
            self.proved.push(candidate);
        }
        true
    }

    fn remember_model(&mut self, variables: usize, literals: &[Literal]) {
        self.is_proved.resize(variables, false);
        self.model.clear();
        self.model.resize(variables, false);
        for literal in literals.iter().filter(|literal| literal.is_positive()) {
            self.model[literal.variable().index()] = true;
        }
    }
}
