//! The solver: its state, how it is made from a problem, and its public questions.
//!
//! The searches themselves are in their own files; this one only prepares and cleans up for them.

use crate::activity::Activity;
use crate::agenda::Agenda;
use crate::answer::{Answer, Solution, Statistics};
use crate::budget::Budget;
use crate::demand::Demand;
use crate::index::Index;
use crate::learn::{FIRST_LEARNT_LIMIT, FIRST_LEARNT_WORDS, LONGEST_JUMP};
use crate::literal::{Literal, Variable};
use crate::ordered::PATIENCE;
use crate::problem::Problem;
use crate::store::{ClauseReference, ClauseStore};
use crate::trail::{Reason, Trail};
use crate::watches::{Watch, WatchLists};

/// Answers questions about one problem under different assumptions.
///
/// What is learnt for one question is used for the next. Answers do not depend on the questions asked
/// before, except that [`Solver::satisfy`] may give another solution, an unsatisfiable set may
/// be another one, and a budget may suffice or not.
#[derive(Debug)]
pub struct Solver {
    pub(crate) index: Index,
    pub(crate) store: ClauseStore,
    pub(crate) watches: WatchLists,
    pub(crate) trail: Trail,
    pub(crate) agenda: Agenda,
    pub(crate) demand: Demand,
    pub(crate) activity: Activity,
    /// By group the member that became true first.
    pub(crate) holders: Vec<Option<Variable>>,
    /// By variable whether it is assumed to be true.
    pub(crate) assumed: Vec<bool>,
    pub(crate) assumed_variables: Vec<Variable>,
    /// Literals that hold whatever is assumed; the first `facts_assigned` are on level 0.
    pub(crate) facts: Vec<Literal>,
    facts_assigned: usize,
    /// The problem has no solution.
    pub(crate) impossible: bool,
    /// Nothing more can be learnt.
    pub(crate) out_of_room: bool,
    pub(crate) learnt_limit: usize,
    pub(crate) learnt_words_limit: usize,
    pub(crate) longest_jump: usize,
    /// Whether signs are remembered when they are taken back: those of an ordered search would
    /// lead a free one astray.
    pub(crate) remembers_phases: bool,
    /// So many conflicts without progress make an ordered search ask a free one.
    pub(crate) patience: u64,
    /// Work done and not yet charged.
    pub(crate) steps: u64,
    pub(crate) statistics: Statistics,
    /// Marks of the conflict analysis; all false in between.
    pub(crate) seen: Vec<bool>,
    /// Space for the conflict analysis.
    pub(crate) causes: Vec<Literal>,
}

/// How putting up the assumptions ended.
pub(crate) enum Start {
    Ready,
    Refuted(Vec<Literal>),
}

