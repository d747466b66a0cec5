//! What a conflict teaches: the clause that would have prevented it, or the assumptions to blame.
//!
//! Nothing is assigned or taken back here.

use crate::literal::{Literal, Variable};
use crate::propagate::Conflict;
use crate::solver::Solver;
use crate::trail::Reason;

/// A clause that follows from the problem and would have forced its first literal earlier.
#[derive(Debug)]
pub(crate) struct Lesson {
    /// The first literal is the one to assert, the second has the highest level of the others.
    pub(crate) literals: Vec<Literal>,
    /// The level on which the first literal follows, at least 1.
    pub(crate) level: usize,
    /// In how many levels the clause has literals: the fewer, the more often it will be useful.
    pub(crate) quality: u32,
}

impl Solver {
    /// Resolves the conflict back to the first literal of the current level that alone explains it.
    pub(crate) fn analyse(&mut self, conflict: Conflict) -> Lesson {
        let level = self.trail.level();
        let mut learnt = Vec::new();
        let mut causes = std::mem::take(&mut self.causes);
        causes.clear();
        self.push_conflict(conflict, &mut causes);
        let mut open = 0_usize;
        let mut place = self.trail.literals.len();
        let asserted = loop {
            for cause in causes.drain(..) {
                self.steps += 1;
                let variable = cause.variable();
                if self.seen[variable.index()] || self.trail.level_of(variable) == 0 {
                    continue;
                }
                self.seen[variable.index()] = true;
                self.bump(variable);
                if self.trail.level_of(variable) == level {
                    open += 1;
                } else {
                    learnt.push(cause);
                }
            }
            let literal = loop {
                place -= 1;
                let literal = self.trail.literals[place];
                if self.seen[literal.variable().index()]
                    && self.trail.level_of(literal.variable()) == level
                {
                    break literal;
                }
            };
            self.seen[literal.variable().index()] = false;
            open -= 1;
            if open == 0 {
                break !literal;
            }
            self.push_causes(literal.variable(), &mut causes);
        };
        self.causes = causes;
        self.activity.decay();
        self.shorten(&mut learnt);
        self.finish_lesson(asserted, learnt)
    }

    /// Returns the assumptions that make all the given (false) literals false, in the order assumed.
    ///
    /// Only levels 0 and 1 may exist.
    pub(crate) fn blame(
        &mut self,
        false_literals: &[Literal],
        assumptions: &[Literal],
    ) -> Vec<Literal> {
        let mut causes = false_literals.to_vec();
        let mut blamed = Vec::new();
        let mut place = self.trail.literals.len();
        let end = if self.trail.level() == 0 { place } else { self.trail.start_of(1) };
        loop {
            for cause in causes.drain(..) {
                self.steps += 1;
                if self.trail.level_of(cause.variable()) > 0 {
                    self.seen[cause.variable().index()] = true;
                }
            }
            let Some(literal) = (end..place).rev().find_map(|before| {
                place = before;
                let literal = self.trail.literals[before];
                self.seen[literal.variable().index()].then_some(literal)
            }) else {
                break;
            };
            self.seen[literal.variable().index()] = false;
            if self.trail.reason(literal.variable()) == Reason::Decision {
                blamed.push(literal);
            } else {
                self.push_causes(literal.variable(), &mut causes);
            }
        }
        in_order_of(assumptions, blamed)
    }

    /// Adds the false literals of a conflict.
    pub(crate) fn push_conflict(&self, conflict: Conflict, causes: &mut Vec<Literal>) {
        match conflict {
            Conflict::Clause(clause) => {
                causes
                    .extend((0..self.store.length(clause)).map(|p| self.store.literal(clause, p)));
            }
            Conflict::Binary(first, second) => causes.extend([first, second]),
            Conflict::Ternary(first, second, third) => causes.extend([first, second, third]),
        }
    }

