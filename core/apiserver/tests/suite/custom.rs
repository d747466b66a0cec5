//! Custom kinds: from definition to deletion.

use std::time::Duration;

use operon_apiserver::{ChangeFilter, ListFilter, Part, Propagation, Reason, Settings};
use operon_object::go_json;

use crate::support::{Bench, config_map, definition, target};

const ETCD: &str = r#"{"apiVersion":"etcd.io/v1","kind":"Etcd","metadata":{"name":"e","namespace":"shop"},"spec":{}}"#;
const CRD: &str = "apiextensions.k8s.io/v1 CustomResourceDefinition etcds.etcd.io";

#[test]
fn a_definition_is_established_at_once_or_after_a_while() {
    let mut bench = Bench::new();
    let made = bench.create(&definition());
    let conditions: Vec<String> = made
        .at(&["status", "conditions"])
        .elements()
        .iter()
        .map(|one| {
            ["type", "status", "reason", "message"].map(|name| one.get(name).str()).join(" ")
        })
        .collect();
    assert_eq!(
        conditions,
        [
            "NamesAccepted True NoConflicts no conflicts found",
            "Established True InitialNamesAccepted the initial names have been accepted"
        ]
    );
    assert_eq!(go_json(made.at(&["status", "storedVersions"])), r#"["v1"]"#);
    assert_eq!(made.at(&["status", "acceptedNames", "singular"]).str(), "etcd");

    let mut slow =
        Bench::with(Settings { establish_delay: Duration::from_secs(4), ..Settings::default() });
    slow.create(&definition());
    assert_eq!(slow.settle(), Some(4.0));
    assert_eq!(slow.try_create(ETCD).unwrap_err().reason, Reason::NotFound);
    assert!(slow.server.kinds().iter().all(|kind| kind.plural != "etcds"));
    assert_eq!(slow.sleep(4), None);
    slow.create(ETCD);
    let served: Vec<_> =
        slow.server.kinds().into_iter().filter(|kind| kind.plural == "etcds").collect();
    let shown: Vec<_> =
        served.iter().map(|kind| (kind.kind.version.as_str(), kind.is_storage)).collect();
    assert_eq!(shown, [("v1", true), ("v1beta1", false)]);
    assert_eq!(
        (served[0].short_names.as_slice(), served[0].is_namespaced),
        (&["ec".to_owned()][..], true)
    );
}

#[test]
fn bad_definitions_are_refused() {
    let mut bench = Bench::new();
    let claims = [
        (
            "etcds.etcd.io",
            "etcd.etcd.io",
            r#"metadata.name: Invalid value: "etcd.etcd.io": must be spec.names.plural+"."+spec.group"#,
        ),
        (
            r#""storage":false"#,
            r#""storage":true"#,
            "spec.versions: Invalid value: must have exactly one version marked as storage version",
        ),
        (
            r#""name":"v1beta1""#,
            r#""name":"v1""#,
            r#"spec.versions[1].name: Invalid value: "v1": must be unique"#,
        ),
        (
            r#""scope":"Namespaced""#,
            r#""scope":"World""#,
            r#"spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced""#,
        ),
        (
            r#""minimum":1"#,
            r#""minimum":1,"$ref":"x""#,
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].$ref: Invalid value:",
        ),
    ];
    for (from, to, message) in claims {
        let error = bench.try_create(&definition().replace(from, to)).expect_err(message);
        assert_eq!(error.reason, Reason::Invalid);
        assert!(error.message.contains(message), "{error}");
    }
    bench.create(&definition());
    let place = target(CRD);
    let removed = r#"{"spec":{"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
    let error = bench.patch(&place, removed).unwrap_err();
    assert!(error.message.contains("status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version"), "{error}");
    let error = bench.patch(&place, r#"{"spec":{"scope":"Cluster"}}"#).unwrap_err();
    assert!(
        error.message.contains("spec.scope: Invalid value: \"Cluster\": field is immutable"),
        "{error}"
    );
    // The names of one definition are not free for another.
    let other =
        definition().replace("etcds.etcd.io", "etcdz.etcd.io").replace("\"etcds\"", "\"etcdz\"");
    let other = bench.create(&other);
    let refused = &other.at(&["status", "conditions"]).elements()[0];
    assert_eq!(
        (refused.get("status").str(), refused.get("reason").str()),
        ("False", "KindConflict")
    );
    bench.delete(&place, Propagation::Background).unwrap();
    bench.settle();
    bench.create(ETCD);
}

#[test]
fn objects_are_defaulted_pruned_checked_and_shown_in_the_version_asked_for() {
    let mut bench = Bench::new();
    bench.create(&definition());
    let made = bench
        .create(&ETCD.replace("{}", r#"{"color":"red"}"#).replace("etcd.io/v1", "etcd.io/v1beta1"));
    assert_eq!(
        (made.api_version(), go_json(made.spec()).as_str()),
        ("etcd.io/v1beta1", r#"{"size":3}"#)
    );
    for version in ["v1", "v1beta1"] {
        let place = target(&format!("etcd.io/{version} Etcd shop/e"));
        let api_version = format!("etcd.io/{version}");
        assert_eq!(bench.get(&place).unwrap().api_version(), api_version);
        let listed = bench.server.list(&place.kind, &ListFilter::default()).unwrap();
        assert_eq!(listed[0].api_version(), api_version);
        let filter = ChangeFilter { kinds: vec![place.kind], objects: ListFilter::default() };
        let seen = bench.server.changes_since(0, &filter).unwrap();
        assert_eq!(seen[0].object.api_version(), api_version);
    }
    let stored = bench.server.object(&target("etcd.io/v1 Etcd shop/e").key()).unwrap();
    assert_eq!(stored.api_version(), "etcd.io/v1");
    assert!(bench.get(&target("etcd.io/v1alpha1 Etcd shop/e")).is_none(), "it is not served");
    let error = bench
        .try_create(&ETCD.replace("\"e\"", "\"f\"").replace("{}", r#"{"size":0}"#))
        .unwrap_err();
    assert_eq!(
        error.message,
        r#"Etcd.etcd.io "f" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"#
    );
    let mut wrong = made;
    wrong.set(&["status", "phase"], 7);
    assert_eq!(bench.try_update(wrong, Part::Status).unwrap_err().reason, Reason::Invalid);
}

#[test]
fn stored_versions_remember() {
    let mut bench = Bench::new();
    let text = definition();
    bench.create(&text);
    let swapped = text
        .replace(
            r#""name":"v1","served":true,"storage":true"#,
            r#""name":"v1","served":true,"storage":false"#,
        )
        .replace(
            r#""name":"v1beta1","served":true,"storage":false"#,
            r#""name":"v1beta1","served":true,"storage":true"#,
        );
    bench.create(ETCD);
    let answer = bench.try_apply("m", &swapped, true).unwrap();
    assert_eq!(go_json(answer.object.at(&["status", "storedVersions"])), r#"["v1","v1beta1"]"#);
    assert_eq!(bench.get(&target("etcd.io/v1 Etcd shop/e")).unwrap().api_version(), "etcd.io/v1");
}

#[test]
fn a_definition_goes_after_its_objects_and_what_they_own() {
    let mut bench = Bench::new();
    bench.create(&definition());
    let held = ETCD.replace(r#""name":"e""#, r#""name":"held","finalizers":["a.b/c"]"#);
    bench.create(&held);
    let owner = bench.create(ETCD);
    let owned = format!(
        r#","ownerReferences":[{{"apiVersion":"etcd.io/v1","kind":"Etcd","name":"e","uid":"{}"}}]"#,
        owner.uid()
    );
    bench.create(&config_map("owned", &owned));
    bench.delete(&target(CRD), Propagation::Background).unwrap();
    bench.settle();
    let going = bench.get(&target(CRD)).unwrap();
    let terminating = go_json(going.at(&["status", "conditions"]));
    assert!(terminating.contains("InstanceDeletionInProgress"), "{terminating}");
    assert!(!bench.exists(&target("etcd.io/v1 Etcd shop/e")));
    assert!(!bench.exists(&target("v1 ConfigMap shop/owned")));
    let error = bench.try_create(ETCD).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (405, "create not allowed while custom resource definition is terminating")
    );
    bench.patch(&target("etcd.io/v1 Etcd shop/held"), r#"{"metadata":{"finalizers":[]}}"#).unwrap();
    bench.settle();
    assert!(!bench.exists(&target(CRD)));
    assert_eq!(bench.try_create(ETCD).unwrap_err().reason, Reason::NotFound);
}
