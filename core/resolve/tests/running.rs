//! Which running operators take part in meeting a requirement.

use std::collections::BTreeSet;

use operon_constraint::{Constraint, Dialect, GroupVersionKind, parse_property};
use operon_resolve::{Budget, Installed, InstalledProperties, Limits, RunningOperator, RunningSet};
use operon_version::Version;

fn budget() -> Budget {
    Budget::new(&Limits::default())
}

/// Returns an operator of its own package and version 1.0.0, with further properties.
fn operator(package: &str, properties: &[(&str, &str)]) -> RunningOperator {
    let own = format!(r#"{{"packageName":"{package}","version":"1.0.0"}}"#);
    let further = properties.iter().map(|(kind, value)| ((*kind).to_owned(), (*value).to_owned()));
    let installed = Installed {
        name: format!("{package}.v1"),
        version: Version::new(1, 0, 0),
        replaces: String::new(),
        phase: "Succeeded".to_owned(),
        properties: InstalledProperties::Annotated(
            [("olm.package".to_owned(), own)].into_iter().chain(further).collect(),
        ),
    };
    RunningOperator::read(&installed, &[], &mut budget()).expect("it is cheap")
}

fn constraint(value: &str) -> Constraint {
    let parsed = parse_property("olm.constraint", value, Dialect::Documented);
    parsed.expect(value).expect("it states a requirement").constraint
}

fn compound(kind: &str, parts: &[&str]) -> String {
    format!(r#"{{"{kind}":{{"constraints":[{}]}}}}"#, parts.join(","))
}

#[test]
fn every_part_that_is_met_takes_part() {
    let set = [
        operator("a", &[("olm.gvk", r#"{"group":"g","version":"v1","kind":"A"}"#)]),
        operator("b", &[("olm.label", r#"{"label":"x"}"#), ("colour", r#""red""#)]),
        operator("c", &[("olm.label", r#"{"label":"x"}"#)]),
    ];
    let native = GroupVersionKind {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: "Deployment".to_owned(),
    };
    let apis = BTreeSet::from([native]);
    let running = RunningSet::new(&set);
    let package = |name: &str| {
        format!(r#"{{"package":{{"packageName":"{name}","versionRange":">=1.0.0"}}}}"#)
    };
    let (a, b, ghost) = (package("a"), package("b"), package("ghost"));
    let api = r#"{"gvk":{"group":"g","version":"v1","kind":"A"}}"#;
    let deployment = r#"{"gvk":{"group":"apps","version":"v1","kind":"Deployment"}}"#;
    let red = r#"{"cel":{"rule":"properties.exists(p, p.type == 'colour' && p.value == 'red')"}}"#;
    let not = |part: &str| compound("not", &[part]);
    let claims: &[(String, Option<&[usize]>, bool)] = &[
        (api.to_owned(), Some(&[0]), false),
        (ghost.clone(), None, false),
        (red.to_owned(), Some(&[1]), false),
        (compound("all", &[&a, &b]), Some(&[0, 1]), false),
        (compound("all", &[&a, &ghost]), None, false),
        (compound("any", &[&a, red, &ghost]), Some(&[0, 1]), false),
        (compound("any", &[&ghost]), None, false),
        (not(&ghost), Some(&[]), false),
        (not(&a), None, false),
        (compound("all", &[&a, &not(&ghost)]), Some(&[0]), false),
        (not(&not(&a)), Some(&[0]), false),
        (not(&compound("all", &[&a, &ghost])), Some(&[]), false),
        (deployment.to_owned(), Some(&[]), true),
        (not(deployment), Some(&[]), false),
        (compound("any", &[deployment, &a]), Some(&[0]), true),
    ];
    for (value, expected, is_native) in claims {
        let found = running.fulfilment(&constraint(value), &apis, &mut budget()).expect("cheap");
        let operators = found.as_ref().map(|found| found.operators.iter().copied().collect());
        assert_eq!(operators, expected.map(<[usize]>::to_vec), "{value}");
        assert_eq!(found.is_some_and(|found| !found.apis.is_empty()), *is_native, "{value}");
    }
}

#[test]
fn requirements_are_judged_with_the_set() {
    let needed = r#"{"package":{"packageName":"b","versionRange":">=1.0.0"}}"#;
    let twice = [("olm.constraint", needed), ("olm.constraint", needed), ("olm.constraint", "{}")];
    let (a, b) = (operator("a", &twice), operator("b", &[]));
    assert_eq!(a.requirements().len(), 1);
    assert_eq!(a.malformed().len(), 1);
    let none = BTreeSet::new();
    let unmet = |set: RunningSet<'_>| set.unmet(&a, &none, &mut budget()).expect("cheap").len();
    assert_eq!(unmet(RunningSet::new([&a, &b])), 0);
    assert_eq!(unmet(RunningSet::new([&a])), 1);
}
