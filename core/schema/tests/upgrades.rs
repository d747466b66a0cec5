//! Claims about CRDs: how they are read and what speaks against replacing them.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value};
use operon_schema::{Conversion, Definition, Scope, Severity, check_upgrade, versions_to_list};

fn object(text: &str) -> Object {
    Object::from_value(Value::parse_json(text).expect("JSON")).expect("an object")
}

fn crd(versions: &str, stored: &str, conversion: &str) -> Object {
    object(&format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "metadata":{{"name":"foos.g.io"}},
            "spec":{{"group":"g.io","scope":"Namespaced","names":{{"kind":"Foo","plural":"foos"}},
                "conversion":{{"strategy":"{conversion}"}},"versions":[{versions}]}},
            "status":{{"storedVersions":[{stored}]}}}}"#
    ))
}

fn version(name: &str, served: bool, schema: &str) -> String {
    format!(
        r#"{{"name":"{name}","served":{served},"storage":false,"schema":{{"openAPIV3Schema":{schema}}}}}"#
    )
}

fn foo(name: &str, spec: &str) -> Object {
    object(&format!(
        r#"{{"apiVersion":"g.io/v1","kind":"Foo","metadata":{{"namespace":"ns","name":"{name}"}},"spec":{spec}}}"#
    ))
}

const ANY: &str = r#"{"type":"object"}"#;
const TIGHT: &str = r#"{"type":"object","properties":{"spec":{"type":"object","required":["size"],
    "properties":{"size":{"type":"integer"},"color":{"enum":["red"]}}}}}"#;

#[test]
fn everything_that_speaks_against_a_change_is_told_at_once() {
    let served = |name| version(name, true, ANY);
    let old_versions =
        [served("v1"), served("v2"), served("v3"), served("v4"), served("v5")].join(",");
    let old = crd(&old_versions, r#""v0","v1","v00""#, "None");
    let new_versions = [
        version("v1", true, TIGHT),
        version("v2", true, ANY),
        version("v3", true, r##"{"$ref":"#/x"}"##),
        version("v4", false, ANY),
        version("v6", true, TIGHT),
    ]
    .join(",");
    let existing = BTreeMap::from([
        (
            "v1".to_owned(),
            Ok(vec![
                foo("good", r#"{"size":1}"#),
                foo("bad", r#"{"color":"blue"}"#),
                foo("worse", r#"{"size":"x"}"#),
            ]),
        ),
        ("v2".to_owned(), Err("the server is away".to_owned())),
    ]);
    let expected = [
        "object-invalid:v1:ns/bad:spec.color",
        "object-invalid:v1:ns/bad:spec.size",
        "object-invalid:v1:ns/worse:spec.size",
        "listing-failed:v2",
        "schema-unreadable:v3",
        "stored-version-removed:v0",
        "stored-version-removed:v00",
        "served-version-removed:v4",
        "served-version-removed:v5",
    ];
    for (conversion, objects) in [("None", Severity::Blocks), ("Webhook", Severity::Warns)] {
        let new = crd(&new_versions, "", conversion);
        assert_eq!(
            versions_to_list(&old, &new),
            Ok(["v1", "v2", "v3"].map(str::to_owned).to_vec())
        );
        let report = check_upgrade(&old, &new, &existing);
        let names: Vec<String> = report.findings.iter().map(|finding| finding.name()).collect();
        assert_eq!(names, expected);
        for finding in &report.findings {
            let severity = match finding.name().split(':').next() {
                Some("object-invalid") => objects,
                Some("served-version-removed") => Severity::Notes,
                _ => Severity::Blocks,
            };
            assert_eq!(finding.severity, severity, "{finding}");
        }
        let mut waived: BTreeSet<String> = names.iter().cloned().collect();
        assert!(report.blocking(&waived).is_empty());
        waived.remove("stored-version-removed:v0");
        let left: Vec<String> =
            report.blocking(&waived).iter().map(|finding| finding.to_string()).collect();
        assert_eq!(left.len(), 1);
        assert!(left[0].contains("no version v0"), "{left:?}");
    }
    // Objects that nobody listed are no reason to go on.
    let report = check_upgrade(&old, &crd(&served("v1"), "", "None"), &BTreeMap::new());
    assert_eq!(report.findings[0].name(), "listing-failed:v1");
    let other = object(r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}"#);
    let report = check_upgrade(&old, &other, &existing);
    assert_eq!(report.findings[0].name(), "definition-unreadable:new");
    assert_eq!(report.blocking(&BTreeSet::new()).len(), 1);
}

#[test]
fn definitions_read_the_same_in_both_forms() {
    let conditions = r#""conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]"#;
    let new_form = object(&format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.g.io"}},
        "spec":{{"group":"g.io","scope":"Cluster","preserveUnknownFields":true,
            "names":{{"kind":"Foo","plural":"foos","shortNames":["fo"],"categories":["all"]}},
            "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{TIGHT}}},
                "subresources":{{"status":{{}}}},
                "additionalPrinterColumns":[{{"name":"Size","type":"integer","jsonPath":".spec.size","priority":1}}]}}]}},
        "status":{{"storedVersions":["v1"],{conditions}}}}}"#
    ));
    let old_form = object(&format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.g.io"}},
        "spec":{{"group":"g.io","scope":"Cluster","version":"v1","validation":{{"openAPIV3Schema":{TIGHT}}},
            "names":{{"kind":"Foo","plural":"foos","shortNames":["fo"],"categories":["all"]}},
            "subresources":{{"status":{{}}}},
            "additionalPrinterColumns":[{{"name":"Size","type":"integer","JSONPath":".spec.size","priority":1}}]}},
        "status":{{"storedVersions":["v1"],{conditions}}}}}"#
    ));
    let definition = Definition::read(&new_form).expect("a CRD");
    assert_eq!(Definition::read(&old_form), Ok(definition.clone()));
    assert_eq!(definition.names.list_kind, "FooList");
    assert_eq!(definition.names.singular, "foo");
    assert_eq!(definition.scope, Scope::Cluster);
    assert_eq!(definition.conversion, Conversion::None);
    assert!(definition.is_established);
    let version = definition.storage_version().expect("a stored version");
    assert!(version.has_status);
    assert_eq!(version.printer_columns[0].json_path, ".spec.size");
    assert!(version.read_schema().is_ok());
}

#[test]
fn definitions_without_the_necessary_are_explained() {
    let whole = crd(&version("v1", true, ANY), "", "None");
    let claims: [(&[&str], Value, &str); 7] = [
        (&["kind"], "Secret".into(), "`kind` of the CRD must be"),
        (&["apiVersion"], "apiextensions.k8s.io/v2".into(), "`apiVersion` of the CRD must end"),
        (&["spec", "group"], Value::Null, "`spec.group` of the CRD is missing"),
        (&["spec", "names", "plural"], Value::Null, "`spec.names.plural`"),
        (&["spec", "scope"], "Galaxy".into(), "not `Galaxy`"),
        (&["spec", "versions"], "v1".into(), "`spec.versions` of the CRD must be a list"),
        (&["spec", "versions"], Value::list([Value::Null]), "`spec.versions[0].name`"),
    ];
    for (path, value, expected) in claims {
        let mut crd = whole.clone();
        crd.set(path, value);
        let fault = Definition::read(&crd).expect_err("a fault").to_string();
        assert!(fault.contains(expected), "{fault}");
    }
    assert!(!Definition::read(&whole).expect("a CRD").is_established);
}
