//! Claims about single schemas: what is valid, what is filled in, what is dropped, what is refused.

use operon_object::Value;
use operon_schema::{MAX_SCHEMA_DEPTH, Schema};

fn json(text: &str) -> Value {
    Value::parse_json(text).expect("the claim is JSON")
}

fn read(schema: &str) -> Schema {
    Schema::read(&json(schema)).expect("the claim is a schema")
}

/// Each claim was checked with apiextensions-apiserver 0.36.
#[test]
fn errors_are_told_in_the_words_of_an_api_server() {
    let claims: &[(&str, &str, &[&str])] = &[
        (r#"{"type":"object"}"#, r#"{"a":1}"#, &[]),
        (
            r#"{"properties":{"a":{"type":"string"}}}"#,
            r#"{"a":1}"#,
            &[r#"a: Invalid value: "integer": a in body must be of type string: "integer""#],
        ),
        (r#"{"required":["a","b"]}"#, r#"{"b":null}"#, &["a: Required value"]),
        (
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"a":1}"#,
            &[r#"a: Invalid value: "integer": .a in body must be of type string: "integer""#],
        ),
        (
            r#"{"properties":{"a":{"type":"integer","format":"int32"}}}"#,
            r#"{"a":true}"#,
            &[r#"a: Invalid value: "": a in body must be of type int32: """#],
        ),
        // A list passes where a formatted text is asked.
        (r#"{"properties":{"a":{"type":"string","format":"date"}}}"#, r#"{"a":[1]}"#, &[]),
        (
            r#"{"properties":{"a":{"type":"integer","maximum":1.5}}}"#,
            r#"{"a":2}"#,
            &[
                "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default format) in a",
                "a: Invalid value: 2: a in body should be less than or equal to 1.5",
            ],
        ),
        (
            r#"{"properties":{"a":{"type":"number","maximum":1.5}}}"#,
            r#"{"a":2}"#,
            &["a: Invalid value: 2: a in body should be less than or equal to 1"],
        ),
        (
            r#"{"properties":{"a":{"type":"number","multipleOf":0.5}}}"#,
            r#"{"a":2}"#,
            &["a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0"],
        ),
        (r#"{"properties":{"a":{"enum":["a",2]}}}"#, r#"{"a":97}"#, &[]),
        (r#"{"properties":{"a":{"enum":["a",2]}}}"#, r#"{"a":2.9}"#, &[]),
        (
            r#"{"properties":{"a":{"enum":["a",2]}}}"#,
            r#"{"a":{"b":"<"}}"#,
            &[r#"a: Unsupported value: {"b":"\u003c"}: supported values: "a", "2""#],
        ),
        (
            r#"{"properties":{"a":{"maxItems":1,"uniqueItems":true}}}"#,
            r#"{"a":[1,1.0,1]}"#,
            &[
                "a: Too many: 3: must have at most 1 item",
                "a: Invalid value: \"\": a in body shouldn't contain duplicates",
            ],
        ),
        (
            r#"{"properties":{"a":{"maxProperties":0}}}"#,
            r#"{"a":{"b":1}}"#,
            &["a: Too many: 1: must have at most 0 items"],
        ),
        // The alternative in which more is in order is explained.
        (
            r#"{"oneOf":[{"required":["x"]},{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}]}"#,
            r#"{"a":1,"b":"y"}"#,
            &[
                "<nil>: Invalid value: \"\": \"\" must validate one and only one schema (oneOf). Found none valid",
                r#"a: Invalid value: "integer": a in body must be of type string: "integer""#,
            ],
        ),
        (
            r#"{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false}"#,
            r#"{"ab":1,"c":1}"#,
            &[
                "<nil>: Invalid value: \"c\": .c in body is a forbidden property",
                r#"ab: Invalid value: "integer": .ab in body must be of type string: "integer""#,
            ],
        ),
    ];
    for (schema, value, expected) in claims {
        let errors = read(schema).validate(&json(value));
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told, *expected, "{schema} on {value}");
    }
}

/// Each claim was checked with apiextensions-apiserver 0.36.
#[test]
fn defaults_are_filled_in_and_unknown_fields_dropped() {
    let claims: &[(&str, &str, &str, &str, &[&str])] = &[
        // schema, value, with defaults, pruned, dropped
        (
            r#"{"properties":{"a":{"default":1},"b":{"properties":{"c":{"default":2}}}}}"#,
            r#"{"b":{},"d":1}"#,
            r#"{"a":1,"b":{"c":2},"d":1}"#,
            r#"{"a":1,"b":{"c":2}}"#,
            &["d"],
        ),
        (
            r#"{"properties":{"a":{"default":{},"properties":{"b":{"default":1}}}}}"#,
            "{}",
            r#"{"a":{"b":1}}"#,
            r#"{"a":{"b":1}}"#,
            &[],
        ),
        (
            r#"{"properties":{"a":{"default":1},"b":{},"c":{"nullable":true,"default":1}}}"#,
            r#"{"a":null,"b":null,"c":null}"#,
            r#"{"a":1,"c":null}"#,
            r#"{"a":1,"c":null}"#,
            &[],
        ),
        (
            r#"{"properties":{"a":{"items":{"default":7}}}}"#,
            r#"{"a":[null,1]}"#,
            r#"{"a":[7,1]}"#,
            r#"{"a":[7,1]}"#,
            &[],
        ),
        (
            "{}",
            r#"{"apiVersion":"v1","kind":"K","metadata":{"x":1},"spec":{}}"#,
            r#"{"apiVersion":"v1","kind":"K","metadata":{"x":1},"spec":{}}"#,
            r#"{"apiVersion":"v1","kind":"K","metadata":{"x":1}}"#,
            &["spec"],
        ),
        (
            r#"{"properties":{"a":{"items":{"properties":{"b":{}}}}}}"#,
            r#"{"a":[{"b":1,"c":1},{"d":1}]}"#,
            r#"{"a":[{"b":1,"c":1},{"d":1}]}"#,
            r#"{"a":[{"b":1},{}]}"#,
            &["a[0].c", "a[1].d"],
        ),
        (
            r#"{"properties":{"a":{"additionalProperties":true}}}"#,
            r#"{"a":{"x":1,"y":{"z":1}}}"#,
            r#"{"a":{"x":1,"y":{"z":1}}}"#,
            r#"{"a":{"x":1,"y":{}}}"#,
            &["a.y.z"],
        ),
        (
            r#"{"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true,"properties":{"k":{}}}}}"#,
            r#"{"a":{"x":{"y":1},"k":{"z":1}}}"#,
            r#"{"a":{"x":{"y":1},"k":{"z":1}}}"#,
            r#"{"a":{"x":{"y":1},"k":{}}}"#,
            &["a.k.z"],
        ),
        (
            r#"{"properties":{"a":{"x-kubernetes-embedded-resource":true}}}"#,
            r#"{"a":{"kind":"K","metadata":{"x":1},"spec":1}}"#,
            r#"{"a":{"kind":"K","metadata":{"x":1},"spec":1}}"#,
            r#"{"a":{"kind":"K","metadata":{"x":1}}}"#,
            &["a.spec"],
        ),
    ];
    for (schema, value, defaulted, pruned, dropped) in claims {
        let schema = read(schema);
        let mut value = json(value);
        schema.apply_defaults(&mut value);
        assert_eq!(value, json(defaulted), "{defaulted}");
        assert_eq!(schema.prune(&mut value), *dropped);
        assert_eq!(value, json(pruned), "{pruned}");
    }
}

#[test]
fn schemas_that_no_crd_may_have_are_explained() {
    let field = |schema: &str| format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
    let claims = [
        ("[]".to_owned(), "the schema must be a map"),
        ("{}".to_owned(), "`type` of the schema is missing; it must be given at the root"),
        (
            r#"{"type":"array","items":{"type":"string"}}"#.to_owned(),
            "must be `object` at the root",
        ),
        (r#"{"type":3}"#.to_owned(), "`type` of the schema must be a text"),
        (r#"{"properties":[]}"#.to_owned(), "`properties` of the schema must be a map"),
        (field(r##"{"$ref":"#/x"}"##), "`properties[a].$ref` of the schema refers to `#/x`"),
        (field("{}"), "`properties[a].type` of the schema is missing"),
        (field(r#"{"type":"text"}"#), "must be one of array, boolean"),
        (field(r#"{"type":"array"}"#), "`properties[a].items` of the schema is missing"),
        (field(r#"{"type":"string","pattern":"["}"#), "missing closing ]: `[`"),
        (field(r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#), "uniqueItems"),
        (field(r#"{"type":"object","additionalProperties":false}"#), "must not be `false`"),
        (
            field(r#"{"type":"string","anyOf":[{"type":"string"}]}"#),
            "`properties[a].anyOf[0].type`",
        ),
        (field(r#"{"type":"string","minLength":"x"}"#), "must be a whole number"),
        (
            r#"{"type":"object","anyOf":[{"properties":{"b":{"minimum":1}}}]}"#.to_owned(),
            "`anyOf[0].properties[b]` of the schema is narrowed",
        ),
        (
            r#"{"type":"object","properties":{"metadata":{"type":"object","minProperties":1}}}"#
                .to_owned(),
            "must say nothing but `name` and `generateName`",
        ),
    ];
    for (schema, expected) in claims {
        let fault = Schema::compile(&json(&schema)).expect_err(&schema).to_string();
        assert!(fault.contains(expected), "{schema}: {fault}");
    }
    for schema in [
        r#"{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":9}}}}}"#,
        r#"{"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}}}"#,
        r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#,
    ] {
        assert!(Schema::compile(&json(schema)).is_ok(), "{schema}");
    }
}

#[test]
fn deep_and_wide_schemas_are_bounded() {
    let nested = |depth: usize, open: &str, close: &str| {
        json(&(open.repeat(depth) + r#"{"type":"string"}"# + &close.repeat(depth)))
    };
    // A schema of the greatest depth is evaluated on a value that reaches its end.
    let schema = nested(MAX_SCHEMA_DEPTH, r#"{"properties":{"a":"#, "}}");
    let value = json(&(r#"{"a":"#.repeat(MAX_SCHEMA_DEPTH) + "1" + &"}".repeat(MAX_SCHEMA_DEPTH)));
    assert_eq!(Schema::read(&schema).expect("deep enough").validate(&value).len(), 1);
    let schema = nested(MAX_SCHEMA_DEPTH, r#"{"anyOf":[{"type":"boolean"},"#, "]}");
    assert!(!Schema::read(&schema).expect("deep enough").validate(&json("1")).is_empty());
    let schema = nested(MAX_SCHEMA_DEPTH + 1, r#"{"not":"#, "}");
    let fault = Schema::read(&schema).expect_err("too deep");
    assert!(fault.to_string().contains("nests deeper"), "{fault}");

    let many = Value::map([("allOf", Value::list((0..200_000).map(|_| json("{}"))))]);
    assert!(Schema::read(&many).is_err());
    let patterns =
        (0..40_000).map(|index| json(&format!(r#"{{"pattern":"{index}[a-z]{{1000}}"}}"#)));
    let patterns = Value::map([("allOf", Value::list(patterns))]);
    assert!(Schema::read(&patterns).is_err());

    // Many errors about a long list are cut off.
    let list = Value::list((0..50_000).map(Value::Integer));
    let errors = read(r#"{"items":{"type":"string"},"uniqueItems":true}"#).validate(&list);
    assert_eq!(errors.len(), operon_schema::MAX_FIELD_ERRORS);

    // What takes too long is given up and told.
    let parts = (0..1000).map(|index| json(&format!(r#"{{"enum":[{index}]}}"#)));
    let schema = Value::map([("items", Value::map([("allOf", Value::list(parts))]))]);
    let errors = Schema::read(&schema).expect("wide, but no fault").validate(&list);
    let last = errors.last().map(ToString::to_string).unwrap_or_default();
    assert!(last.contains("validation was stopped"), "{last}");
}
