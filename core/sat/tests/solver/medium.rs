//! Medium random problems against two independent solvers.

use crate::support::{Assumptions, Constraint, Numbers, Spec, signed};
use batsat::{BasicSolver, SolverInterface, lbool};
use cadical::Solver as Cadical;
use operon_sat::{Answer, Budget, Literal, Solver, Variable, minimise};

/// Numbers variables from 1.
fn number(variable: usize) -> i32 {
    i32::try_from(variable).map_or(i32::MAX, |index| index + 1)
}

/// The clauses of a problem, with variables from 1 and negative numbers for negated ones.
fn clauses(spec: &Spec) -> Vec<Vec<i32>> {
    let mut clauses = Vec::new();
    for constraint in &spec.constraints {
        match constraint {
            Constraint::Clause(literals) => clauses.push(
                literals
                    .iter()
                    .map(|(v, sign)| if *sign { number(*v) } else { -number(*v) })
                    .collect(),
            ),
            Constraint::AtMostOne { members, guard } => {
                for (place, left) in members.iter().enumerate() {
                    for right in &members[place + 1..] {
                        let mut clause = vec![-number(*left), -number(*right)];
                        clause.extend(guard.map(|guard| -number(guard)));
                        clauses.push(clause);
                    }
                }
            }
            Constraint::Choice { trigger, candidates, guard } => {
                let mut clause: Vec<i32> = candidates.iter().map(|v| number(*v)).collect();
                clause.extend(trigger.iter().chain(guard).map(|v| -number(*v)));
                clauses.push(clause);
            }
        }
    }
    clauses
}

fn numbers_of(assumptions: &[(usize, bool)]) -> Vec<i32> {
    assumptions.iter().map(|(v, sign)| if *sign { number(*v) } else { -number(*v) }).collect()
}

fn cadical(spec: &Spec) -> Cadical {
    let mut solver = Cadical::new();
    for clause in clauses(spec) {
        solver.add_clause(clause);
    }
    solver
}

fn batsat_verdict(spec: &Spec, assumptions: &[(usize, bool)]) -> bool {
    let mut solver = BasicSolver::default();
    let names: Vec<batsat::Var> = (0..spec.variables).map(|_| solver.new_var_default()).collect();
    let literal =
        |number: i32| batsat::Lit::new(names[number.unsigned_abs() as usize - 1], number > 0);
    for clause in clauses(spec) {
        solver.add_clause_reuse(&mut clause.into_iter().map(literal).collect());
    }
    let assumed: Vec<batsat::Lit> = numbers_of(assumptions).into_iter().map(literal).collect();
    solver.solve_limited(&assumed) == lbool::TRUE
}

/// The preferred answer by asking another solver at each candidate whether the search can be completed.
fn preferred(spec: &Spec, assumptions: &[(usize, bool)]) -> Option<Vec<usize>> {
    let mut solver = cadical(spec);
    let mut given = numbers_of(assumptions);
    if solver.solve_with(given.clone()) != Some(true) {
        return None;
    }
    let assumed: Vec<usize> = assumptions.iter().filter(|a| a.1).map(|a| a.0).collect();
    let mut queue: Vec<Vec<usize>> = assumed.iter().map(|v| vec![*v]).collect();
    queue.extend(spec.wishes_of(None, &assumed));
    let mut chosen: Vec<usize> = Vec::new();
    let mut position = 0;
    loop {
        let wish = if position < queue.len() {
            position += 1;
            queue[position - 1].clone()
        } else if let Some(wish) = spec.first_unsatisfied(&|v| chosen.contains(&v)) {
            wish
        } else {
            break;
        };
        if wish.iter().any(|candidate| chosen.contains(candidate)) {
            continue;
        }
        let candidate = wish.into_iter().find(|candidate| {
            let mut question = given.clone();
            question.extend(numbers_of(&[(*candidate, true)]));
            solver.solve_with(question) == Some(true)
        })?;
        given.extend(numbers_of(&[(candidate, true)]));
        chosen.push(candidate);
        queue.extend(spec.wishes_of(Some(candidate), &assumed));
    }
    let is_assumed_guard = |v: &usize| assumed.contains(v) && spec.is_guard(*v);
    Some(chosen.into_iter().filter(|v| !is_assumed_guard(v)).collect())
}

/// Families of alternatives that want alternatives of each other, with a few arbitrary clauses.
fn families(numbers: &mut Numbers) -> (Spec, Assumptions) {
    let count = 8 + numbers.below(20);
    let size = 3 + numbers.below(7);
    let mut spec = Spec { variables: count * size, constraints: Vec::new() };
    let member = |family: usize, place: usize| family * size + place;
    let mut assumptions = Assumptions::new();
    for family in 0..count {
        let guard = numbers.chance(20).then_some(spec.variables);
        if let Some(guard) = guard {
            spec.variables += 1;
            assumptions.push((guard, true));
        }
        let members = (0..size).map(|place| member(family, place)).collect();
        spec.constraints.push(Constraint::AtMostOne { members, guard });
        for _ in 0..numbers.below(4) {
            let target = numbers.below(count);
            for place in 0..size {
                let first = numbers.below(size);
                let end = (first + 1 + numbers.below(1 + size / 2)).min(size);
                let candidates = (first..end).map(|place| member(target, place)).collect();
                let trigger = Some(member(family, place));
                spec.constraints.push(Constraint::Choice { trigger, candidates, guard: None });
            }
        }
    }
    for _ in 0..numbers.below(6) {
        let literals = numbers.some(count * size, 1, 4).into_iter();
        let literals = literals.map(|v| (v, numbers.chance(40))).collect();
        spec.constraints.push(Constraint::Clause(literals));
    }
    for _ in 0..1 + numbers.below(5) {
        let guard = spec.variables;
        spec.variables += 1;
        assumptions.push((guard, true));
        let family = numbers.below(count);
        let candidates = (0..size).map(|place| member(family, place)).collect();
        spec.constraints.push(Constraint::Choice { trigger: None, candidates, guard: Some(guard) });
    }
    (spec, assumptions)
}

