//! The reader of JSON against claims, and against another reader.

use proptest::prelude::*;

use super::{Json, MAX_JSON_DEPTH, TrailingText};

fn whole(text: impl AsRef<[u8]>) -> Result<Json, String> {
    Json::parse(text, TrailingText::Refuse).map_err(|error| error.to_string())
}

fn first(text: impl AsRef<[u8]>) -> Result<Json, String> {
    Json::parse(text, TrailingText::Ignore).map_err(|error| error.to_string())
}

#[test]
fn values_read_as_in_go() {
    let claims: [(&[u8], &str); 12] = [
        (b" null ", "null"),
        (b"[true, false]", "[true,false]"),
        (b"-0.5e1", "-5"),
        (b"9007199254740993", "9007199254740992"),
        (b"{\"b\":1,\"a\":2,\"b\":3}", "{\"a\":2,\"b\":3}"),
        (b"\"\\u00e9\\n\\/\\\"\"", "\"é\\u000a/\\\"\""),
        (b"\"\\ud83d\\ude00\"", "\"\u{1f600}\""),
        (b"\"\\ud800\"", "\"\u{fffd}\""),
        (b"\"\\ud800\\u0041\"", "\"\u{fffd}A\""),
        (b"\"\\udc00\\ud800\"", "\"\u{fffd}\u{fffd}\""),
        (b"\"a\xffb\xe2\x82c\"", "\"a\u{fffd}b\u{fffd}\u{fffd}c\""),
        (b"1e-400", "0"),
    ];
    for (text, printed) in claims {
        let value = whole(text).map(|value| value.to_string());
        assert_eq!(value.as_deref(), Ok(printed), "{}", text.escape_ascii());
    }
}

#[test]
fn refusals_read_as_in_go() {
    let claims = [
        ("", "unexpected end of JSON input", "EOF"),
        (" \n", "unexpected end of JSON input", "EOF"),
        ("{", "unexpected end of JSON input", "unexpected EOF"),
        ("\"a", "unexpected end of JSON input", "unexpected EOF"),
    ];
    for (text, as_whole, as_first) in claims {
        assert_eq!(whole(text).as_ref().map_err(String::as_str), Err(as_whole));
        assert_eq!(first(text).as_ref().map_err(String::as_str), Err(as_first));
    }
    let claims = [
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ("nul1", "invalid character '1' in literal null (expecting 'l')"),
        ("-", "invalid character ' ' in numeric literal"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
        ("{1:2}", "invalid character '1' looking for beginning of object key string"),
        ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        ("\"\n\"", "invalid character '\\n' in string literal"),
        ("\"\\q\"", "invalid character 'q' in string escape code"),
        ("\"\\u12x4\"", "invalid character 'x' in \\u hexadecimal character escape"),
        ("\u{feff}1", "invalid character 'ï' looking for beginning of value"),
        ("[1e400]", "json: cannot unmarshal number 1e400 into Go value of type float64"),
        ("[1e400,x]", "invalid character 'x' looking for beginning of value"),
    ];
    for (text, refusal) in claims {
        assert_eq!(whole(text).as_ref().map_err(String::as_str), Err(refusal));
    }
}

#[test]
fn the_first_value_may_be_followed_by_anything() {
    for text in ["{}{}", "{} garbage", "[1]]", "5x", "null,"] {
        assert!(first(text).is_ok(), "{text}");
        assert!(whole(text).is_err(), "{text}");
    }
}

/// Depth must cost no stack: the values of this test would overflow it many times over.
#[test]
fn depth_is_limited_and_harmless() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let work = move || {
        let deepest = nested(MAX_JSON_DEPTH);
        let value = whole(&deepest).expect("the deepest value is read");
        assert!(value == value.clone() && value == whole(&deepest).expect("again"));
        assert_eq!(value.to_string(), deepest);
        let objects = "{\"a\":".repeat(MAX_JSON_DEPTH) + "1" + &"}".repeat(MAX_JSON_DEPTH);
        assert!(whole(objects).is_ok());
        let refusal = "invalid character '[' exceeded max depth".to_owned();
        assert_eq!(whole(nested(MAX_JSON_DEPTH + 1)), Err(refusal));
    };
    let builder = std::thread::Builder::new().stack_size(128 * 1024);
    let handle = builder.spawn(work).expect("a thread starts");
    handle.join().expect("the thread does not panic");
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        ".{0,6}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((".{0,3}", inner), 0..5)
                .prop_map(|entries| { serde_json::Value::Object(entries.into_iter().collect()) }),
        ]
    })
}

fn convert(value: &serde_json::Value) -> Json {
    match value {
        serde_json::Value::Null => Json::Null,
        serde_json::Value::Bool(value) => Json::Bool(*value),
        serde_json::Value::Number(number) => Json::Number(number.as_f64().unwrap_or(0.0)),
        serde_json::Value::String(text) => Json::string(text.as_str()),
        serde_json::Value::Array(elements) => Json::array(elements.iter().map(convert)),
        serde_json::Value::Object(entries) => {
            Json::object(entries.iter().map(|(key, value)| (key.clone(), convert(value))))
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_another_reader(value in any_json()) {
        let expected = convert(&value);
        let read = whole(value.to_string());
        prop_assert_eq!(read.as_ref(), Ok(&expected));
        let again = whole(expected.to_string());
        prop_assert_eq!(again.as_ref(), Ok(&expected));
    }

    #[test]
    fn accepts_what_another_reader_accepts(text in "[\\[\\]{}:,\"0-9.eE+\\-truefalsn \\\\]{0,16}") {
        let other = serde_json::from_str::<serde_json::Value>(&text);
        // The other reader takes only escapes of whole characters.
        let lone_surrogate = text.contains("\\u");
        prop_assert!(lone_surrogate || whole(&text).is_ok() == other.is_ok(), "{:?}", other);
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = whole(&bytes);
        let _ = first(&bytes);
    }
}
