//! What holds for every schema and every value.

use operon_object::Value;
use operon_schema::Schema;
use proptest::{collection::vec, prelude::*};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("metadata")].prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        (-3_i64..9).prop_map(Value::Integer),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        "[a-c0-9é./:-]{0,6}".prop_map(Value::text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::list),
            vec((name(), inner), 0..4).prop_map(Value::map),
        ]
    })
}

/// Makes schemas that mostly make sense: each word has a value of its kind.
fn schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        prop_oneof!["string", "integer", "number", "boolean", "object", "array"]
            .prop_map(|text| ("type", Value::text(text))),
        prop_oneof![Just("date-time"), Just("int32"), Just("ipv4"), Just("email"), Just("uri")]
            .prop_map(|text| ("format", Value::text(text))),
        r"[a-c\[\](){}*+?|^$.\\d0-9,-]{0,8}".prop_map(|text| ("pattern", Value::text(text))),
        (-5_i64..5).prop_map(|number| ("minimum", Value::Integer(number))),
        any::<f64>().prop_map(|number| ("maximum", Value::Float(number))),
        any::<f64>().prop_map(|number| ("multipleOf", Value::Float(number))),
        (-2_i64..4).prop_map(|number| ("maxLength", Value::Integer(number))),
        (-2_i64..4).prop_map(|number| ("minItems", Value::Integer(number))),
        (-2_i64..4).prop_map(|number| ("maxProperties", Value::Integer(number))),
        any::<bool>().prop_map(|flag| ("nullable", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("uniqueItems", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-preserve-unknown-fields", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-embedded-resource", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-int-or-string", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("additionalProperties", Value::Bool(flag))),
        vec(value(), 0..3).prop_map(|values| ("enum", Value::list(values))),
        vec(name(), 0..3).prop_map(|names| ("required", Value::texts(names))),
        value().prop_map(|value| ("default", value)),
    ];
    let leaf = vec(word.clone(), 0..4).prop_map(Value::map);
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let part = prop_oneof![
            vec((name(), inner.clone()), 0..4).prop_map(|nodes| ("properties", Value::map(nodes))),
            vec(inner.clone(), 1..3).prop_map(|nodes| ("anyOf", Value::list(nodes))),
            vec(inner.clone(), 1..3).prop_map(|nodes| ("oneOf", Value::list(nodes))),
            vec(inner.clone(), 1..3).prop_map(|nodes| ("allOf", Value::list(nodes))),
            inner.clone().prop_map(|node| ("not", node)),
            inner.clone().prop_map(|node| ("items", node)),
            inner.clone().prop_map(|node| ("additionalProperties", node)),
            inner.prop_map(|node| ("patternProperties", Value::map([("^a", node)]))),
        ];
        (vec(word.clone(), 0..3), vec(part, 1..3))
            .prop_map(|(words, parts)| Value::map(words.into_iter().chain(parts)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_values_are_no_reason_to_panic(schema in value(), value in value()) {
        let _ = Schema::compile(&schema);
        let _ = Schema::structural_faults(&schema);
        if let Ok(schema) = Schema::read(&schema) {
            let _ = schema.validate(&value);
        }
    }

    #[test]
    fn schemas_judge_fill_in_and_drop(schema in schema(), value in value()) {
        let faults = Schema::structural_faults(&schema);
        prop_assert_eq!(Schema::compile(&schema).is_err(), !faults.is_empty());
        let Ok(schema) = Schema::read(&schema) else { return Ok(()) };
        prop_assert_eq!(schema.validate(&value), schema.validate(&value));
        for error in schema.validate(&value) {
            prop_assert!(!error.to_string().is_empty());
        }

        let mut defaulted = value.clone();
        schema.apply_defaults(&mut defaulted);
        let mut twice = defaulted.clone();
        schema.apply_defaults(&mut twice);
        prop_assert_eq!(&twice, &defaulted, "defaults are idempotent");

        let mut pruned = value.clone();
        let dropped = schema.prune(&mut pruned);
        prop_assert_eq!(dropped.is_empty(), pruned == value);
        let mut twice = pruned.clone();
        prop_assert!(schema.prune(&mut twice).is_empty(), "pruning is idempotent");
        prop_assert_eq!(twice, pruned);
    }
}
