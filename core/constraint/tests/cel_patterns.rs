//! States what patterns mean, where upstream's own evaluator was asked for the answer, and shows
//! that no pattern upsets the translation.

use operon_constraint::{CelError, CelRule};
use proptest::prelude::*;

fn outcome(rule: &str) -> Result<bool, CelError> {
    CelRule::compile(rule).and_then(|program| program.evaluate(&[]))
}

#[test]
fn patterns_that_match() {
    for rule in MATCH {
        assert_eq!(outcome(rule), Ok(true), "{rule}");
    }
}

#[test]
fn patterns_that_do_not_match() {
    for rule in DO_NOT_MATCH {
        assert_eq!(outcome(rule), Ok(false), "{rule}");
    }
}

#[test]
fn patterns_that_are_none() {
    for rule in NO_PATTERN {
        let outcome = outcome(rule);
        assert!(matches!(outcome, Err(CelError::Evaluation(_))), "{rule}: {outcome:?}");
    }
}

#[test]
fn a_computed_pattern_means_the_same_as_a_constant_one() {
    for rule in MATCH.iter().chain(DO_NOT_MATCH).chain(NO_PATTERN) {
        // Not a literal any more, so it is compiled while evaluating.
        let computed = rule.replace(".matches(", ".matches('' + ");
        let computed = computed.replace("matches('abc', ", "matches('abc', '' + ");
        assert_eq!(outcome(rule), outcome(&computed), "{computed}");
    }
}

proptest! {
    #[test]
    fn no_pattern_upsets_the_translation(pattern in "[ab()|*+?{},0-9:\\[\\]^$.\\\\pPdwQEzxi<>-]{0,24}") {
        let literal = pattern.replace('\\', "\\\\");
        let outcome = outcome(&format!("'ab'.matches('{literal}')"));
        prop_assert!(matches!(outcome, Ok(_) | Err(CelError::Evaluation(_))), "{:?}", outcome);
    }
}

const MATCH: &[&str] = &[
    "matches('abc', '')",
    "'abc'.matches('b') && matches('abc', '^abc$')",
    "'ABC'.matches('(?i)abc')",
    r#"'a b'.matches('\\bb')"#,
    r#"'ab'.matches('\\Qab\\E')"#,
    r#"'a.b'.matches('\\Qa.b')"#,
    "'a'.matches('[[:alpha:]]')",
    "'x'.matches('x*?')",
    "'x'.matches('(?P<n>x)')",
    "'x'.matches('(?<n>x)')",
    "'xx'.matches('(?<n>x)(?<n>x)')",
    r#"'x'.matches('\\pL')"#,
    r#"'x'.matches('\\p{^Greek}')"#,
    r#"'x'.matches('\\p{Letter}')"#,
    r#"'x'.matches('\\x{78}')"#,
    r#"'x'.matches('\\x78')"#,
    r#"'x'.matches('\\170')"#,
    r#"'x'.matches('x\\z')"#,
    "'x'.matches('|x')",
    "'x'.matches('(|x)')",
    "'x'.matches('^*')",
    "'x'.matches('$')",
    r#"'x\ny'.matches('(?m)x$')"#,
    "'x'.matches('(?-s).')",
    "'x'.matches('(?U)x+')",
    "'-'.matches('[a-z-]')",
    "'-'.matches('[-a]')",
    "']'.matches('[]]')",
    "'a'.matches('[^]]')",
    "'&'.matches('[a&&b]')",
    "'['.matches('[[]')",
    "'~'.matches('[a~~b]')",
    r#"'k'.matches('(?i)\u212a')"#,
    "'{'.matches('{')",
    "'x{'.matches('x{')",
    "'x{1'.matches('x{1')",
    "'x{1,2'.matches('x{1,2')",
    "'x{a}'.matches('x{a}')",
    r#"'/'.matches('\\/')"#,
    r#"'_'.matches('\\_')"#,
];

const DO_NOT_MATCH: &[&str] = &[
    r#"'a'.matches('\\d')"#,
    r#"'٣'.matches('\\d')"#,
    r#"'é'.matches('\\w')"#,
    "'aaa'.matches('^(a{2}){2}$')",
    r#"'x'.matches('\\p{Greek}')"#,
    r#"'x'.matches('\\p{greek}')"#,
    r#"'x\n'.matches('x$')"#,
    "'x'.matches('(?i-i)X')",
];

const NO_PATTERN: &[&str] = &[
    "'a'.matches('[[:foo:]]')",
    "'a'.matches('[a-')",
    "'a'.matches('a{1001}')",
    "'a'.matches('(a{100}){11}')",
    "'x'.matches('x{2}{3}')",
    "'x'.matches('x*+')",
    r#"'x'.matches('\\p{Foo}')"#,
    r#"'x'.matches('\\Z')"#,
    r#"'x'.matches('\\C')"#,
    "'x'.matches('(')",
    "'x'.matches(')')",
    "'x'.matches('*')",
    "'x'.matches('x|*')",
    "'x'.matches('(?-)x')",
    "'x'.matches('(?z)x')",
    "'a'.matches('[z-a]')",
    r#"'x'.matches('\\')"#,
    r#"'x'.matches('\\y')"#,
    r#"'x'.matches('\\é')"#,
];
