//! Claims about the JSON of Go's types: quantities, zeros and what is left out.

use operon_install::{GoType, canonical_quantity, typed_json};
use operon_object::Value;
use proptest::prelude::*;

use crate::support::value;

#[test]
fn quantities_are_written_as_kubernetes_does() {
    // Each line was asked of Kubernetes' own parser.
    let claims = [
        ("0", "0"),
        ("000", "0"),
        ("-0", "0"),
        ("0Mi", "0"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.500", "1.500"),
        ("1.000", "1"),
        ("+5", "+5"),
        ("007", "007"),
        ("100", "100"),
        ("1000", "1k"),
        ("1000m", "1"),
        ("0.1", "100m"),
        ("1024Mi", "1Gi"),
        ("1000Mi", "1000Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Mi", "512Ki"),
        ("0.25000Ki", "256"),
        ("1024", "1024"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1e2", "100"),
        ("12e-1", "1200e-3"),
        ("0.0000000001", "1n"),
        ("5n", "5n"),
        ("-1.5Gi", "-1536Mi"),
        ("8Ei", "9223372036854775807"),
        ("1000E", "1"),
        (" 1 ", "1"),
        ("Ki", "0"),
        ("9223372036854775807", "9223372036854775807"),
    ];
    for (given, expected) in claims {
        assert_eq!(canonical_quantity(given).as_deref(), Some(expected), "{given}");
    }
    for given in ["", "x", "1x", "1e", "1KiB", "1 Gi", "0x1", "1.2.3", "٣"] {
        assert_eq!(canonical_quantity(given), None, "{given}");
    }
}

#[test]
fn zeros_are_written_where_a_type_has_no_absence() {
    let claims = [
        (GoType::PodSpec, "null", r#"{"containers":null}"#),
        (
            GoType::PodSpec,
            r#"{"containers":[null],"x":1}"#,
            r#"{"containers":[{"name":"","resources":{}}]}"#,
        ),
        (
            GoType::ServiceSpec,
            r#"{"ports":[{"port":1}]}"#,
            r#"{"ports":[{"port":1,"targetPort":0}]}"#,
        ),
        (
            GoType::PodSpec,
            r#"{"containers":[],"hostNetwork":false,"priority":0,"nodeSelector":{},"affinity":{}}"#,
            r#"{"containers":[],"affinity":{},"priority":0}"#,
        ),
        (
            GoType::PodSpec,
            r#"{"containers":[{"name":"c","livenessProbe":{"grpc":{"port":1}},
                "env":[{"name":"e","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}]}]}"#,
            r#"{"containers":[{"name":"c","env":[{"name":"e","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}],"resources":{},"livenessProbe":{"grpc":{"port":1,"service":null}}}]}"#,
        ),
        (
            GoType::ObjectMeta,
            r#"{"creationTimestamp":"2026-11-16T06:54:39.5+01:00","labels":{"b":"<","a":""}}"#,
            r#"{"creationTimestamp":"2026-11-16T05:54:39Z","labels":{"a":"","b":"\u003c"}}"#,
        ),
        (GoType::ObjectMeta, r#"{"creationTimestamp":null,"annotations":{}}"#, "{}"),
        (
            GoType::CsvSpec,
            r#"{"version":"v1.2","customresourcedefinitions":{"owned":[{"name":"n","specDescriptors":[{"value":null},{"value":{"b":1,"a":2}},{}]}]}}"#,
            r#"{"install":{"strategy":"","spec":{"deployments":null}},"version":"1.2.0","customresourcedefinitions":{"owned":[{"name":"n","version":"","kind":"","specDescriptors":[{"path":"","value":null},{"path":"","value":{"a":2,"b":1}},{"path":""}]}]},"apiservicedefinitions":{},"displayName":"","provider":{},"cleanup":{"enabled":false}}"#,
        ),
        (GoType::PolicyRules, "null", "null"),
        (GoType::PolicyRules, "[{}]", r#"[{"verbs":null}]"#),
        (GoType::Subjects, "[]", "[]"),
    ];
    for (go_type, given, expected) in claims {
        assert_eq!(typed_json(go_type, &value(given)).as_deref(), Ok(expected), "{given}");
    }
}

fn trees() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "containers",
        "env",
        "name",
        "replicas",
        "template",
        "spec",
        "metadata",
        "resources",
        "limits",
        "volumes",
        "emptyDir",
        "sizeLimit",
        "ports",
        "port",
        "labels",
        "strategy",
        "other",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9_i64).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "1.5Gi", "x<y"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..5).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_typed_once_stays_as_it_is(tree in trees()) {
        for go_type in [GoType::DeploymentSpec, GoType::PodSpec, GoType::SubscriptionConfig] {
            if let Ok(json) = typed_json(go_type, &tree) {
                prop_assert_eq!(typed_json(go_type, &value(&json)), Ok(json));
            }
        }
    }

    #[test]
    fn a_canonical_quantity_stays_as_it_is(text in "[-+]?[0-9.]{0,40}(|[numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]{1,3})") {
        if let Some(once) = canonical_quantity(&text) {
            prop_assert_eq!(canonical_quantity(&once), Some(once.clone()), "{}", text);
        }
    }
}
