//! Budgets, sizes, counting, and problems that would be too much for a careless search.

use operon_sat::{Answer, Budget, Literal, Problem, Solver, Variable, minimise};

fn variables(problem: &mut Problem, count: usize) -> Vec<Variable> {
    (0..count).map(|_| problem.variable()).collect()
}

/// Everyone wants one of the places, and a place takes one; wishes and places have guards.
fn seats(guests: usize, places: usize) -> (Problem, Vec<Literal>) {
    let mut problem = Problem::new();
    let mut by_place = vec![Vec::new(); places];
    let mut guards = variables(&mut problem, guests + places);
    for guest in &guards[..guests] {
        let candidates = variables(&mut problem, places);
        for (place, candidate) in candidates.iter().enumerate() {
            by_place[place].push(*candidate);
        }
        // Nobody sits on two chairs; this group must not distract from the short ones.
        problem.at_most_one(&candidates, None);
        problem.choice(None, &candidates, Some(*guest));
    }
    for (place, members) in by_place.iter().enumerate() {
        problem.at_most_one(members, Some(guards[guests + place]));
    }
    // A wish that has nothing to do with it.
    let other = variables(&mut problem, 2);
    let guard = problem.variable();
    problem.choice(None, &other, Some(guard));
    guards.insert(0, guard);
    (problem, guards.iter().map(|guard| guard.positive()).collect())
}

#[test]
fn more_wishes_than_places_are_counted() {
    let (problem, guards) = seats(13, 12);
    for ordered in [true, false] {
        let mut solver = Solver::new(&problem);
        let mut budget = Budget::new(10_000_000);
        let answer = if ordered {
            solver.prefer(&guards, &mut budget)
        } else {
            solver.satisfy(&guards, &mut budget)
        };
        assert_eq!(answer, Answer::Unsatisfiable(guards[1..].to_vec()), "ordered: {ordered}");
        assert_eq!(solver.statistics().counting_proofs, 1);
        let minimal = minimise(&mut solver, guards.clone(), &mut budget);
        assert_eq!(minimal.literals, guards[1..]);
        assert!(minimal.minimal);
    }
    let (problem, guards) = seats(12, 12);
    let answer = Solver::new(&problem).prefer(&guards, &mut Budget::new(10_000_000));
    let Answer::Satisfiable(solution) = answer else { panic!("{answer:?}") };
    assert_eq!(solution.chosen.len(), 13);
}

#[test]
fn a_spent_budget_leaves_a_usable_solver() {
    let (problem, guards) = seats(13, 12);
    let mut solver = Solver::new(&problem);
    for steps in 0..200 {
        let mut budget = Budget::new(steps);
        assert_eq!(solver.prefer(&guards, &mut budget), Answer::Spent, "{steps} steps");
        assert_eq!(solver.satisfy(&guards, &mut Budget::new(steps)), Answer::Spent);
        assert_eq!(budget.remaining(), 0);
        assert!(budget.spent() >= steps);
        let result = minimise(&mut solver, guards.clone(), &mut Budget::new(steps));
        assert!(!result.minimal);
    }
    let answer = solver.prefer(&guards, &mut Budget::new(10_000_000));
    assert_eq!(answer, Answer::Unsatisfiable(guards[1..].to_vec()));
}

#[test]
fn only_what_is_reached_costs_something() {
    let mut problem = Problem::new();
    let families: Vec<Vec<Variable>> = (0..10_000).map(|_| variables(&mut problem, 10)).collect();
    for members in &families {
        problem.at_most_one(members, None);
    }
    for pair in families[50..].windows(2) {
        for member in &pair[0] {
            problem.choice(Some(*member), &pair[1], None);
        }
    }
    for members in &families[..50] {
        problem.choice(None, members, None);
    }
    let mut budget = Budget::new(u64::MAX);
    let answer = Solver::new(&problem).prefer(&[], &mut budget);
    let Answer::Satisfiable(solution) = answer else { panic!("{answer:?}") };
    let first_of_each: Vec<Variable> = families[..50].iter().map(|members| members[0]).collect();
    assert_eq!(solution.chosen, first_of_each);
    assert!(budget.spent() < 5_000, "{} steps", budget.spent());
}

#[test]
fn long_chains_need_no_deep_stack() {
    const LENGTH: usize = 50_000;
    let mut by_choice = Problem::new();
    let mut by_clause = Problem::new();
    // Both problems number their variables alike.
    let names = variables(&mut by_choice, LENGTH);
    assert_eq!(names, variables(&mut by_clause, LENGTH));
    by_choice.choice(None, &names[..1], None);
    by_clause.clause(&[names[0].positive()]);
    for pair in names.windows(2) {
        by_choice.choice(Some(pair[0]), &pair[1..], None);
        by_clause.clause(&[pair[0].negative(), pair[1].positive()]);
    }
    for problem in [&mut by_choice, &mut by_clause] {
        let mut budget = Budget::new(20 * LENGTH as u64);
        let answer = Solver::new(problem).prefer(&[], &mut budget);
        let Answer::Satisfiable(solution) = answer else { panic!("{answer:?}") };
        assert_eq!(solution.chosen, names);
        problem.clause(&[names[LENGTH - 1].negative()]);
        let answer = Solver::new(problem).prefer(&[], &mut budget);
        assert_eq!(answer, Answer::Unsatisfiable(Vec::new()));
    }
}

#[test]
fn odd_questions_have_plain_answers() {
    let mut problem = Problem::new();
    let names = variables(&mut problem, 3);
    let [a, b, guard] = names[..] else { panic!("three variables were made") };
    problem.at_most_one(&[a, b, b], Some(guard));
    let mut solver = Solver::new(&problem);
    let mut ask = |assumptions: &[Literal]| solver.prefer(assumptions, &mut Budget::new(1000));
    let satisfied =
        |chosen: &[Variable]| Answer::Satisfiable(operon_sat::Solution { chosen: chosen.to_vec() });

    assert_eq!(ask(&[]), satisfied(&[]));
    assert_eq!(ask(&[guard.positive()]), satisfied(&[]));
    assert_eq!(ask(&[b.positive(), a.positive()]), satisfied(&[b, a]));
    assert_eq!(ask(&[a.positive(), guard.positive()]), satisfied(&[a]));
    // A member listed twice cannot be true while the guard is.
    let both = [guard.positive(), b.positive()];
    assert_eq!(ask(&both), Answer::Unsatisfiable(both.to_vec()));
    let contradiction = [a.positive(), b.negative(), a.negative(), a.positive()];
    assert_eq!(ask(&contradiction), Answer::Unsatisfiable(vec![a.positive(), a.negative()]));

    // A variable of another problem is not understood, but does no harm.
    let mut larger = Problem::new();
    let foreign = variables(&mut larger, 10)[9];
    assert_eq!(ask(&[foreign.positive()]), Answer::Spent);
    problem.clause(&[foreign.positive()]);
    assert_eq!(Solver::new(&problem).satisfy(&[], &mut Budget::new(1000)), Answer::Spent);
}
