//! Texts that nobody should write: they end with findings, never with a crash.

use operon_api::{
    Cluster, MAX_DIAGNOSTICS, TableOptions, lower_service_version, lower_subscription,
    read_manifests, read_objects, render_table, table_for, write_yaml,
};
use operon_object::{Object, Timestamp, known::KNOWN_KINDS};
use proptest::prelude::*;

fn exercise(text: &[u8]) {
    let cluster = Cluster::new(read_manifests("x", text), "a");
    for version in &cluster.service_versions {
        lower_service_version(version);
    }
    for subscription in &cluster.subscriptions {
        lower_subscription(subscription);
    }
    for diagnostic in &cluster.diagnostics {
        assert!(diagnostic.line.is_some_and(|line| line >= 1 && line <= text.len() + 1));
        assert!(!diagnostic.to_string().is_empty());
    }
    cluster.view("a", "olm");
    let manifests = read_objects("x", text);
    for diagnostic in &manifests.diagnostics {
        assert!(diagnostic.line.is_some_and(|line| line >= 1 && line <= text.len() + 1));
    }
    let objects: Vec<Object> = manifests.objects.into_iter().map(|it| it.object).collect();
    for object in &objects {
        let back = read_objects("x", write_yaml(object.value()).as_bytes());
        assert!(back.objects.iter().any(|it| it.object == *object), "{object:?}");
    }
    // Every object is shown as every kind, so that no column may count on the fields of its own.
    for known in KNOWN_KINDS {
        let options = TableOptions {
            wide: true,
            now: Timestamp::default(),
            with_namespace: true,
            crd: objects.first(),
        };
        let shown = render_table(&table_for(&known.kind, &objects, options));
        assert_eq!(shown.lines().count(), objects.len() + 1, "{shown}");
    }
}

#[test]
fn deep_lists_and_floods_of_findings_are_bounded() {
    let deep = format!("{}{}", r#"{"kind":"List","items":["#.repeat(3000), "]}".repeat(3000));
    exercise(deep.as_bytes());
    exercise("[".repeat(9000).as_bytes());
    let flood = "{\"kind\":\"Subscription\"}\n".repeat(5000);
    let manifests = read_manifests("x", flood.as_bytes());
    assert_eq!((manifests.diagnostics.len(), manifests.unreported), (MAX_DIAGNOSTICS, 4000));
}

/// A value of a field: mostly wrong, sometimes right.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null"),
        Just("3"),
        Just("\"x\""),
        Just("\"1.2.3\""),
        Just("[]"),
        Just("{}"),
        Just("true"),
        Just("[{\"name\":\"a.b\"},null,7]"),
        Just("{\"owned\":[{\"name\":\"a\"}],\"name\":[],\"a\":\"b\"}"),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_are_read(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        exercise(&text);
    }

    #[test]
    fn arbitrary_fields_are_read(
        kind in prop_oneof![Just("Subscription"), Just("CatalogSource"), Just("OperatorGroup"), Just("ClusterServiceVersion")],
        api in prop_oneof![Just("v1"), Just("v1alpha1")],
        fields in proptest::collection::vec((prop_oneof![
            Just("name"), Just("Name"), Just("namespace"), Just("labels"), Just("annotations"), Just("version"), Just("priority"),
            Just("upgradeStrategy"), Just("selector"), Just("customresourcedefinitions"), Just("installedCSV"),
        ], value()), 0..12),
    ) {
        let members: Vec<String> =
            fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let part = members.join(",");
        let text = format!(
            "{{\"apiVersion\":\"operators.coreos.com/{api}\",\"kind\":\"{kind}\",\
             \"metadata\":{{\"name\":\"n\",{part}}},\"spec\":{{{part}}},\"status\":{{{part}}}}}"
        ).replace(",}", "}");
        exercise(text.as_bytes());
    }
}