/// Random clauses of three literals, about as many as can just be satisfied.
fn three_literals(numbers: &mut Numbers) -> (Spec, Assumptions) {
    let variables = 50 + numbers.below(70);
    let mut spec = Spec { variables, constraints: Vec::new() };
    for _ in 0..variables * (400 + numbers.below(45)) / 100 {
        let literals = numbers.some(variables, 3, 3).into_iter();
        let literals = literals.map(|v| (v, numbers.chance(50))).collect();
        spec.constraints.push(Constraint::Clause(literals));
    }
    let assumptions = (0..3).map(|_| (numbers.below(variables), numbers.chance(50))).collect();
    (spec, assumptions)
}

fn compare(spec: &Spec, assumptions: &[(usize, bool)], case: &str) -> bool {
    let (problem, names) = spec.build();
    let given: Vec<Literal> =
        assumptions.iter().map(|(v, sign)| signed(names[*v], *sign)).collect();
    let expected = preferred(spec, assumptions);
    assert_eq!(expected.is_some(), batsat_verdict(spec, assumptions), "{case}: references differ");
    let mut budget = Budget::new(u64::MAX);
    for patience in [u64::MAX, 20, 3, 0] {
        let mut solver = Solver::with_patience(&problem, patience);
        match solver.prefer(&given, &mut budget) {
            Answer::Satisfiable(solution) => {
                let chosen: Vec<usize> = solution.chosen.iter().map(|v| v.index()).collect();
                assert_eq!(Some(chosen), expected, "{case}, patience {patience}");
            }
            Answer::Unsatisfiable(core) => {
                assert_eq!(None, expected, "{case}, patience {patience}");
                check_core(spec, assumptions, &core, case);
            }
            Answer::Spent => unreachable!("{case}: the budget was endless"),
        }
    }
    let mut solver = Solver::new(&problem);
    match solver.satisfy(&given, &mut budget) {
        Answer::Satisfiable(solution) => {
            assert!(expected.is_some(), "{case}: satisfied the impossible");
            check_model(spec, assumptions, &solution.chosen, case);
        }
        Answer::Unsatisfiable(core) => {
            assert!(expected.is_none(), "{case}: refuted the possible");
            check_core(spec, assumptions, &core, case);
            let minimal = minimise(&mut solver, core, &mut budget);
            assert!(minimal.minimal);
            check_core(spec, assumptions, &minimal.literals, case);
            for place in 0..minimal.literals.len() {
                let mut rest = minimal.literals.clone();
                rest.remove(place);
                let question = numbers_of(&plain(&rest));
                assert_eq!(cadical(spec).solve_with(question), Some(true), "{case}: not minimal");
            }
        }
        Answer::Spent => unreachable!("{case}: the budget was endless"),
    }
    expected.is_some()
}

fn plain(literals: &[Literal]) -> Vec<(usize, bool)> {
    literals.iter().map(|l| (l.variable().index(), l.is_positive())).collect()
}

fn check_core(spec: &Spec, assumptions: &[(usize, bool)], core: &[Literal], case: &str) {
    let core = plain(core);
    assert!(core.iter().all(|literal| assumptions.contains(literal)), "{case}: foreign {core:?}");
    assert_eq!(cadical(spec).solve_with(numbers_of(&core)), Some(false), "{case}: {core:?}");
}

fn check_model(spec: &Spec, assumptions: &[(usize, bool)], chosen: &[Variable], case: &str) {
    let mut is_true = vec![false; spec.variables];
    for variable in chosen {
        is_true[variable.index()] = true;
    }
    for (v, sign) in assumptions {
        is_true[*v] |= *sign && spec.is_guard(*v);
        assert_eq!(is_true[*v], *sign, "{case}: assumption about x{v}");
    }
    assert!(spec.holds(&|v| is_true[v]), "{case}: no model");
}

#[test]
fn families_agree_with_other_solvers() {
    let mut satisfiable = 0;
    for seed in 0..300 {
        let (spec, assumptions) = families(&mut Numbers::new(seed));
        satisfiable += usize::from(compare(&spec, &assumptions, &format!("families {seed}")));
    }
    assert!((60..240).contains(&satisfiable), "one-sided: {satisfiable} of 300");
}

#[test]
fn random_clauses_agree_with_other_solvers() {
    let mut satisfiable = 0;
    for seed in 0..60 {
        let (spec, assumptions) = three_literals(&mut Numbers::new(seed));
        satisfiable += usize::from(compare(&spec, &assumptions, &format!("clauses {seed}")));
    }
    assert!((10..50).contains(&satisfiable), "one-sided: {satisfiable} of 60");
}
