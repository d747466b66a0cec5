//! Shows that no rule overflows the stack, eats memory or runs on.

use std::time::Duration;

use operon_constraint::cel::{
    Limit, MAX_EVALUATION_BYTES, MAX_EVALUATION_STEPS, MAX_NESTING, MAX_PARSE_DEPTH,
    MAX_RULE_BYTES, MAX_RULE_CHARACTERS,
};
use operon_constraint::{CelError, CelRule, Property};

/// Half of the 2 MiB that threads of runtimes get; debug builds must fit too.
const STACK: usize = 1024 * 1024;

fn outcome(rule: &str) -> Result<bool, CelError> {
    let properties: Vec<Property> =
        (0..20).map(|index| Property::from_text(format!("t{index}"), "[1,2,3,4,5]")).collect();
    CelRule::compile(rule).and_then(|program| program.evaluate(&properties))
}

/// Runs on a small stack; an overflow aborts the whole test run.
fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let handle = builder.spawn_scoped(scope, work).expect("a thread starts");
        handle.join().expect("the thread does not panic")
    })
}

/// Rules that nest as deeply as their text repeats.
fn nested(depth: usize) -> Vec<String> {
    let wrap = |open: &str, core: &str, close: &str| {
        [&open.repeat(depth), core, &close.repeat(depth)].concat()
    };
    vec![
        wrap("(", "true", ")"),
        wrap("!(", "true", ")"),
        wrap("true && (", "true", ")"),
        wrap("false || (", "true", ")"),
        wrap("true == (", "true", ")"),
        wrap("1+(", "1", ")") + " == 1",
        wrap("1+2*(", "1", ")") + " == 1",
        wrap("[", "", "]") + " == []",
        wrap("[!(", "true", ")]") + " == []",
        wrap("{'a':", "1", "}") + " == {}",
        wrap("dyn(", "1", ")") + " == 1",
        wrap("size([", "1", "])") + " == 1",
        wrap("(true ? (", "true", ") : false)"),
        wrap("true ? true : ", "true", ""),
        wrap("[1].exists(x, ", "true", ")"),
        wrap("[1].map(x, ", "1", ")") + " == []",
        wrap("google.protobuf.ListValue{values: [", "1", "]}") + " == []",
        wrap("dyn([1])[", "0", "]") + " == 1",
        "1".to_owned() + &"+1".repeat(depth) + " == 1",
        "true".to_owned() + &" == true".repeat(depth),
        "dyn({})".to_owned() + &".a".repeat(depth) + " == 1",
        "dyn([])".to_owned() + &"[0]".repeat(depth) + " == 1",
        "[1]".to_owned() + &".map(x, x)".repeat(depth) + " == []",
        "[1]".to_owned() + &".map(x, [x])".repeat(depth) + " == []",
        "[1]".to_owned() + &".map(x, {x: x})".repeat(depth) + " == []",
        "[[]]".to_owned() + &".map(x, {x: [x]})".repeat(depth) + " == []",
        "[]".to_owned() + &" + []".repeat(depth) + " == [1]",
        "'a'".to_owned() + &".contains('a')".repeat(depth),
        "true".to_owned() + &" && true".repeat(depth),
        "!".repeat(depth) + "true",
        "-".repeat(depth) + "1 == 1",
    ]
}

#[test]
fn nesting_never_overflows_the_stack() {
    for depth in [83, 124, 249, 250, 5_000] {
        for rule in nested(depth) {
            let _ = on_small_stack(|| outcome(&rule));
        }
    }
}

#[test]
fn the_highest_tree_fits_the_stack() {
    // Lists nest until the parser's limit, and a sum inside them reaches the tree's limit.
    let depth = 110;
    let sum = |terms: usize| ["1"].repeat(terms).join("+");
    let rule = |terms: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!("{open}{}{close} == []", sum(terms))
    };
    let highest = MAX_NESTING - depth - 1;
    let (fits, too_high) = (rule(highest), rule(highest + 1));
    assert_eq!(on_small_stack(|| outcome(&fits)), Ok(false));
    let refused = on_small_stack(|| outcome(&too_high));
    assert_eq!(refused, Err(CelError::Limit(Limit::Nesting)));
}

#[test]
fn depth_is_limited_as_upstream_limits_it() {
    let parentheses = |depth: usize| "(".repeat(depth) + "true" + &")".repeat(depth);
    assert_eq!(outcome(&parentheses(MAX_PARSE_DEPTH - 1)), Ok(true));
    let refused = outcome(&parentheses(MAX_PARSE_DEPTH));
    assert_eq!(refused, Err(CelError::Limit(Limit::ParseDepth)));
    let sum = |terms: usize| format!("{} == {terms}", ["1"].repeat(terms).join("+"));
    assert_eq!(outcome(&sum(MAX_PARSE_DEPTH)), Ok(true));
    let refused = outcome(&sum(MAX_PARSE_DEPTH + 1));
    assert_eq!(refused, Err(CelError::Limit(Limit::ParseDepth)));
}

