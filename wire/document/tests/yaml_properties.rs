//! Properties of the YAML reading: nothing panics, generated documents read as they were meant,
//! and every place points at text that reads the same.

use std::{collections::BTreeMap, fmt::Write as _};

use operon_document::{
    json::{Kind, Node, Tape, canonical_string},
    yaml::{DuplicateKeys, YamlOptions, to_json},
};
use proptest::prelude::*;

/// A document before it is written down.
#[derive(Debug, Clone)]
enum Value {
    /// What is written, and what it means in JSON.
    Scalar(String, String),
    /// A text in a literal block.
    Block(Vec<String>),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

fn scalar() -> impl Strategy<Value = Value> {
    let plain = "[g-m][a-m]{0,5}( [a-z0-9]{1,3}){0,2}".prop_map(|it| (it.clone(), quoted(&it)));
    let integer = any::<i64>().prop_map(|it| (it.to_string(), it.to_string()));
    let single =
        "[ -~é😀]{0,8}".prop_map(|it| (format!("'{}'", it.replace('\'', "''")), quoted(&it)));
    let double = any::<String>().prop_map(|it| {
        let escapes = it.chars().fold(String::new(), |mut escapes, character| {
            let _ = write!(escapes, "\\U{:08x}", character as u32);
            escapes
        });
        (format!("\"{escapes}\""), quoted(&it))
    });
    let word = prop_oneof![
        Just(("yes", "true")),
        Just(("off", "false")),
        Just(("~", "null")),
        Just(("0644", "420")),
        Just(("1e3", "1000")),
        Just(("-.5", "-0.5")),
        Just(("2020-01-01", "\"2020-01-01\"")),
        Just(("!!str 12", "\"12\"")),
        Just(("!!int '12'", "12")),
        Just(("http://x/y#z", "\"http://x/y#z\"")),
    ]
    .prop_map(|(yaml, json)| (yaml.to_owned(), json.to_owned()));
    prop_oneof![plain, integer, single, double, word]
        .prop_map(|(yaml, json)| Value::Scalar(yaml, json))
}

fn value() -> impl Strategy<Value = Value> {
    let block = prop::collection::vec("[a-z:#'\"-][ -~]{0,8}|", 1..4).prop_map(|mut lines| {
        // The first line of a block decides its indentation, so it must not be blank.
        lines[0] = format!("x{}", lines[0]);
        Value::Block(lines)
    });
    prop_oneof![4 => scalar(), 1 => block].prop_recursive(4, 32, 4, |inner| {
        let key = "[g-m][a-m]{0,3}";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(key, inner, 0..4).prop_map(Value::Map),
        ]
    })
}

fn quoted(text: &str) -> String {
    canonical_string(text)
}

