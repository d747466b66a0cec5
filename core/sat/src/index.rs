//! Where to look: for each variable the constraints that begin to matter when it is true.
//!
//! Made once per solver by counting, in linear time. It never changes with the assignment.

use crate::literal::{Literal, Variable};
use crate::problem::{Choice, Problem, place};

/// A list of numbers for each key, all in one vector.
#[derive(Debug)]
pub(crate) struct Table {
    starts: Vec<u32>,
    items: Vec<u32>,
}

/// The problem together with its tables.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) problem: Problem,
    /// Choices without a trigger, in order.
    pub(crate) roots: Vec<u32>,
    /// Choices by trigger, in order.
    pub(crate) triggered: Table,
    /// At-most-one groups by member.
    pub(crate) groups_of_member: Table,
    /// At-most-one groups by guard.
    pub(crate) groups_of_guard: Table,
    /// Clauses of positive literals only: they wish for something unconditionally.
    pub(crate) positive_clauses: Vec<u32>,
    /// By variable the clauses that contain it negated and wish for something.
    pub(crate) conditional_clauses: Table,
    /// Variables in guard position of some constraint.
    pub(crate) guards: Vec<bool>,
    /// Those of them that no constraint can make true.
    pub(crate) pure_guards: Vec<bool>,
}

impl Table {
    /// Sorts the pairs by key, keeping the order of the items of one key.
    fn build(keys: usize, pairs: impl Iterator<Item = (Variable, u32)> + Clone) -> Table {
        let mut starts = vec![0_u32; keys + 1];
        for (key, _) in pairs.clone() {
            starts[key.index() + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut items = vec![0_u32; starts[keys] as usize];
        let mut next = starts.clone();
        for (key, item) in pairs {
            let slot = &mut next[key.index()];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Table { starts, items }
    }

    pub(crate) fn of(&self, key: Variable) -> &[u32] {
        &self.items[self.range(key)]
    }

    pub(crate) fn range(&self, key: Variable) -> std::ops::Range<usize> {
        self.starts[key.index()] as usize..self.starts[key.index() + 1] as usize
    }

    pub(crate) fn item(&self, index: usize) -> u32 {
        self.items[index]
    }
}

impl Index {
    pub(crate) fn new(problem: &Problem) -> Index {
        let keys = problem.variable_count();
        let (guards, pure_guards) = find_guards(problem);
        let choices = || (0..).zip(&problem.choices);
        let groups = || (0_u32..).zip(&problem.groups);

        // A choice whose guard can only be true by assumption is settled as a wish: no search ends with a
        // wish left. All others must be looked at as clauses too.
        let mut settled_as_wish = vec![false; problem.clause_starts.len()];
        for choice in &problem.choices {
            settled_as_wish[choice.clause as usize] =
                choice.guard.is_none_or(|guard| pure_guards[guard.index()]);
        }
        let mut positive_clauses = Vec::new();
        let mut conditional = Vec::new();
        for clause in 0..place(problem.clause_starts.len()) {
            let literals = problem.clause_literals(clause);
            if settled_as_wish[clause as usize] || !literals.iter().any(|l| l.is_positive()) {
                continue;
            }
            let before = conditional.len();
            let negated = literals.iter().filter(|literal| !literal.is_positive());
            conditional.extend(negated.map(|literal| (literal.variable(), clause)));
            if conditional.len() == before {
                positive_clauses.push(clause);
            }
        }

        Index {
            roots: choices().filter(|(_, c)| c.trigger.is_none()).map(|(id, _)| id).collect(),
            triggered: Table::build(
                keys,
                choices().filter_map(|(id, choice)| Some((choice.trigger?, id))),
            ),
            groups_of_member: Table::build(
                keys,
                groups()
                    .flat_map(|(id, _)| problem.group_members(id).iter().map(move |m| (*m, id))),
            ),
            groups_of_guard: Table::build(
                keys,
                groups().filter_map(|(id, group)| Some((group.guard?, id))),
            ),
            positive_clauses,
            conditional_clauses: Table::build(keys, conditional.iter().copied()),
            guards,
            pure_guards,
            problem: problem.clone(),
        }
    }

    pub(crate) fn choice(&self, choice: u32) -> Choice {
        self.problem.choices[choice as usize]
    }

    pub(crate) fn candidates(&self, choice: u32) -> &[Literal] {
        self.problem.candidates(self.choice(choice))
    }
}

fn find_guards(problem: &Problem) -> (Vec<bool>, Vec<bool>) {
    let mut guards = vec![false; problem.variable_count()];
    let of_choices = problem.choices.iter().filter_map(|choice| choice.guard);
    let of_groups = problem.groups.iter().filter_map(|group| group.guard);
    for guard in of_choices.chain(of_groups) {
        guards[guard.index()] = true;
    }
    let mut pure = guards.clone();
    for literal in problem.literals.iter().filter(|literal| literal.is_positive()) {
        pure[literal.variable().index()] = false;
    }
    (guards, pure)
}
