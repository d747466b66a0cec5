//! Contradictions that propagation alone finds.

use crate::support::{Numbers, signed, small};
use operon_sat::{Budget, Literal, Solver, minimise_refutation};

#[test]
fn what_propagation_refutes_cannot_hold_and_shrinks_to_what_it_needs() {
    let mut refuted = 0;
    for case in 0..5_000 {
        let (spec, assumptions) = small(&mut Numbers::new(case));
        let (problem, names) = spec.build();
        let given: Vec<Literal> =
            assumptions.iter().map(|(v, sign)| signed(names[*v], *sign)).collect();
        let mut solver = Solver::new(&problem);
        let Some(core) = solver.refute(&given) else { continue };
        refuted += 1;
        let result = minimise_refutation(&mut solver, core.clone(), &mut Budget::new(u64::MAX));
        assert!(result.minimal);
        let shrunk = result.literals;
        assert!(shrunk.iter().all(|literal| core.contains(literal)), "case {case}");
        let plain: Vec<(usize, bool)> =
            shrunk.iter().map(|l| (l.variable().index(), l.is_positive())).collect();
        assert!(!spec.is_satisfiable(&plain), "case {case}: {spec:?}");
        assert!(Solver::new(&problem).refute(&shrunk).is_some(), "case {case}");
        for place in 0..shrunk.len() {
            let mut rest = shrunk.clone();
            rest.remove(place);
            assert_eq!(Solver::new(&problem).refute(&rest), None, "case {case}: {spec:?}");
        }
    }
    assert!(refuted > 100, "only {refuted} problems were refuted");
}
