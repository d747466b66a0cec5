//! Texts made to harm: they end in an answer, soon, with little memory and on a small stack.

use std::thread;

use operon_document::yaml::{
    DuplicateKeys, MAX_YAML_BYTES, MAX_YAML_DEPTH, SMALLEST_JSON_LIMIT, YamlOptions, to_json,
};

/// What threads get by default; deep documents must not need more.
const SMALL_STACK: usize = 2 << 20;

fn convert(text: &str) -> Result<String, String> {
    let options = YamlOptions { duplicate_keys: DuplicateKeys::Report, html_escape: false };
    match to_json(text.as_bytes(), &options) {
        Ok(converted) => Ok(String::from_utf8(converted.json).expect("JSON text is UTF-8")),
        Err(error) => Err(error.to_string()),
    }
}

#[track_caller]
fn assert_refused(text: &str, reason: &str) {
    let error = convert(text).map(|json| format!("{json:.200}")).expect_err(reason);
    assert!(error.contains(reason), "{error}");
}

fn nested(opening: &str, inner: &str, closing: &str, depth: usize) -> String {
    opening.repeat(depth) + inner + &closing.repeat(depth)
}

#[test]
fn the_deepest_documents_fit_on_a_small_stack() {
    let deepest = || {
        let brackets = nested("[", "", "]", MAX_YAML_DEPTH);
        assert_eq!(convert(&brackets).unwrap(), brackets);
        let blocks = convert(&nested("- ", "x", "", MAX_YAML_DEPTH)).unwrap();
        assert_eq!(blocks, nested("[", "\"x\"", "]", MAX_YAML_DEPTH));
        let merges = nested("{<<: ", "{a: 1}", "}", 2_000);
        assert_eq!(convert(&merges).unwrap(), r#"{"a":1}"#);
        // Aliases make a document deeper than its text.
        let text = format!(
            "- &a\n {}\n- &b\n {}\n- {}\n",
            nested("- ", "1", "", 9_000),
            nested("- ", "*a", "", 9_000),
            nested("- ", "*b", "", 9_000)
        );
        assert!(convert(&text).unwrap().contains(&nested("[", "1", "]", 27_000)));
    };
    thread::Builder::new().stack_size(SMALL_STACK).spawn(deepest).unwrap().join().unwrap();
}

#[test]
fn deeper_documents_are_refused() {
    for text in [
        nested("- ", "", "", MAX_YAML_DEPTH + 1),
        nested("- ", "", "", 100_000),
        nested("[", " !a, b", "", 100_000),
    ] {
        assert_refused(&text, "nested deeper than 10000 levels");
    }
    assert_refused(&nested("? ", "", "", 100_000), "key of a mapping must be a scalar");
}

#[test]
fn alias_bombs_do_not_go_off() {
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..30 {
        let aliases = format!("*a{},", level - 1).repeat(10);
        bomb += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    assert_refused(&bomb, "aliases repeat too much");
    let merged: String = (0..1_000).map(|key| format!("k{key}: 1,")).collect();
    let merges = "- <<: *a\n".repeat(1_000);
    assert_refused(&format!("- &a {{{merged}}}\n{merges}"), "aliases repeat too much");
    let long = "x".repeat(1 << 20);
    let count = SMALLEST_JSON_LIMIT / long.len() + 2;
    assert_refused(&format!("- &a {long}\n{}", "- *a\n".repeat(count)), "grows beyond");
    assert_refused("a: &x\n  b: *x", "contains itself");
    assert_refused("a: *x", "no anchor `x`");
}

#[test]
fn aliases_within_reason_are_expanded() {
    let text = format!("- &a {{k: v}}\n{}", "- *a\n".repeat(300));
    assert_eq!(convert(&text).unwrap().matches(r#"{"k":"v"}"#).count(), 301);
}

#[test]
fn long_texts_are_read_in_one_go() {
    let long = "x".repeat(4 << 20);
    assert_eq!(convert(&long).unwrap().len(), long.len() + 2);
    assert_eq!(convert(&format!("'{long}'")).unwrap().len(), long.len() + 2);
    assert_eq!(convert(&format!("|\n {long}")).unwrap().len(), long.len() + 2);
    assert_eq!(convert(&" ".repeat(1 << 20)).unwrap(), "null");
    let repeated = "a: 1\n".repeat(50_000);
    assert_eq!(convert(&repeated).unwrap(), r#"{"a":1}"#);
    assert_eq!(convert(&".nan: 1\n".repeat(20_000)).unwrap(), r#"{".nan":1}"#);
    let repairs = format!("[{}]", "a:,oh !,".repeat(100));
    assert_eq!(convert(&repairs).unwrap().len(), repairs.len() * 3 / 2 - 2);
    assert_refused(&"%TAG !a! b\n".repeat(1_000), "`%TAG` directives");
}

#[test]
fn the_size_of_a_text_is_limited() {
    let error = to_json(&vec![b' '; MAX_YAML_BYTES + 1], &YamlOptions::default()).unwrap_err();
    assert_eq!(error.offset(), None);
    assert!(error.to_string().contains("split it up"));
}

#[test]
fn errors_name_their_place() {
    for (text, line, column, offset) in [
        ("a: b\nc: [", 2, 5, 9),
        ("é: {x: !!int y}", 1, 8, 8),
        ("a: 1\nb: \"\\/\"", 2, 5, 9),
        ("a: \u{7}", 1, 4, 3),
        ("\u{feff}~: 1", 1, 1, 3),
        ("a: &a [b]\n*a : c", 2, 1, 10),
    ] {
        let error = to_json(text.as_bytes(), &YamlOptions::default()).unwrap_err();
        let place = format!("line {line}, column {column}: ");
        assert!(error.to_string().starts_with(&place), "{text:?}: {error}");
        assert_eq!(error.offset(), Some(offset), "{text:?}: {error}");
        assert!(error.to_string().ends_with(error.message()));
    }
}

#[test]
fn repairs_deep_in_brackets_come_to_an_end() {
    // Found by the fuzzer: each bracket behind the exclamation mark was repaired in a scan of its own.
    let text = format!("{}!{}\u{1}", "[".repeat(2000), "[".repeat(1200));
    assert_refused(&text, "brackets");
}
