//! Keeping what conflicts taught, and forgetting the least useful part of it.
//!
//! Every learnt clause follows from the problem alone, never from the assumptions, so it may be kept for
//! later searches and may be forgotten at any time.

use crate::analyse::Lesson;
use crate::literal::Literal;
use crate::propagate::Conflict;
use crate::solver::Solver;
use crate::store::{ClauseReference, ClauseStore};
use crate::trail::Reason;
use crate::watches::Watch;

/// So many learnt clauses are kept before some are forgotten for the first time.
pub(crate) const FIRST_LEARNT_LIMIT: usize = 4000;

/// The limit grows by one part in so many each time, so that every search ends eventually.
const LEARNT_LIMIT_GROWTH: usize = 5;

/// So many literals of learnt clauses (64 MiB) are kept before some are forgotten for the first time.
pub(crate) const FIRST_LEARNT_WORDS: usize = 1 << 24;

/// Clauses with literals in so few levels are never forgotten.
const ALWAYS_KEPT_QUALITY: u32 = 2;

/// A lesson that applies many more levels below is applied one level below instead: redoing all the decisions
/// in between, most of them the same way, would cost more than meeting the conflict again.
pub(crate) const LONGEST_JUMP: usize = 100;

impl Solver {
    /// Limits the bytes of learnt clauses. When they are more, some are forgotten, which changes how long a
    /// search takes and never its answer.
    pub fn limit_learnt_bytes(&mut self, bytes: u64) {
        let words = usize::try_from(bytes / size_of::<u32>() as u64).unwrap_or(usize::MAX);
        self.learnt_words_limit = words.min(FIRST_LEARNT_WORDS);
    }

    /// Learns from a conflict above level 1 and goes back to where the lesson applies.
    pub(crate) fn learn_from(&mut self, conflict: Conflict) {
        self.statistics.conflicts += 1;
        let Lesson { literals, level, quality } = self.analyse(conflict);
        let highest = self.trail.level() - 1;
        self.backtrack(highest);
        let asserted = literals[0];
        let known = self.known_reason(conflict, &literals);
        // A fact is kept by level 1 only; and a conflict that is met again was not worth the short step.
        let is_short = highest - level > self.longest_jump && literals.len() > 1 && known.is_none();
        if !is_short {
            self.backtrack(level);
        }
        let reason = known.unwrap_or_else(|| self.keep(&literals, quality));
        self.trail.assign(asserted, reason);
        if self.store.learnt.len() > self.learnt_limit
            || self.store.learnt_words() > self.learnt_words_limit
        {
            self.forget_some();
        } else if self.watches.wants_repacking() {
            self.watches.repack(Some);
        }
    }

    /// Adds a clause that follows from the problem; returns why its first literal holds when the others do not.
    pub(crate) fn keep(&mut self, literals: &[Literal], quality: u32) -> Reason {
        self.statistics.learnt += 1;
        match literals {
            [] => {
                self.impossible = true;
                Reason::Fact
            }
            [fact] => {
                self.facts.push(*fact);
                Reason::Fact
            }
            [first, second] => {
                self.watch(*first, *second, ClauseReference::BINARY);
                Reason::Binary(*second)
            }
            [first, second, ..] => {
                if !self.store.has_room(literals.len()) {
                    self.out_of_room = true;
                }
                let clause = self.store.add_learnt(literals, quality);
                self.watch(*first, *second, clause);
                Reason::Clause(clause)
            }
        }
    }

    /// Returns the constraint itself when the lesson of a conflict is nothing but the constraint.
    ///
    /// This happens after a short step back: a constraint that would have forced a literal on a lower
    /// level is noticed only when the literal is tried again.
    fn known_reason(&mut self, conflict: Conflict, lesson: &[Literal]) -> Option<Reason> {
        match (conflict, lesson) {
            (Conflict::Clause(clause), [first, _, _, ..]) => {
                // If it is, the literal is one of the two watched ones: noticing it was how the conflict
                // was found.
                if self.store.literal(clause, 1) == *first {
                    self.store.swap(clause, 0, 1);
                }
                let is_reason = self.store.length(clause) == lesson.len()
                    && self.store.literal(clause, 0) == *first
                    && (1..lesson.len())
                        .all(|place| self.trail.is_false(self.store.literal(clause, place)));
                is_reason.then_some(Reason::Clause(clause))
            }
            (Conflict::Binary(left, right), [first, second])
                if [left, right] == [*first, *second] || [right, left] == [*first, *second] =>
            {
                Some(Reason::Binary(*second))
            }
            _ => None,
        }
    }

    fn watch(&mut self, first: Literal, second: Literal, clause: ClauseReference) {
        self.watches.push(first, Watch { other: second, clause });
        self.watches.push(second, Watch { other: first, clause });
    }

