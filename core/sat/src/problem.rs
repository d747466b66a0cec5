//! The problem as the caller writes it down: clauses, at-most-one groups and choices.
//!
//! Everything lies in a few flat lists, in the order in which it was added; nothing is simplified or
//! decided here.

use crate::literal::{Literal, Variable};

/// The largest number of variables: twice as many literals must be numbered with 32 bits.
pub const MAX_VARIABLES: usize = 1 << 30;

/// The largest total length of all constraints: places in flat lists are 32-bit numbers, and headers
/// and learnt clauses need room beside the literals.
pub const MAX_LITERALS: usize = 1 << 30;

/// Collects what must hold.
///
/// # Guards
///
/// A guard is a variable that switches constraints on. The caller assumes it, or leaves it alone; then
/// its constraints are off. A guard is meant to stand in guard position, or negated in a clause, and
/// a search never makes such a guard true by itself. A guard that is also a candidate of a
/// choice, or a positive literal of a clause, is an ordinary variable that can become true; the
/// constraints it guards then hold too, but only choices whose guard is *assumed* are wishes with an order.
///
/// A problem that exceeds [`MAX_VARIABLES`] or [`MAX_LITERALS`] stays harmless: what is too much is
/// dropped, and every search answers [`Answer::Spent`](crate::Answer::Spent).
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub(crate) variables: u32,
    /// The literals of all clauses, one clause after the other.
    pub(crate) literals: Vec<Literal>,
    /// Where each clause begins in `literals`; it ends where the next begins.
    pub(crate) clause_starts: Vec<u32>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) members: Vec<Variable>,
    pub(crate) groups: Vec<Group>,
    pub(crate) too_large: bool,
}

/// A wish: guard and trigger imply one of the candidates.
///
/// Its clause lists the candidates in order of preference, then the negated trigger, then the negated guard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) clause: u32,
    pub(crate) candidates: u32,
    pub(crate) trigger: Option<Variable>,
    pub(crate) guard: Option<Variable>,
}

/// A set of distinct variables of which at most one is true while the guard is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) guard: Option<Variable>,
}

impl Problem {
    /// Makes a problem without variables, which is satisfiable.
    #[must_use]
    pub fn new() -> Self {
        Problem::default()
    }

    /// Adds a variable; they are numbered 0, 1, 2 and so on.
    pub fn variable(&mut self) -> Variable {
        if self.variables as usize >= MAX_VARIABLES {
            self.too_large = true;
            return Variable(self.variables - 1);
        }
        self.variables += 1;
        Variable(self.variables - 1)
    }

    /// Returns the number of variables added so far.
    #[must_use]
    pub fn variable_count(&self) -> usize {
        self.variables as usize
    }

    /// Demands that one of the literals holds; an empty clause cannot be satisfied.
    pub fn clause(&mut self, literals: &[Literal]) {
        self.add_clause(literals.iter().copied());
    }

    /// Demands that at most one of the members is true, while the guard (if any) is.
    ///
    /// A member listed twice can never be true while the guard is.
    pub fn at_most_one(&mut self, members: &[Variable], guard: Option<Variable>) {
        if !self.has_room(members.len()) || !members.iter().chain(&guard).all(|v| self.knows(*v)) {
            return;
        }
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        for twice in sorted.chunk_by(|left, right| left == right).filter(|run| run.len() > 1) {
            self.add_clause(
                twice.iter().take(1).map(|v| v.negative()).chain(guard.map(Variable::negative)),
            );
        }
        sorted.dedup();
        // Even a group that forbids nothing is kept, so that its guard is known as a guard.
        let start = place(self.members.len());
        self.members.extend_from_slice(&sorted);
        self.groups.push(Group { start, end: place(self.members.len()), guard });
    }

    /// Wishes for one of the candidates, the earlier the better, when the trigger and the guard are true.
    ///
    /// Without a trigger it is always wished for: a root choice. Without candidates the trigger cannot be
    /// true (or, without a trigger, nothing can be while the guard is).
    pub fn choice(
        &mut self,
        trigger: Option<Variable>,
        candidates: &[Variable],
        guard: Option<Variable>,
    ) {
        let clause = place(self.clause_starts.len());
        let conditions = trigger.into_iter().chain(guard).map(Variable::negative);
        let wanted = candidates.iter().map(|candidate| candidate.positive());
        if self.add_clause(wanted.chain(conditions)) {
            self.choices.push(Choice {
                clause,
                candidates: place(candidates.len()),
                trigger,
                guard,
            });
        }
    }

    pub(crate) fn clause_literals(&self, clause: u32) -> &[Literal] {
        let start = self.clause_starts[clause as usize] as usize;
        let end = self
            .clause_starts
            .get(clause as usize + 1)
            .map_or(self.literals.len(), |next| *next as usize);
        &self.literals[start..end]
    }

    pub(crate) fn candidates(&self, choice: Choice) -> &[Literal] {
        &self.clause_literals(choice.clause)[..choice.candidates as usize]
    }

    pub(crate) fn group_members(&self, group: u32) -> &[Variable] {
        let Group { start, end, guard: _ } = self.groups[group as usize];
        &self.members[start as usize..end as usize]
    }

    fn add_clause(&mut self, literals: impl Iterator<Item = Literal> + Clone) -> bool {
        let known = literals.clone().all(|literal| self.knows(literal.variable()));
        if !known || !self.has_room(literals.clone().count()) {
            return false;
        }
        self.clause_starts.push(place(self.literals.len()));
        self.literals.extend(literals);
        true
    }

    /// A variable of another problem cannot be understood; like too much it makes every answer `Spent`.
    fn knows(&mut self, variable: Variable) -> bool {
        let known = variable.0 < self.variables;
        self.too_large |= !known;
        known
    }

    fn has_room(&mut self, more: usize) -> bool {
        // One is added so that even empty constraints use up room.
        let used =
            self.literals.len() + self.clause_starts.len() + self.members.len() + self.groups.len();
        let fits = used.saturating_add(more).saturating_add(1) <= MAX_LITERALS;
        self.too_large |= !fits;
        fits
    }
}

/// Converts a place in a list that [`MAX_LITERALS`] keeps short.
pub(crate) fn place(index: usize) -> u32 {
    u32::try_from(index).expect("bug: flat lists are kept below 32-bit length")
}
