//! Problems as plain data, the definitions written as naively as possible, and a source of numbers.
//!
//! Nothing here is fast, and nothing here is shared with the solver.

use operon_sat::{Literal, Problem, Variable};

/// A problem that can be looked at from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) variables: usize,
    pub(crate) constraints: Vec<Constraint>,
}

#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    /// Variables with their signs.
    Clause(Vec<(usize, bool)>),
    AtMostOne {
        members: Vec<usize>,
        guard: Option<usize>,
    },
    Choice {
        trigger: Option<usize>,
        candidates: Vec<usize>,
        guard: Option<usize>,
    },
}

pub(crate) type Assumptions = Vec<(usize, bool)>;

impl Spec {
    pub(crate) fn build(&self) -> (Problem, Vec<Variable>) {
        let mut problem = Problem::new();
        let names: Vec<Variable> = (0..self.variables).map(|_| problem.variable()).collect();
        let order: Vec<usize> = (0..self.variables).collect();
        self.add_to(&mut problem, &names, &order);
        (problem, names)
    }

    /// Adds the constraints, with variable `v` called `names[order[v]]`.
    pub(crate) fn add_to(&self, problem: &mut Problem, names: &[Variable], order: &[usize]) {
        let name = |v: &usize| names[order[*v]];
        for constraint in &self.constraints {
            match constraint {
                Constraint::Clause(literals) => {
                    let literals: Vec<Literal> =
                        literals.iter().map(|(v, sign)| signed(name(v), *sign)).collect();
                    problem.clause(&literals);
                }
                Constraint::AtMostOne { members, guard } => {
                    let members: Vec<Variable> = members.iter().map(name).collect();
                    problem.at_most_one(&members, guard.as_ref().map(name));
                }
                Constraint::Choice { trigger, candidates, guard } => {
                    let candidates: Vec<Variable> = candidates.iter().map(name).collect();
                    problem.choice(
                        trigger.as_ref().map(name),
                        &candidates,
                        guard.as_ref().map(name),
                    );
                }
            }
        }
    }

    /// Says whether the true variables satisfy every constraint.
    pub(crate) fn holds(&self, is_true: &dyn Fn(usize) -> bool) -> bool {
        self.constraints.iter().all(|constraint| match constraint {
            Constraint::Clause(literals) => literals.iter().any(|(v, sign)| is_true(*v) == *sign),
            Constraint::AtMostOne { members, guard } => {
                !guard.is_none_or(is_true) || members.iter().filter(|v| is_true(**v)).count() <= 1
            }
            Constraint::Choice { trigger, candidates, guard } => {
                !guard.is_none_or(is_true)
                    || !trigger.is_none_or(is_true)
                    || candidates.iter().any(|v| is_true(*v))
            }
        })
    }

    /// Says whether any assignment satisfies the constraints and the assumptions.
    pub(crate) fn is_satisfiable(&self, assumptions: &[(usize, bool)]) -> bool {
        (0_u32..1 << self.variables).any(|bits| {
            let is_true = |v: usize| bits >> v & 1 == 1;
            assumptions.iter().all(|(v, sign)| is_true(*v) == *sign) && self.holds(&is_true)
        })
    }

    pub(crate) fn is_guard(&self, variable: usize) -> bool {
        self.constraints.iter().any(|constraint| match constraint {
            Constraint::Clause(_) => false,
            Constraint::AtMostOne { guard, .. } | Constraint::Choice { guard, .. } => {
                *guard == Some(variable)
            }
        })
    }

    /// The definition of the preferred answer: the first leaf of a depth-first search.
    pub(crate) fn preferred(&self, assumptions: &[(usize, bool)]) -> Option<Vec<usize>> {
        let assumed: Vec<usize> = assumptions.iter().filter(|a| a.1).map(|a| a.0).collect();
        let mut queue: Vec<Vec<usize>> = assumed.iter().map(|v| vec![*v]).collect();
        queue.extend(self.wishes_of(None, &assumed));
        let chosen = self.leaf(assumptions, &assumed, &queue, 0, Vec::new())?;
        let is_assumed_guard = |v: &usize| assumed.contains(v) && self.is_guard(*v);
        Some(chosen.into_iter().filter(|v| !is_assumed_guard(v)).collect())
    }

    /// Returns the wishes in force of a chosen variable, or the root choices.
    pub(crate) fn wishes_of(&self, variable: Option<usize>, assumed: &[usize]) -> Vec<Vec<usize>> {
        let mut wishes = Vec::new();
        for constraint in &self.constraints {
            if let Constraint::Choice { trigger, candidates, guard } = constraint
                && *trigger == variable
                && guard.is_none_or(|guard| assumed.contains(&guard))
            {
                wishes.push(candidates.clone());
            }
        }
        wishes
    }