    /// Forgets half of the learnt clauses: those spread over the most levels, and of equals the oldest.
    fn forget_some(&mut self) {
        self.learnt_limit += 1 + self.learnt_limit / LEARNT_LIMIT_GROWTH;
        let mut qualities: Vec<u32> =
            self.store.learnt.iter().map(|clause| self.store.quality(*clause)).collect();
        let middle = qualities.len() / 2;
        let (_, median, _) = qualities.select_nth_unstable(middle);
        let worst = (*median).max(ALWAYS_KEPT_QUALITY);
        // The clauses exactly at the median are forgotten from the oldest on until half are gone.
        let worse = self.store.learnt.iter().filter(|c| self.store.quality(**c) > worst).count();
        let equals_to_forget = (self.store.learnt.len() - middle).saturating_sub(worse);
        let mut last_forgotten_equal = None;
        if worst > ALWAYS_KEPT_QUALITY {
            let mut equals = self.store.learnt.iter().filter(|c| self.store.quality(**c) == worst);
            last_forgotten_equal = equals.by_ref().take(equals_to_forget).last().copied();
        }
        let mut store = std::mem::take(&mut self.store);
        let before = store.learnt.len();
        let moves = store.forget(|store, clause| {
            let quality = store.quality(clause);
            quality < worst
                || (quality == worst && last_forgotten_equal.is_none_or(|last| clause > last))
                || self.is_locked(store, clause)
        });
        self.statistics.forgotten += (before - store.learnt.len()) as u64;
        self.store = store;
        self.watches.repack(|watch| {
            Some(Watch { other: watch.other, clause: moves.new_place(watch.clause)? })
        });
        // What is left may be indispensable: forgetting must pay, or it would be tried at every conflict.
        self.learnt_words_limit = self.learnt_words_limit.max(self.store.learnt_words() * 2);
        for place in 0..self.trail.literals.len() {
            let variable = self.trail.literals[place].variable();
            if let Reason::Clause(clause) = self.trail.reason(variable) {
                let moved = moves.new_place(clause).expect("bug: reasons are never forgotten");
                self.trail.set_reason(variable, Reason::Clause(moved));
            }
        }
    }

    /// Says whether the clause is the reason of a literal that holds now.
    fn is_locked(&self, store: &ClauseStore, clause: ClauseReference) -> bool {
        let first = store.literal(clause, 0);
        self.trail.is_true(first) && self.trail.reason(first.variable()) == Reason::Clause(clause)
    }
}

#[cfg(test)]
mod tests {
    use crate::answer::Answer;
    use crate::budget::Budget;
    use crate::literal::{Literal, Variable};
    use crate::problem::Problem;
    use crate::solver::Solver;

    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % limit
        }
    }

    /// Clauses of three literals, just too many or just few enough.
    fn three_literals(seed: u64) -> Problem {
        let mut numbers = Numbers(seed);
        let mut problem = Problem::new();
        let names: Vec<Variable> = (0..70).map(|_| problem.variable()).collect();
        for _ in 0..298 {
            let literals: [Literal; 3] = [(); 3].map(|()| {
                let name = names[numbers.below(names.len())];
                if numbers.below(2) == 0 { name.positive() } else { name.negative() }
            });
            problem.clause(&literals);
        }
        problem
    }

    /// Families of six of which one may be true and each wants some of others.
    fn families(seed: u64) -> Problem {
        let mut numbers = Numbers(seed);
        let mut problem = Problem::new();
        let names: Vec<Variable> = (0..6 * 60).map(|_| problem.variable()).collect();
        let families: Vec<&[Variable]> = names.chunks(6).collect();
        for members in &families {
            problem.at_most_one(members, None);
            for _ in 0..numbers.below(4) {
                let target = families[numbers.below(families.len())];
                for member in *members {
                    let first = numbers.below(4);
                    let end = first + 2 + numbers.below(2);
                    problem.choice(Some(*member), &target[first..end], None);
                }
            }
        }
        for members in &families[..8] {
            problem.choice(None, members, None);
        }
        problem
    }

    /// Compares the usual solver with ones that forget early, step back in short steps, or lose patience.
    fn check(build: fn(u64) -> Problem) {
        let mut verdicts = [0, 0];
        let mut both_forgot = 0;
        for seed in 0..40 {
            let problem = build(seed);
            let mut budget = Budget::new(u64::MAX);
            let mut usual = Solver::new(&problem);
            let mut forgetful = Solver::new(&problem);
            forgetful.learnt_limit = 8;
            let mut cautious = Solver::new(&problem);
            cautious.longest_jump = 0;
            let mut scatterbrained = Solver::with_patience(&problem, 5);
            scatterbrained.learnt_words_limit = 20;
            scatterbrained.longest_jump = 1;
            let answer = usual.prefer(&[], &mut budget);
            assert_eq!(forgetful.prefer(&[], &mut budget), answer, "seed {seed}");
            assert_eq!(cautious.prefer(&[], &mut budget), answer, "seed {seed}");
            assert_eq!(scatterbrained.prefer(&[], &mut budget), answer, "seed {seed}");
            assert_eq!(usual.statistics().forgotten, 0);
            let forgotten = [&forgetful, &scatterbrained].map(|s| s.statistics().forgotten);
            both_forgot += usize::from(forgotten.iter().all(|count| *count > 0));
            verdicts[usize::from(matches!(answer, Answer::Satisfiable(_)))] += 1;
        }
        assert!(both_forgot > 4, "only {both_forgot} problems were hard enough");
        assert!(verdicts.iter().all(|count| *count > 5), "one-sided: {verdicts:?}");
    }

    #[test]
    fn neither_forgetting_nor_short_steps_change_an_answer_about_clauses() {
        check(three_literals);
    }

    #[test]
    fn neither_forgetting_nor_short_steps_change_an_answer_about_families() {
        check(families);
    }
}
