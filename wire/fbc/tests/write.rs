//! Writing: what is written reads back as the same documents, and order does not matter.

#![expect(clippy::panic, reason = "a test that cannot be set up should fail")]

use operon_document::{
    json::{Tape, canonical},
    stream::{self, Event},
};
use operon_fbc::{OutputFormat, write_documents};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(text: &str) -> Vec<String> {
    let mut documents = Vec::new();
    stream::read(text.as_bytes(), &mut Tape::new(), &mut |event| match event {
        Event::Document(document) => documents.push(canonical(document.root)),
        Event::Broken(broken) => panic!("{broken:?} in\n{text}"),
        Event::Ignored(range) => panic!("ignored {:?} in\n{text}", &text[range]),
    });
    documents
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,30}",
        "[a-z]{1,8}(\n[ a-z:#-]{0,12}){0,4}\n{0,3}",
        prop::sample::select(vec![
            "",
            "yes",
            "no",
            "on",
            "~",
            "null",
            "1",
            "1.0",
            "0x1f",
            "1e3",
            "-",
            "- a",
            "a: b",
            "a:",
            "# c",
            "a #b",
            "'q'",
            "\"q\"",
            "{a}",
            "[a]",
            "&a",
            "*a",
            "!t",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "2020-01-01",
            "0o7",
            ".inf",
            "=",
            "<<",
            "? a",
            "\u{85}",
            "\u{2028}",
            "\u{feff}a",
            "\t",
            " a",
            "a ",
            "\n",
            "a\n",
            "\na",
            "a\tb",
            "a\\b",
            "\u{7f}",
            "\u{9f}x\ny",
        ])
        .prop_map(str::to_owned),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e6..1e6f64).prop_map(Value::from),
        Just(Value::from(-0.0)),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner, 0..5)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn documents_survive(value in values(), name in "[a-z]{1,6}") {
        let document = json!({"schema": "x", "name": name, "value": value}).to_string();
        let expected = read(&document);
        for format in [OutputFormat::Json, OutputFormat::Yaml] {
            let written = write_documents(&[&document], format).unwrap();
            prop_assert_eq!(&read(&written), &expected, "{}", written);
            // Writing is stable: what is read back is written the same.
            prop_assert_eq!(write_documents(&read(&written), format).unwrap(), written);
        }
    }
}

#[test]
fn a_catalog_is_written_in_its_order_whatever_order_it_comes_in() {
    let documents = [
        r#"{"schema":"custom","note":"last, because it belongs to no package"}"#,
        r#"{"schema":"olm.deprecations","package":"a","entries":[{"message":"m","reference":{"name":"x","schema":"olm.bundle"}}]}"#,
        r#"{"schema":"custom","package":"a","name":"n"}"#,
        r#"{"schema":"olm.bundle","package":"a","name":"a.v2","properties":[{"value":{"b":1,"a":2},"type":"t"}],"image":"i"}"#,
        r#"{"schema":"olm.bundle","package":"a","name":"a.v1","image":"i"}"#,
        r#"{"schema":"olm.channel","package":"a","name":"stable","entries":[{"skips":["s"],"name":"a.v2","replaces":"a.v1"}]}"#,
        r#"{"schema":"olm.package","name":"b","defaultChannel":"x"}"#,
        r#"{"schema":"olm.package","name":"a","defaultChannel":"stable"}"#,
    ];
    let written = write_documents(&documents, OutputFormat::Json).unwrap();
    let mut reversed = documents;
    reversed.reverse();
    assert_eq!(write_documents(&reversed, OutputFormat::Json).unwrap(), written);
    let names: Vec<String> = read(&written)
        .iter()
        .map(|document| serde_json::from_str::<Value>(document).unwrap())
        .map(|document| format!("{} {}", document["schema"], document["name"]).replace('"', ""))
        .collect();
    assert_eq!(
        names,
        [
            "olm.package a",
            "olm.channel stable",
            "olm.bundle a.v1",
            "olm.bundle a.v2",
            "custom n",
            "olm.deprecations null",
            "olm.package b",
            "custom null"
        ]
    );
    // Fields stand as upstream's tools write them; values of properties are sorted.
    assert!(written.contains("{\n    \"schema\": \"olm.bundle\",\n    \"name\": \"a.v2\",\n    \"package\": \"a\",\n    \"image\": \"i\",\n    \"properties\": [\n        {\n            \"type\": \"t\",\n            \"value\": {\n                \"a\": 2,\n                \"b\": 1\n"), "{written}");
    assert!(written.contains("\"reference\": {\n                \"schema\": \"olm.bundle\",\n                \"name\": \"x\"\n            },\n            \"message\": \"m\""), "{written}");
}
