//! Small random problems against the definitions, by trying everything.

use crate::support::{Numbers, Spec, signed, small};
use operon_sat::{Answer, Budget, Literal, Solver, Variable, minimise};

const CASES: u64 = 20_000;

fn plenty() -> Budget {
    Budget::new(u64::MAX)
}

fn literals(assumptions: &[(usize, bool)], names: &[Variable]) -> Vec<Literal> {
    assumptions.iter().map(|(v, sign)| signed(names[*v], *sign)).collect()
}

fn plain(literals: &[Literal]) -> Vec<(usize, bool)> {
    literals.iter().map(|l| (l.variable().index(), l.is_positive())).collect()
}

fn check_model(spec: &Spec, assumptions: &[(usize, bool)], chosen: &[Variable], case: u64) {
    let assumed_guard = |v: usize| spec.is_guard(v) && assumptions.contains(&(v, true));
    let is_true = |v: usize| chosen.iter().any(|c| c.index() == v) || assumed_guard(v);
    assert!(
        spec.holds(&is_true),
        "case {case}: {chosen:?} is no model of {spec:?} {assumptions:?}"
    );
    for (v, sign) in assumptions {
        assert_eq!(is_true(*v), *sign, "case {case}: assumption about x{v} in {spec:?}");
    }
}

fn check_core(spec: &Spec, given: &[(usize, bool)], core: &[Literal], case: u64) {
    let core = plain(core);
    assert!(core.iter().all(|literal| given.contains(literal)), "case {case}: foreign {core:?}");
    assert!(!spec.is_satisfiable(&core), "case {case}: {core:?} can hold in {spec:?}");
}

#[test]
fn answers_equal_the_definitions() {
    let mut satisfiable = 0;
    for case in 0..CASES {
        let mut numbers = Numbers::new(case);
        let (spec, assumptions) = small(&mut numbers);
        let (problem, names) = spec.build();
        let given = literals(&assumptions, &names);
        let expected = spec.preferred(&assumptions);
        assert_eq!(expected.is_some(), spec.is_satisfiable(&assumptions), "case {case}: {spec:?}");
        for patience in [u64::MAX, 2, 1, 0] {
            let mut solver = Solver::with_patience(&problem, patience);
            // Every other case the solver has seen another question before.
            if case % 2 == 1 {
                solver.satisfy(&given[..given.len() / 2], &mut plenty());
            }
            match solver.prefer(&given, &mut plenty()) {
                Answer::Satisfiable(solution) => {
                    let chosen: Vec<usize> = solution.chosen.iter().map(|v| v.index()).collect();
                    assert_eq!(Some(chosen), expected, "case {case}: {spec:?} {assumptions:?}");
                    check_model(&spec, &assumptions, &solution.chosen, case);
                }
                Answer::Unsatisfiable(core) => {
                    assert_eq!(None, expected, "case {case}: {spec:?} {assumptions:?}");
                    check_core(&spec, &assumptions, &core, case);
                }
                Answer::Spent => panic!("case {case}: the budget was endless"),
            }
        }
        match Solver::new(&problem).satisfy(&given, &mut plenty()) {
            Answer::Satisfiable(solution) => {
                satisfiable += 1;
                check_model(&spec, &assumptions, &solution.chosen, case);
            }
            Answer::Unsatisfiable(core) => {
                assert_eq!(None, expected, "case {case}: {spec:?} {assumptions:?}");
                check_core(&spec, &assumptions, &core, case);
            }
            Answer::Spent => panic!("case {case}: the budget was endless"),
        }
    }
    assert!((CASES / 4..CASES * 3 / 4).contains(&satisfiable), "one-sided: {satisfiable}");
}

#[test]
fn minimised_cores_lose_satisfiability_with_any_member() {
    let mut shrunk = 0;
    for case in 0..CASES {
        let mut numbers = Numbers::new(case);
        let (spec, mut assumptions) = small(&mut numbers);
        for _ in 0..3 {
            assumptions.push((numbers.below(spec.variables), numbers.chance(50)));
        }
        if spec.is_satisfiable(&assumptions) {
            continue;
        }
        let (problem, names) = spec.build();
        let given = literals(&assumptions, &names);
        let mut solver = Solver::new(&problem);
        let result = minimise(&mut solver, given, &mut plenty());
        assert!(result.minimal);
        // Leaving out from the end whatever can be left out gives exactly this set.
        let mut expected = assumptions.clone();
        for place in (0..assumptions.len()).rev() {
            let removed = expected.remove(place);
            if spec.is_satisfiable(&expected) {
                expected.insert(place, removed);
            }
        }
        assert_eq!(plain(&result.literals), expected, "case {case}: {spec:?} {assumptions:?}");
        shrunk += usize::from(expected.len() < assumptions.len());
    }
    assert!(shrunk > 100, "only {shrunk} sets were shrunk");
}

#[test]
fn the_numbering_of_variables_does_not_matter() {
    for case in 0..CASES / 4 {
        let mut numbers = Numbers::new(case);
        let (spec, assumptions) = small(&mut numbers);
        let (problem, names) = spec.build();
        let order = numbers.shuffled(spec.variables);
        let (mut renamed, _) = Spec { variables: spec.variables, constraints: vec![] }.build();
        spec.add_to(&mut renamed, &names, &order);
        let given = literals(&assumptions, &names);
        let renamed_given: Vec<Literal> =
            assumptions.iter().map(|(v, sign)| signed(names[order[*v]], *sign)).collect();
        let left = Solver::new(&problem).prefer(&given, &mut plenty());
        let right = Solver::new(&renamed).prefer(&renamed_given, &mut plenty());
        match (left, right) {
            (Answer::Satisfiable(left), Answer::Satisfiable(right)) => {
                let left: Vec<Variable> =
                    left.chosen.iter().map(|v| names[order[v.index()]]).collect();
                assert_eq!(left, right.chosen, "case {case}: {spec:?}");
            }
            (Answer::Unsatisfiable(_), Answer::Unsatisfiable(_)) => {}
            (left, right) => panic!("case {case}: {left:?} and {right:?} of {spec:?}"),
        }
    }
}