#[test]
fn size_is_limited() {
    let long = format!("'{}' != ''", "a".repeat(MAX_RULE_CHARACTERS));
    assert_eq!(outcome(&long), Err(CelError::Limit(Limit::RuleCharacters)));
    let wide = format!("'{}' != ''", "é".repeat(MAX_RULE_BYTES / 2));
    assert_eq!(outcome(&wide), Err(CelError::Limit(Limit::RuleBytes)));
    let list = format!("[{}].size() == 20000", ["1"].repeat(20_000).join(","));
    assert_eq!(outcome(&list), Ok(true));
    let comparisons = ["2 < 1"].repeat(10_900).join(" || ");
    assert_eq!(outcome(&comparisons), Ok(false));
}

#[test]
fn bombs_end_at_a_limit() {
    let nested_exists = |levels: usize| {
        let open: String =
            (0..levels).map(|level| format!("[1,2,3,4,5].exists(x{level}, ")).collect();
        open + "false" + &")".repeat(levels)
    };
    let long_text = format!("'{}'", "a".repeat(60_000));
    let bombs = [
        (nested_exists(12), Limit::EvaluationSteps),
        (format!("['a']{}.size() == 1", ".map(x, x + x)".repeat(40)), Limit::EvaluationBytes),
        (format!("[[1]]{}.size() == 1", ".map(x, x + x)".repeat(40)), Limit::EvaluationBytes),
        (
            // Shared, so small; but comparing it walks over every leaf.
            format!("[1]{0} == [1]{0}", ".map(x, [x, x])".repeat(40)),
            Limit::EvaluationSteps,
        ),
        (format!("[1]{}.size() == 1", ".map(x, {x: x})".repeat(60)), Limit::CheckSteps),
        (
            // Each outer step nests the value by all inner steps.
            format!(
                "[dyn(1)]{} == []",
                format!(".map(x, [x]{})", ".map(y, dyn([y]))".repeat(20)).repeat(60)
            ),
            Limit::ValueNesting,
        ),
        (
            format!("[1]{} == []", format!(".map(x, [x]{})", ".map(y, [y])".repeat(20)).repeat(60)),
            Limit::TypeNesting,
        ),
        (
            format!(
                "properties.all(p, properties.all(q, properties.all(r, {long_text}.contains('b') == false)))"
            ),
            Limit::EvaluationSteps,
        ),
        (
            "properties.all(p, properties.all(q, properties.all(r, \
             'a'.matches('a{1000}' + p.type) == false)))"
                .to_owned(),
            Limit::EvaluationBytes,
        ),
    ];
    for (rule, limit) in bombs {
        let shown: String = rule.chars().take(80).collect();
        assert_eq!(outcome(&rule), Err(CelError::Limit(limit)), "{shown}");
    }
}

#[test]
fn a_limit_is_never_absorbed_and_says_that_it_is_ours() {
    let bomb = "[1,2,3,4,5].exists(a, ".repeat(12) + "false" + &")".repeat(12);
    for rule in [
        format!("({bomb}) || true"),
        format!("({bomb}) && false"),
        format!("[1].exists(x, ({bomb}) || true)"),
    ] {
        let error = outcome(&rule).expect_err("the budget is spent before the end");
        let expected =
            format!("evaluation takes too many steps: Operon's limit is {MAX_EVALUATION_STEPS}");
        assert_eq!(error.to_string(), expected);
    }
    const { assert!(MAX_EVALUATION_BYTES > MAX_RULE_BYTES) };
}

#[test]
fn hostile_patterns_are_cheap_or_refused() {
    let patterns = [
        "(a*)*b".to_owned(),
        "(a|aa)+$".to_owned(),
        "((a{10}){10}){10}".to_owned(),
        "\\\\p{L}{1000}".to_owned(),
        "(?:".repeat(400) + "a" + &")".repeat(400),
        "(".repeat(5_000),
        "[[:".repeat(20_000),
        "{".repeat(50_000),
        "a?".repeat(5_000) + &"a".repeat(5_000),
    ];
    for pattern in patterns {
        let rule = format!("'{}'.matches('{pattern}')", "a".repeat(2_000));
        let started = std::time::Instant::now();
        let _ = on_small_stack(|| outcome(&rule));
        let shown: String = pattern.chars().take(30).collect();
        assert!(started.elapsed() < Duration::from_secs(20), "{shown}");
    }
}
