//! JSON: the same language as an independent reader, and a canonical form that is stable.

use operon_document::json::{
    JsonError, MAX_DEPTH, Node, Tape, alphabetical, canonical, write_pretty,
};
use proptest::prelude::*;
use serde_json::Value;

fn read(text: &[u8]) -> Result<String, JsonError> {
    Tape::new().read(text).map(canonical)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z\u{e9}\"\\\\]{0,4}", inner, 0..6)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any value survives: printed by another library, read by us, printed canonically, read back.
    #[test]
    fn values_survive(value in values(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        let printed = read(text.as_bytes()).unwrap();
        let back: Value = serde_json::from_str(&printed).unwrap();
        prop_assert!(equal(&value, &back), "{value} != {back}");
        // The canonical form is its own canonical form.
        prop_assert_eq!(&read(printed.as_bytes()).unwrap(), &printed);
        let mut tape = Tape::new();
        let mut indented = Vec::new();
        write_pretty(tape.read(text.as_bytes()).unwrap(), 4, &alphabetical, &mut indented);
        prop_assert_eq!(read(&indented).unwrap(), printed);
    }

    /// We accept exactly what serde_json accepts, on texts that are nearly JSON.
    #[test]
    fn nearly_json_is_judged_alike(tokens in prop::collection::vec(token(), 0..12)) {
        let text = tokens.concat();
        let reference = serde_json::from_str::<Value>(&text);
        let ours = read(text.as_bytes());
        prop_assert_eq!(ours.is_ok(), reference.is_ok(), "{:?}: {:?} {:?}", text, ours, reference);
    }

    /// Bytes of any kind are read or refused, at a place inside the text.
    #[test]
    fn any_bytes_are_harmless(bytes: Vec<u8>) {
        if let Err(error) = read(&bytes) {
            prop_assert!(error.offset() <= bytes.len());
        }
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\n\"",
        "\"\\u00e9\"",
        "\"",
        "1",
        "-1",
        "0",
        "01",
        "1.5",
        "1e5",
        "1e400",
        "-",
        ".",
        "true",
        "false",
        "null",
        "nul",
        " ",
        "\n",
        "\t",
        "\"b\"",
        "\u{e9}",
        "\u{1}",
    ])
}

/// Numbers are floats to us, and serde_json reads the last digit of a float only nearly right.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(1.0));
            (left - right).abs() <= left.abs() * 1e-15
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        (left, right) => left == right,
    }
}

#[test]
fn what_go_does_with_odd_texts() {
    for (text, expected) in [
        (r#"{"b":1,"a":{"d":2,"c":[]}}"#, r#"{"a":{"c":[],"d":2},"b":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"["<&>","\u2028","\u0007","\/"]"#, r#"["<&>","\u2028","\u0007","/"]"#),
        (r#""\ud83d\ude00 \ud83d x""#, "\"\u{1f600} \u{fffd} x\""),
        (r#"[1.0,1e3,-0,1e-7,12345678901234567890]"#, "[1,1000,-0,1e-7,12345678901234567000]"),
    ] {
        assert_eq!(read(text.as_bytes()).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(read(b"\"a\xffb\xc3\"").as_deref(), Ok("\"a\u{fffd}b\u{fffd}\""));
}

#[test]
fn depth_is_bounded_and_costs_no_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(nested(MAX_DEPTH).as_bytes()).is_ok());
    let error = read(nested(100_000).as_bytes()).unwrap_err();
    assert!(error.message().contains("deeper than 10000"), "{error}");
}

#[test]
fn fields_are_found_as_go_finds_them() {
    let text = "{\"Name\":1,\"name\":2,\"\u{17f}kips\":3,\"NAMES\":4}".to_owned();
    let mut tape = Tape::new();
    let root = tape.read(text.as_bytes()).unwrap();
    let raw =
        |node: Option<Node<'_>>| node.map(|node| String::from_utf8_lossy(node.raw()).into_owned());
    assert_eq!(raw(root.field("name")).as_deref(), Some("2"), "the bytewise last spelling wins");
    assert_eq!(raw(root.field("skips")).as_deref(), Some("3"), "the long s folds to s");
    assert_eq!(raw(root.field("nam")), None);
}
