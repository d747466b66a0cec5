//! Claims about single texts, each checked once against upstream's `YAMLToJSON`.

use operon_document::yaml::{DuplicateKeys, YamlOptions, to_json};

const REPORTING: YamlOptions =
    YamlOptions { duplicate_keys: DuplicateKeys::Report, html_escape: false };

/// The word that stands in a table for a text that upstream refuses.
const REFUSED: &str = "refused";

#[track_caller]
fn check(claims: &[(&str, &str)]) {
    for (yaml, expected) in claims {
        let actual = match to_json(yaml.as_bytes(), &YamlOptions::default()) {
            Ok(converted) => String::from_utf8(converted.json).expect("JSON text is UTF-8"),
            Err(error) => {
                assert!(!error.message().starts_with("internal"), "{yaml:?}: {error}");
                REFUSED.to_owned()
            }
        };
        assert_eq!(&actual, expected, "{yaml:?}");
    }
}

#[test]
fn plain_scalars_are_read_as_yaml_1_1() {
    check(&[
        ("y", "true"),
        ("Off", "false"),
        ("yEs", r#""yEs""#),
        ("Null", "null"),
        ("~", "null"),
        ("", "null"),
        ("0644", "420"),
        ("0o17", "15"),
        ("09", "9"),
        ("0x_1F", "31"),
        ("-0b101", "-5"),
        ("0b-1", "-1"),
        ("0b+1", "1"),
        ("-0b+1", r#""-0b+1""#),
        ("0x-1", r#""0x-1""#),
        ("1__0_", "10"),
        ("_1", r#""_1""#),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("+18446744073709551615", "18446744073709552000"),
        ("02000000000000000000000", "2e+21"),
        ("0x10000000000000000", r#""0x10000000000000000""#),
        ("1.", "1"),
        ("1.e5", "100000"),
        ("-.5", "-0.5"),
        (".5_5", "0.55"),
        ("._5", r#""._5""#),
        (".5_", r#"".5_""#),
        ("1e400", r#""1e400""#),
        ("1e-400", "0"),
        ("-0.0", "-0"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("1:30", r#""1:30""#),
        ("2020-01-01", r#""2020-01-01""#),
        (".nan", REFUSED),
        ("-.INF", REFUSED),
    ]);
}

#[test]
fn tags_decide_and_are_checked() {
    check(&[
        ("!!str 1", r#""1""#),
        ("!!int '5'", "5"),
        ("!!int 1.5", REFUSED),
        ("!!int", REFUSED),
        ("!!float 1", "1"),
        ("!!float 18446744073709551615", REFUSED),
        ("!!bool on", "true"),
        ("!!bool 1", REFUSED),
        ("!!null ''", "null"),
        ("!!null x", REFUSED),
        ("!!binary aGk=", r#""hi""#),
        ("!!binary /v8=", r#""\ufffd\ufffd""#),
        ("!!binary aGk", REFUSED),
        ("!!timestamp 2001-12-14t21:59:43.10-05:00", r#""2001-12-14t21:59:43.10-05:00""#),
        ("!!timestamp 2001-12-14T1:2:3+24:60", r#""2001-12-14T1:2:3+24:60""#),
        ("!!timestamp 2001-12-14  21:59:43,1", r#""2001-12-14  21:59:43,1""#),
        ("!!timestamp 2001-2-29", REFUSED),
        ("!!timestamp 2001-12-14T1:2:3", REFUSED),
        ("!!timestamp 20011214", REFUSED),
        ("! 5", r#""5""#),
        ("!custom 5", r#""5""#),
        ("!<tag:yaml.org,2002:int> '5'", "5"),
        ("%TAG !y! tag:yaml.org,2002:\n---\n!y!int '5'", "5"),
        ("!!set {a, b}", r#"{"a":null,"b":null}"#),
        ("!other!x 5", REFUSED),
    ]);
}

#[test]
fn keys_become_texts() {
    check(&[
        ("{yes: 1, 0x10: 2, 1.0: 3}", r#"{"1":3,"16":2,"true":1}"#),
        (
            "1000000.0: a\n1e5: b\n1.5e-5: c\n1e300: d",
            r#"{".inf":"d","1.5e-05":"c","100000":"b","1e+06":"a"}"#,
        ),
        ("16777217.0: a", r#"{"1.6777216e+07":"a"}"#),
        (".nan: a\n.nan: b", r#"{".nan":"b"}"#),
        ("z: 1\nM: 2\n_: 3\né: 4", r#"{"M":2,"_":3,"z":1,"é":4}"#),
        ("!!binary /w==: 1", r#"{"\ufffd":1}"#),
        ("~: a", REFUSED),
        ("a: {~: a}\na: 1", r#"{"a":1}"#),
        ("18446744073709551615: a", REFUSED),
        ("? [a]\n: b", REFUSED),
        ("a: .inf\na: 1", r#"{"a":1}"#),
    ]);
}

#[test]
fn merges_apply_where_they_stand() {
    check(&[
        ("k: 3\n<<: {k: 1}", r#"{"k":1}"#),
        ("<<: {k: 1}\nk: 3", r#"{"k":3}"#),
        ("<<: [{k: 1}, {k: 2, j: 3}]", r#"{"j":3,"k":1}"#),
        ("a: &a {<<: {q: 1}, r: 2}\nb: {<<: *a}", r#"{"a":{"q":1,"r":2},"b":{"q":1,"r":2}}"#),
        ("! <<: {a: 1}", r#"{"a":1}"#),
        ("'<<': {a: 1}", r#"{"<<":{"a":1}}"#),
        ("!!str <<: {a: 1}", r#"{"<<":{"a":1}}"#),
        ("&x <<: {a: 1}\nb: *x\n*x : 3", r#"{"<<":3,"a":1,"b":"<<"}"#),
        ("[<<]", r#"["<<"]"#),
        ("<<: 5", REFUSED),
        ("<<: [5]", REFUSED),
        ("<<: [[{a: 1}]]", REFUSED),
        ("a: &a [{b: 1}]\n<<: *a", REFUSED),
        ("a: &a\n  <<: *a", REFUSED),
    ]);
}

#[test]
fn the_scanner_sides_with_upstream() {
    check(&[
        ("%YAML 1.1 # 123\n---\na", r#""a""#),
        ("%YAML 1.2\n---\na", REFUSED),
        ("%YAML 001.1\n---\na", REFUSED),
        (r#""\'""#, r#""'""#),
        (r#"["\'", "\'\'", '\']"#, r#"["'","''","\\"]"#),
        (r#""\/""#, REFUSED),
        (r#""\\/""#, r#""\\/""#),
        (
            r#"!!str # "\/"
          "/""#,
            r#""/""#,
        ),
        ("{a:}", r#"{"a:":null}"#),
        ("{a:,b}", r#"{"a:":null,"b":null}"#),
        ("[a:b:,c]", r#"["a:b:","c"]"#),
        (r#"{"a":}"#, r#"{"a":null}"#),
        ("{a:[1]}", REFUSED),
        ("[a?b]", REFUSED),
        ("a?b", r#""a?b""#),
        ("[!!str, b]", r#"["b"]"#),
        ("[!a,b[] c, d]", r#"["c","d"]"#),
        ("[oh !, b, !x, c]", r#"["oh !","b","c"]"#),
        ("[é !, 'x !, y', z]", r#"["é !","x !, y","z"]"#),
        ("!,x y", r#""y""#),
        ("[]: a", "[]"),
        ("{}: a", "{}"),
        ("[a]: b", REFUSED),
        ("b: 1\n[]: a", REFUSED),
        ("a: 1\n\u{feff}b: 2", "{\"a\":1,\"\u{feff}b\":2}"),
        ("｡: 1", r#"{"｡":1}"#),
        ("...", REFUSED),
        ("a: 1\n---\n{", r#"{"a":1}"#),
        ("{a: 1} @", REFUSED),
    ]);
}

#[test]
fn a_last_line_without_a_break_keeps_its_value() {
    check(&[
        ("|\n x", r#""x""#),
        ("|+\n x", r#""x""#),
        ("|-\n x", r#""x""#),
        ("|\n x\n", r#""x\n""#),
        ("|\n x\n ", r#""x\n""#),
        ("|\n x\n   ", r#""x\n  ""#),
        ("|+\n x\n ", r#""x\n""#),
        (">\n x\n   ", r#""x\n  ""#),
        ("|2\n    ", r#""  ""#),
        ("|\n    ", r#""""#),
        ("|\n x\n  \n ", r#""x\n \n""#),
        ("|", r#""""#),
        ("|+", r#""""#),
        (">#-\n   x\n   \n   - z", r#""x\n- z""#),
        ("&a !!str # c\n |\n  x", r#""x""#),
        ("'x", REFUSED),
        ("\"x\\", REFUSED),
    ]);
}

#[test]
fn texts_are_escaped_as_in_go() {
    let yaml = br#""\x00\b\f\n\r\t\v\e\"\\<>&\x7f\u2028\u2029""#;
    let plain = to_json(yaml, &YamlOptions::default()).unwrap();
    let expected =
        r#""\u0000\b\f\n\r\t\u000b\u001b\"\\<>&"#.to_owned() + "\u{7f}" + r#"\u2028\u2029""#;
    assert_eq!(String::from_utf8(plain.json).unwrap(), expected);
    let options = YamlOptions { html_escape: true, ..YamlOptions::default() };
    let html = to_json(b"<a>&", &options).unwrap();
    assert_eq!(html.json, br#""\u003ca\u003e\u0026""#);
}

#[test]
fn the_encoding_is_told_by_the_mark() {
    let little: Vec<u8> = "\u{feff}é: 😀".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}é: 😀".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for text in [&b"\xef\xbb\xbf\xc3\xa9: \xf0\x9f\x98\x80"[..], &little, &big] {
        let converted = to_json(text, &YamlOptions::default()).unwrap();
        assert_eq!(converted.json, "{\"é\":\"😀\"}".as_bytes());
        let place = converted.places.place(6);
        assert!(place.end == text.len() && place.len() == 4, "{place:?} of {text:?}");
    }
    let half_a_pair = &little[..little.len() - 2];
    let error = to_json(half_a_pair, &YamlOptions::default()).unwrap_err();
    assert_eq!(error.offset(), Some(8));
    assert!(to_json(&little[..little.len() - 1], &YamlOptions::default()).is_err());
}

#[test]
fn duplicates_are_reported_with_both_places() {
    let yaml = "a: &x {k: 1}\nb:\n  k: 2\n  <<: *x\n'a': 3\n1: x\n'1': z\n";
    let converted = to_json(yaml.as_bytes(), &REPORTING).unwrap();
    let reported: Vec<_> = converted
        .duplicates
        .iter()
        .map(|it| (it.key.as_str(), it.first.clone(), it.second.clone()))
        .collect();
    let second_k = yaml.find("k: 2").unwrap();
    let second_a = yaml.find("'a'").unwrap();
    assert_eq!(
        reported,
        [("k", second_k..second_k + 1, 7..8), ("a", 0..1, second_a..second_a + 3)],
        "`1` and `'1'` are two keys to upstream"
    );
    assert_eq!(converted.json, br#"{"1":"z","a":3,"b":{"k":1}}"#);
}

#[test]
fn places_are_innermost() {
    let yaml = "kind: Foo\nlist: [1, {a: b}] # c\nbig:\n  text: |\n    x\n  empty:\nlast: &z 'q'\n";
    let converted = to_json(yaml.as_bytes(), &YamlOptions::default()).unwrap();
    let json = String::from_utf8(converted.json).unwrap();
    let place = |needle: &str| {
        let offset = json.find(needle).unwrap_or_else(|| panic!("{needle} in {json}"));
        &yaml[converted.places.place(offset)]
    };
    assert_eq!(place(r#""Foo""#), "Foo");
    assert_eq!(place(r#""kind""#), "kind");
    assert_eq!(place("[1"), "[1, {a: b}]");
    assert_eq!(place("1,"), "1");
    assert_eq!(place(",{"), "[1, {a: b}]");
    assert_eq!(place(r#"{"a""#), "{a: b}");
    assert_eq!(place(r#""x\n"#), "|\n    x\n");
    assert_eq!(place(r#"{"empty""#), "text: |\n    x\n  empty:");
    assert_eq!(place("null"), "");
    assert_eq!(place(r#""q""#), "&z 'q'");
    assert_eq!(converted.places.place(0).start, 0);
    assert_eq!(converted.places.place(usize::MAX), converted.places.place(0));
}