impl Solver {
    /// Prepares a problem in linear time.
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self::with_patience(problem, PATIENCE)
    }

    /// Prepares a problem for a solver that loses patience earlier or later.
    ///
    /// After so many conflicts without progress [`Solver::prefer`] settles the next choice by a search in
    /// free order. This changes the time an answer takes, never the answer.
    #[must_use]
    pub fn with_patience(problem: &Problem, patience: u64) -> Self {
        let variables = problem.variable_count();
        let mut store =
            ClauseStore::with_capacity(problem.literals.len() + problem.clause_starts.len() * 3);
        let given = take_clauses(problem, &mut store);
        Solver {
            index: Index::new(problem),
            store,
            watches: WatchLists::build(variables * 2, &given.watches),
            trail: Trail::new(variables),
            agenda: Agenda::new(variables),
            demand: Demand::new(problem.clause_starts.len()),
            activity: Activity::new(variables),
            holders: vec![None; problem.groups.len()],
            assumed: vec![false; variables],
            assumed_variables: Vec::new(),
            facts: given.facts,
            facts_assigned: 0,
            impossible: given.impossible,
            out_of_room: false,
            learnt_limit: FIRST_LEARNT_LIMIT,
            learnt_words_limit: FIRST_LEARNT_WORDS,
            longest_jump: LONGEST_JUMP,
            remembers_phases: false,
            patience,
            steps: 0,
            statistics: Statistics::default(),
            seen: vec![false; variables],
            causes: Vec::new(),
        }
    }

    /// Returns the preferred answer.
    ///
    /// Wishes are taken in turn, first come first served: first the assumed literals that are positive, each
    /// as a wish with that one candidate, then the root choices whose guard (if any) is assumed. If one of
    /// the candidates has been chosen already, nothing happens (being implied true does not count as chosen);
    /// otherwise the first candidate is chosen with which the whole search can still be completed. The
    /// choices triggered by a chosen variable queue up at the back, in the order of the problem.
    /// When no wish is left, the first clause that is unsatisfied, were all variables not chosen false,
    /// is treated as a wish for one of its positive literals, in their order.
    pub fn prefer(&mut self, assumptions: &[Literal], budget: &mut Budget) -> Answer {
        if self.is_unusable(assumptions) {
            return Answer::Spent;
        }
        let answer = self.search_ordered(assumptions, budget);
        self.backtrack(0);
        answer
    }

    /// Returns any answer, as fast as possible.
    pub fn satisfy(&mut self, assumptions: &[Literal], budget: &mut Budget) -> Answer {
        if self.is_unusable(assumptions) {
            return Answer::Spent;
        }
        let answer = self.search_free(assumptions, budget);
        self.backtrack(0);
        answer
    }

    /// Returns assumptions that contradict each other by propagation alone, without any search.
    ///
    /// `None` says nothing about whether there is an answer.
    pub fn refute(&mut self, assumptions: &[Literal]) -> Option<Vec<Literal>> {
        if self.is_unusable(assumptions) {
            return None;
        }
        let start = self.start(assumptions);
        self.backtrack(0);
        match start {
            Start::Ready => None,
            Start::Refuted(core) => Some(core),
        }
    }

    /// Returns the variable that took part in the most recent conflicts, guards left out; none
    /// when there was no conflict.
    #[must_use]
    pub fn most_contested(&self) -> Option<Variable> {
        let variables = (0..self.index.problem.variables).map(Variable);
        variables
            .filter(|v| !self.index.guards[v.index()] && self.activity.rank(*v) > 0)
            .max_by_key(|v| (self.activity.rank(*v), std::cmp::Reverse(v.index())))
    }

    /// Returns what the solver has done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Goes back to the facts and makes the assumptions true on level 1.
    pub(crate) fn start(&mut self, assumptions: &[Literal]) -> Start {
        self.backtrack(0);
        while let Some(fact) = self.facts.get(self.facts_assigned).copied() {
            self.facts_assigned += 1;
            if self.trail.is_false(fact) {
                self.impossible = true;
            } else if self.trail.is_open(fact.variable()) {
                self.trail.assign(fact, Reason::Fact);
            }
        }
        if self.impossible || self.propagate().is_some() {
            self.impossible = true;
            return Start::Refuted(Vec::new());
        }
        self.open_level();
        self.steps += assumptions.len() as u64;
        for assumption in assumptions {
            if self.trail.is_false(*assumption) {
                let mut core = self.blame(&[*assumption], assumptions);
                core.push(*assumption);
                return Start::Refuted(crate::analyse::in_order_of(assumptions, core));
            }
            if self.trail.is_open(assumption.variable()) {
                self.trail.assign(*assumption, Reason::Decision);
                if let Some(conflict) = self.propagate() {
                    return Start::Refuted(self.blame_conflict(conflict, assumptions));
                }
            }
        }
        Start::Ready
    }

    /// Keeps that a literal cannot hold when it contradicts the problem by itself: what needs it is
    /// then known to be impossible without following the same chain again. Only searches keep it:
    /// what [`Solver::refute`] answers must follow from the problem by propagation alone.
    pub(crate) fn keep_impossible(&mut self, core: &[Literal]) {
        if let [impossible] = core {
            self.facts.push(!*impossible);
        }
    }

    /// Returns the assumptions that a conflict on level 1 is due to.
    pub(crate) fn blame_conflict(
        &mut self,
        conflict: crate::propagate::Conflict,
        assumptions: &[Literal],
    ) -> Vec<Literal> {
        let mut literals = Vec::new();
        self.push_conflict(conflict, &mut literals);
        self.blame(&literals, assumptions)
    }

    pub(crate) fn open_level(&mut self) {
        self.trail.open_level();
        self.agenda.open_level();
        self.demand.open_level();
    }

    /// Opens a level and makes an open literal true on it.
    pub(crate) fn decide(&mut self, literal: Literal) {
        self.statistics.decisions += 1;
        self.open_level();
        self.trail.assign(literal, Reason::Decision);
    }

    /// Takes back all levels above the given one.
    pub(crate) fn backtrack(&mut self, level: usize) {
        if self.trail.level() <= level {
            return;
        }
        let start = self.trail.start_of(level + 1);
        while self.trail.literals.len() > start
            && let Some(literal) = self.trail.pop()
        {
            let variable = literal.variable();
            if self.remembers_phases {
                self.activity.remember_phase(literal);
            }
            if literal.is_positive() {
                for group in self.index.groups_of_member.of(variable) {
                    let holder = &mut self.holders[*group as usize];
                    if *holder == Some(variable) {
                        *holder = None;
                    }
                }
            }
        }
        self.trail.close_levels(level);
        self.agenda.close_levels(level);
        self.demand.close_levels(level);
    }

    /// Charges the work done since the last time; says whether the search may go on.
    pub(crate) fn charge(&mut self, budget: &mut Budget) -> bool {
        let steps = std::mem::take(&mut self.steps);
        budget.spend(steps) && !self.out_of_room
    }

    /// Makes a solution of the chosen or true variables.
    pub(crate) fn solution(&self, variables: impl Iterator<Item = Variable>) -> Solution {
        let is_assumed_guard =
            |v: &Variable| self.index.guards[v.index()] && self.assumed[v.index()];
        Solution { chosen: variables.filter(|variable| !is_assumed_guard(variable)).collect() }
    }

    fn is_unusable(&self, assumptions: &[Literal]) -> bool {
        let variables = self.index.problem.variable_count();
        self.index.problem.too_large
            || assumptions.iter().any(|assumption| assumption.variable().index() >= variables)
    }
}