impl Value {
    fn json(&self) -> String {
        match self {
            Value::Scalar(_, json) => json.clone(),
            Value::Block(lines) => quoted(&self.block_text(lines)),
            Value::List(elements) => {
                let elements: Vec<_> = elements.iter().map(Value::json).collect();
                format!("[{}]", elements.join(","))
            }
            Value::Map(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, it)| format!("{}:{}", quoted(key), it.json()))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    fn block_text(&self, lines: &[String]) -> String {
        lines.join("\n").trim_end_matches('\n').to_owned() + "\n"
    }

    /// Writes the value in block style, in flow style below `flow_below`.
    fn yaml(&self, indent: usize, flow_below: usize, out: &mut String) {
        let pad = " ".repeat(indent);
        match self {
            Value::Scalar(yaml, _) => *out += yaml,
            Value::Block(lines) => {
                *out += "|";
                for line in lines {
                    *out += "\n";
                    if !line.is_empty() {
                        *out += &format!("{pad} {line}");
                    }
                }
            }
            Value::List(elements) if !elements.is_empty() && indent < flow_below => {
                for element in elements {
                    *out += &format!("\n{pad}- ");
                    element.yaml(indent + 2, flow_below, out);
                }
            }
            Value::Map(members) if !members.is_empty() && indent < flow_below => {
                for (key, value) in members {
                    *out += &format!("\n{pad}{key}: ");
                    value.yaml(indent + 2, flow_below, out);
                }
            }
            Value::List(_) | Value::Map(_) => self.flow(out),
        }
    }

    fn flow(&self, out: &mut String) {
        match self {
            Value::Scalar(yaml, _) => *out += yaml,
            Value::Block(lines) => *out += &quoted(&self.block_text(lines)),
            Value::List(elements) => {
                *out += "[";
                for element in elements {
                    element.flow(out);
                    *out += ", ";
                }
                *out += "]";
            }
            Value::Map(members) => {
                *out += "{";
                for (key, value) in members {
                    *out += &format!("{key}: ");
                    value.flow(out);
                    *out += ", ";
                }
                *out += "}";
            }
        }
    }
}

/// Calls `handle` with every scalar and key of a JSON text.
fn for_each_leaf<'a>(node: Node<'a>, handle: &mut dyn FnMut(Node<'a>)) {
    match node.kind() {
        Kind::Object => node.members().for_each(|(key, value)| {
            handle(key);
            for_each_leaf(value, handle);
        }),
        Kind::Array => node.elements().for_each(|element| for_each_leaf(element, handle)),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => handle(node),
    }
}

/// Pieces from which surprising texts can be put together.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"a",
        b"b: ",
        b"- ",
        b"? ",
        b": ",
        b":",
        b"?",
        b",",
        b"[",
        b"]",
        b"{",
        b"}",
        b"\n",
        b"\n  ",
        b" ",
        b"\t",
        b"#",
        b"&x ",
        b"*x ",
        b"!!str ",
        b"!!int ",
        b"!!binary ",
        b"!e!x ",
        b"!",
        b"!,",
        b"!a, ",
        b"\"",
        b"'",
        b"\"\\'\"",
        b"\"\\/\"",
        b"\\",
        b"|",
        b">",
        b"|+\n",
        b">-\n",
        b"|2\n",
        b"---\n",
        b"...\n",
        b"<<: ",
        b"%YAML 1.1\n",
        b"%TAG !e! e\n",
        b"~",
        b".inf",
        b"1_0",
        b"0b1",
        b"\xef\xbb\xbf",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xff\xfe",
        b"\xc3",
        b"\0",
        b"=",
        b"\r",
    ];
    let piece = prop_oneof![
        9 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_end_in_an_answer(text in prop_oneof![soup(), prop::collection::vec(any::<u8>(), 0..40)]) {
        let options = YamlOptions { duplicate_keys: DuplicateKeys::Report, html_escape: true };
        match to_json(&text, &options) {
            Ok(converted) => {
                prop_assert!(Tape::new().read(&converted.json).is_ok());
                for offset in 0..=converted.json.len() {
                    let place = converted.places.place(offset);
                    prop_assert!(place.start <= place.end && place.end <= text.len());
                }
                for duplicate in converted.duplicates {
                    prop_assert!(duplicate.second.end <= text.len());
                }
            }
            Err(error) => {
                prop_assert!(!error.message().starts_with("internal"), "{error}");
                prop_assert!(error.offset().is_some_and(|offset| offset <= text.len()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_read_as_they_were_meant(value in value(), flow_below in 0usize..8, newline in any::<bool>()) {
        let mut text = String::new();
        value.yaml(0, flow_below, &mut text);
        // The last line break decides over the value of a block that reaches it.
        if newline || text.contains('|') {
            text.push('\n');
        }
        let converted = to_json(text.as_bytes(), &YamlOptions::default());
        let json = converted.map(|it| String::from_utf8(it.json).unwrap()).map_err(|it| it.to_string());
        prop_assert_eq!(json, Ok(value.json()), "{}", text);
    }

    #[test]
    fn places_point_at_text_that_reads_the_same(value in value(), flow_below in 0usize..8) {
        let mut text = String::new();
        value.yaml(0, flow_below, &mut text);
        text.push('\n');
        let converted = to_json(text.as_bytes(), &YamlOptions::default()).unwrap();
        let mut tape = Tape::new();
        let root = tape.read(&converted.json).unwrap();
        let mut differing = Vec::new();
        for_each_leaf(root, &mut |leaf| {
            let place = &text[converted.places.place(leaf.span().start)];
            let again = to_json(place.as_bytes(), &YamlOptions::default());
            if again.as_ref().map(|it| it.json.as_slice()) != Ok(leaf.raw()) {
                differing.push(format!("{place:?} is {:?}", String::from_utf8_lossy(leaf.raw())));
            }
        });
        prop_assert!(differing.is_empty(), "{}\n{}", differing.join("\n"), text);
    }
}
