//! Writing values, and reading them back.

use operon_api::{read_objects, write_json_pretty, write_yaml};
use operon_document::yaml::{self, YamlOptions};
use operon_object::{Value, list, map};
use proptest::prelude::*;

/// Reads any YAML value, not only objects.
fn read_yaml(text: &str) -> Value {
    let converted = yaml::to_json(text.as_bytes(), &YamlOptions::default());
    Value::parse_json(converted.expect(text).json).expect(text)
}

/// Texts that look like something else in YAML, or that break its lines.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => any::<String>(),
        3 => "[ \t\n\r:#\\-'\"|>{}\\[\\]&*!%@`,?~a1_.=<\\\\\u{0}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}\u{fffe}é😀]{0,12}",
        2 => "[ \t\na#:-]{0,9}(\n{0,3}| {0,2})",
        2 => "[-+.]?[0-9_.:eExobTtZ +-]{1,12}",
        1 => "(?i)(y|n|yes|no|on|off|true|false|null|~|\\.inf|-\\.inf|\\.nan|=|<<|---|\\.\\.\\.)",
        1 => "[a-z: ]{100,300}",
        1 => "[a-zé ]{1020,1030}",
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let is_no_integer = |number: &f64| number.fract() != 0.0 || number.abs() >= 9.3e18;
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => any::<i64>().prop_map(Value::Integer),
        // A whole double is an integer to every reader.
        2 => any::<f64>().prop_filter("a fraction", is_no_integer).prop_map(Value::Float),
        8 => texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((texts(), inner), 0..5).prop_map(Value::map),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_value_reads_back(value in values()) {
        let yaml = write_yaml(&value);
        prop_assert_eq!(read_yaml(&yaml), value.clone(), "{}", yaml);
        let json = write_json_pretty(&value);
        prop_assert_eq!(Value::parse_json(&json), Ok(value.clone()), "{}", json);
        // As objects of a stream, one behind the other.
        let object = map! { "apiVersion" => "v1", "kind" => "A", "spec" => value };
        for (text, separator) in [(write_yaml(&object), "---\n"), (write_json_pretty(&object), "")] {
            let manifests = read_objects("f", [&*text, &*text].join(separator).as_bytes());
            prop_assert_eq!(manifests.diagnostics, vec![]);
            let read: Vec<&Value> = manifests.objects.iter().map(|it| it.object.value()).collect();
            prop_assert_eq!(read, vec![&object; 2]);
        }
    }
}

#[test]
fn yaml_looks_as_kubectl_prints_it() {
    let value = map! {
        "apiVersion" => "v1",
        "created" => "2026-11-16T05:54:39Z",
        "empty" => list!["", Value::Null, map! {}, list![]],
        "list" => list![map! { "b" => 2, "a" => list!["x", list!["u", "v"]] }, 8080],
        "mode" => "0644",
        "numbers" => list![Value::Float(1.5), Value::Float(1e300), Value::Float(-2.5e-9), -7],
        "text" => "one\n  two: #3\n\nfour\n",
        "texts" => list!["a\nb", "\n a\n\n", "\tx\ny", "a\r\nb", "a: b", "it's", "tab\there", "- x", "é 😀"],
        "version" => "1.2.3",
        "yes" => "yes",
        "{}" => true,
    };
    let expected = r#"apiVersion: v1
created: "2026-11-16T05:54:39Z"
empty:
- ""
- null
- {}
- []
list:
- a:
  - x
  - - u
    - v
  b: 2
- 8080
mode: "0644"
numbers:
- 1.5
- 1.0e+300
- -2.5e-9
- -7
text: |
  one
    two: #3

  four
texts:
- |-
  a
  b
- |2+

   a

- |2-
  	x
  y
- "a\r\nb"
- 'a: b'
- it's
- "tab\there"
- '- x'
- é 😀
version: 1.2.3
"yes": "yes"
'{}': true
"#;
    assert_eq!(write_yaml(&value), expected);
    assert_eq!(read_yaml(expected), value);
    assert_eq!(write_yaml(&Value::text("x\n---\ny")), "|-\n  x\n  ---\n  y\n");
    let long = "k".repeat(129);
    assert_eq!(write_yaml(&map! { long.as_str() => list![1] }), format!("? {long}\n:\n- 1\n"));
}

#[test]
fn json_looks_as_kubectl_prints_it() {
    let value =
        map! { "b" => list![1, map! {}, list![]], "a" => "<x>", "c" => Value::Float(f64::NAN) };
    let expected = "{\n    \"a\": \"\\u003cx\\u003e\",\n    \"b\": [\n        1,\n        {},\n        []\n    ],\n    \"c\": null\n}\n";
    assert_eq!(write_json_pretty(&value), expected);
}

#[test]
fn the_deepest_value_reads_back() {
    let deep = (0..operon_object::MAX_VALUE_DEPTH).fold(Value::Integer(1), |inner, level| {
        if level % 2 == 0 {
            list![inner]
        } else {
            map! { "k" => inner }
        }
    });
    assert_eq!(read_yaml(&write_yaml(&deep)), deep);
    assert_eq!(Value::parse_json(write_json_pretty(&deep)), Ok(deep));
}