struct Given {
    watches: Vec<(Literal, Watch)>,
    facts: Vec<Literal>,
    impossible: bool,
}

/// Sorts the clauses of a problem by length, without repeated literals and without tautologies.
fn take_clauses(problem: &Problem, store: &mut ClauseStore) -> Given {
    let mut given = Given {
        watches: Vec::with_capacity(problem.clause_starts.len() * 2),
        facts: Vec::new(),
        impossible: false,
    };
    let clauses = crate::problem::place(problem.clause_starts.len());
    let mut is_choice_with_trigger = vec![false; problem.clause_starts.len()];
    for choice in &problem.choices {
        is_choice_with_trigger[choice.clause as usize] = choice.trigger.is_some();
    }
    // By literal the clause it was seen in last, counted from 1.
    let mut seen_in = vec![0_u32; problem.variable_count() * 2];
    let mut literals = Vec::new();
    for clause in 0..clauses {
        literals.clear();
        let mut is_tautology = false;
        for literal in problem.clause_literals(clause) {
            is_tautology |= seen_in[(!*literal).code()] == clause + 1;
            if std::mem::replace(&mut seen_in[literal.code()], clause + 1) != clause + 1 {
                literals.push(*literal);
            }
        }
        if is_tautology {
            continue;
        }
        // The trigger is watched: choices of variables that are out of reach then cost nothing.
        if is_choice_with_trigger[clause as usize]
            && let Some(trigger) = literals.iter().position(|literal| !literal.is_positive())
        {
            literals.swap(0, trigger);
            // The most preferred candidate stays next to it.
            if trigger > 1 {
                literals.swap(1, trigger);
            }
        }
        match literals.as_slice() {
            [] => given.impossible = true,
            [fact] => given.facts.push(*fact),
            [first, second, rest @ ..] => {
                let reference = if rest.is_empty() {
                    ClauseReference::BINARY
                } else {
                    store.add_given(&literals)
                };
                given.watches.push((*first, Watch { other: *second, clause: reference }));
                given.watches.push((*second, Watch { other: *first, clause: reference }));
            }
        }
    }
    given
}