    fn leaf(
        &self,
        assumptions: &[(usize, bool)],
        assumed: &[usize],
        queue: &[Vec<usize>],
        mut position: usize,
        chosen: Vec<usize>,
    ) -> Option<Vec<usize>> {
        while let Some(wish) = queue.get(position) {
            position += 1;
            if !wish.iter().any(|v| chosen.contains(v)) {
                return self.branch(assumptions, assumed, wish, queue, position, &chosen);
            }
        }
        let is_true = |v: usize| chosen.contains(&v);
        if assumptions.iter().any(|(v, sign)| is_true(*v) != *sign) {
            return None;
        }
        if self.holds(&is_true) {
            return Some(chosen);
        }
        let unsatisfied = self.first_unsatisfied(&is_true)?;
        self.branch(assumptions, assumed, &unsatisfied, queue, position, &chosen)
    }

    /// Returns the positive literals of the first clause or choice that does not hold.
    pub(crate) fn first_unsatisfied(&self, is_true: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        self.constraints.iter().find_map(|constraint| {
            let alone = Spec { variables: self.variables, constraints: vec![constraint.clone()] };
            match constraint {
                _ if alone.holds(is_true) => None,
                Constraint::Clause(literals) => {
                    Some(literals.iter().filter(|l| l.1).map(|l| l.0).collect())
                }
                Constraint::Choice { candidates, .. } => Some(candidates.clone()),
                Constraint::AtMostOne { .. } => None,
            }
        })
    }

    fn branch(
        &self,
        assumptions: &[(usize, bool)],
        assumed: &[usize],
        wish: &[usize],
        queue: &[Vec<usize>],
        position: usize,
        chosen: &[usize],
    ) -> Option<Vec<usize>> {
        wish.iter().find_map(|candidate| {
            let mut queue = queue.to_vec();
            queue.extend(self.wishes_of(Some(*candidate), assumed));
            let mut chosen = chosen.to_vec();
            chosen.push(*candidate);
            self.leaf(assumptions, assumed, &queue, position, chosen)
        })
    }
}

pub(crate) fn signed(variable: Variable, sign: bool) -> Literal {
    if sign { variable.positive() } else { variable.negative() }
}

/// A small source of numbers that look random; the same seed gives the same numbers.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn some(&mut self, limit: usize, least: usize, most: usize) -> Vec<usize> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| self.below(limit)).collect()
    }

    pub(crate) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// A random problem of few variables with every kind of constraint, and assumptions for it.
pub(crate) fn small(numbers: &mut Numbers) -> (Spec, Assumptions) {
    let variables = 2 + numbers.below(8);
    // Most problems keep their guards apart, some use any variable as a guard.
    let guards = numbers.below(4).min(variables - 1);
    let wild = numbers.chance(20);
    let ordinary = if wild { variables } else { variables - guards };
    let mut spec = Spec { variables, constraints: Vec::new() };
    let guard = |numbers: &mut Numbers| match (wild, numbers.chance(40)) {
        (_, false) => None,
        (true, true) => Some(numbers.below(variables)),
        (false, true) => (guards > 0).then(|| ordinary + numbers.below(guards)),
    };
    for _ in 0..1 + numbers.below(10) {
        let constraint = match numbers.below(10) {
            0..=2 => {
                let least = usize::from(!numbers.chance(3));
                let mut literals: Vec<(usize, bool)> = numbers
                    .some(ordinary, least, 4)
                    .into_iter()
                    .map(|v| (v, numbers.chance(35)))
                    .collect();
                literals.extend(guard(numbers).map(|guard| (guard, false)));
                Constraint::Clause(literals)
            }
            3..=4 => Constraint::AtMostOne {
                members: numbers.some(ordinary, 0, 5),
                guard: guard(numbers),
            },
            _ => Constraint::Choice {
                trigger: (!numbers.chance(40)).then(|| numbers.below(ordinary)),
                candidates: {
                    let least = usize::from(!numbers.chance(8));
                    numbers.some(ordinary, least, 4)
                },
                guard: guard(numbers),
            },
        };
        spec.constraints.push(constraint);
    }
    let mut assumptions: Assumptions =
        (0..numbers.below(3)).map(|_| (numbers.below(variables), numbers.chance(50))).collect();
    for guard in ordinary..variables {
        if numbers.chance(70) {
            assumptions.insert(numbers.below(assumptions.len() + 1), (guard, true));
        }
    }
    (spec, assumptions)
}
