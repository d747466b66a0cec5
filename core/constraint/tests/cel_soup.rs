//! Throws random texts at the language: nothing panics, and refusals point into the rule.

use operon_constraint::{CelError, CelRule, Property};
use proptest::prelude::*;

fn properties() -> Vec<Property> {
    vec![
        Property::from_text("a", r#"[1, "x", null, {"k": [1]}]"#),
        Property::from_text("b", r#"{"type": "b", "value": {"n": 3}}"#),
        Property::from_text("c", "not json"),
    ]
}

fn run(rule: &str) -> Result<bool, CelError> {
    CelRule::compile(rule).and_then(|program| program.evaluate(&properties()))
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "1",
        "0x1F",
        "1u",
        "1.5",
        "-1",
        "'a'",
        "\"b\"",
        "'''c'''",
        "r'\\d'",
        "b'x'",
        "true",
        "false",
        "null",
        "in",
        "x",
        "p",
        "properties",
        "has(p.type)",
        ".type",
        ".value",
        "size(",
        "dyn(",
        "type(",
        "int(",
        "string(",
        "semver_compare(",
        ".exists(p, ",
        ".all(x, ",
        ".map(x, ",
        ".filter(p, ",
        ".exists_one(x, ",
        ".matches(",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        ":",
        "?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "&&",
        "||",
        "==",
        "!=",
        "<",
        ">=",
        "`a`",
        "if",
        "//",
        "\n",
        "é",
        "@",
        "google.protobuf.Duration",
        "google.protobuf.Value{",
        "duration('1s')",
        "timestamp(0)",
        "int",
        "[1]",
        "{'a': 1}",
    ])
}

/// Rules that are well formed, and now and then well typed. They have no bytes: as the key of a map
/// these end an evaluation whatever surrounds them.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1",
        "2u",
        "0.5",
        "'a'",
        "true",
        "null",
        "[]",
        "{}",
        "[1, 'a']",
        "{'a': [1]}",
        "x",
        "p",
        "properties",
        "dyn(1)",
        "dyn('a')",
        "dyn([1])",
        "duration('1s')",
        "timestamp(0)",
        "int",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (
                two.clone(),
                prop::sample::select(vec!["==", "<", "+", "-", "*", "/", "&&", "||", "in"])
            )
                .prop_map(|((left, right), operator)| format!("({left} {operator} {right})")),
            (
                two.clone(),
                prop::sample::select(vec!["all", "exists", "exists_one", "map", "filter"])
            )
                .prop_map(|((range, body), name)| format!("dyn({range}).{name}(x, dyn({body}))")),
            (
                inner.clone(),
                prop::sample::select(vec!["size", "type", "int", "string", "dyn", "!"])
            )
                .prop_map(|(operand, name)| format!("{name}({operand})")),
            two.clone().prop_map(|(operand, index)| format!("dyn({operand})[{index}]")),
            two.clone().prop_map(|(first, second)| format!("[{first}, {second}]")),
            two.clone().prop_map(|(key, value)| format!("{{{key}: {value}}}")),
            two.prop_map(|(yes, no)| format!("(dyn(x) ? {yes} : {no})")),
            inner.prop_map(|operand| format!("properties.exists(p, dyn({operand}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn token_soup_is_harmless(tokens in prop::collection::vec(token(), 0..14), glue in " ?") {
        let rule = tokens.join(&glue);
        if let Err(CelError::Invalid(invalid)) = run(&rule) {
            prop_assert!(invalid.line <= rule.lines().count().max(1) + 1);
            prop_assert!(invalid.caret <= invalid.excerpt.chars().count());
            prop_assert!(!invalid.message.is_empty());
        }
    }

    #[test]
    fn any_text_is_harmless(rule in any::<String>()) {
        let _ = run(&rule);
    }

    #[test]
    fn expressions_are_harmless_and_have_one_answer(body in expression()) {
        let rule = format!("[1].exists(x, properties.exists(p, dyn({body}) == 1))");
        let outcome = run(&rule);
        prop_assert_eq!(&outcome, &run(&rule));
        prop_assert!(!matches!(outcome, Err(CelError::Limit(_))), "{:?}", outcome);
    }

    #[test]
    fn or_absorbs_and_negation_mirrors(body in expression()) {
        let rule = |text: String| format!("[1].all(x, properties.all(p, {text}))");
        let plain = run(&rule(format!("dyn({body}) == 1")));
        if matches!(plain, Err(CelError::Invalid(_))) {
            return Ok(());
        }
        prop_assert_eq!(run(&rule(format!("dyn({body}) == 1 || true"))), Ok(true));
        prop_assert_eq!(run(&rule(format!("dyn({body}) == 1 && false"))), Ok(false));
        let negated = run(&format!("!({})", rule(format!("dyn({body}) == 1"))));
        prop_assert_eq!(negated.ok(), plain.ok().map(|answer| !answer));
    }
}