    /// Adds the false literals that forced the variable.
    fn push_causes(&self, variable: Variable, causes: &mut Vec<Literal>) {
        match self.trail.reason(variable) {
            Reason::Decision | Reason::Fact => {}
            Reason::Clause(clause) => {
                let literals =
                    (0..self.store.length(clause)).map(|p| self.store.literal(clause, p));
                causes.extend(literals.filter(|literal| literal.variable() != variable));
            }
            Reason::Binary(other) => causes.push(other),
            Reason::Ternary(second, third) => causes.extend([second, third]),
        }
    }

    fn bump(&mut self, variable: Variable) {
        if !self.index.pure_guards[variable.index()] {
            self.activity.bump(variable);
        }
    }

    /// Drops the literals that follow from the rest of the clause.
    fn shorten(&mut self, learnt: &mut Vec<Literal>) {
        let mut marked: Vec<Variable> = learnt.iter().map(|literal| literal.variable()).collect();
        let levels =
            learnt.iter().fold(0, |levels, literal| levels | self.level_bit(literal.variable()));
        learnt.retain(|literal| !self.follows(literal.variable(), levels, &mut marked));
        for variable in marked {
            self.seen[variable.index()] = false;
        }
    }

    /// Says whether all causes of the variable, followed far enough, are marked.
    fn follows(&mut self, variable: Variable, levels: u64, marked: &mut Vec<Variable>) -> bool {
        if self.trail.reason(variable) == Reason::Decision {
            return false;
        }
        let before = marked.len();
        let mut waiting = vec![variable];
        let mut causes = std::mem::take(&mut self.causes);
        let mut follows = true;
        'search: while let Some(next) = waiting.pop() {
            causes.clear();
            self.push_causes(next, &mut causes);
            for cause in &causes {
                self.steps += 1;
                let cause = cause.variable();
                if self.seen[cause.index()] || self.trail.level_of(cause) == 0 {
                    continue;
                }
                // A level without any literal of the clause cannot lead back to one.
                if self.trail.reason(cause) == Reason::Decision
                    || self.level_bit(cause) & levels == 0
                {
                    follows = false;
                    break 'search;
                }
                self.seen[cause.index()] = true;
                marked.push(cause);
                waiting.push(cause);
            }
        }
        self.causes = causes;
        if !follows {
            for variable in marked.drain(before..) {
                self.seen[variable.index()] = false;
            }
        }
        follows
    }

    fn level_bit(&self, variable: Variable) -> u64 {
        1 << (self.trail.level_of(variable) & 63)
    }

    fn finish_lesson(&mut self, asserted: Literal, others: Vec<Literal>) -> Lesson {
        let mut literals = Vec::with_capacity(others.len() + 1);
        literals.push(asserted);
        literals.extend(others);
        let level_at = |place: &usize| self.trail.level_of(literals[*place].variable());
        let mut level = 1;
        // Of several literals on the highest level the first is taken.
        if let Some(highest) = (1..literals.len()).rev().max_by_key(level_at) {
            level = level_at(&highest).max(1);
            literals.swap(1, highest);
        }
        let mut levels: Vec<usize> =
            literals.iter().map(|literal| self.trail.level_of(literal.variable())).collect();
        levels.sort_unstable();
        levels.dedup();
        Lesson { literals, level, quality: crate::problem::place(levels.len()) }
    }
}

/// Lists the members of a set in the order in which the assumptions name them, each once.
pub(crate) fn in_order_of(assumptions: &[Literal], mut set: Vec<Literal>) -> Vec<Literal> {
    set.sort_unstable();
    set.dedup();
    let mut taken = vec![false; set.len()];
    let mut ordered = Vec::with_capacity(set.len());
    for assumption in assumptions {
        if let Ok(place) = set.binary_search(assumption)
            && !std::mem::replace(&mut taken[place], true)
        {
            ordered.push(*assumption);
        }
    }
    ordered
}
