//! Drafts: what a plan would write, and the hash that names it.

use std::collections::BTreeMap;

use operon_catalog::EntryId;
use operon_object::{Object, Value, list, map};
use operon_plan::{
    BundleContents, ContentsError, Draft, PlannedOperator, draft_operators, lift_plan, lift_status,
    plan_name,
};
use operon_resolve::{Addition, SourceName};

fn service_version(name: &str) -> Object {
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "placeholder", name);
    let rule =
        map! { "apiGroups" => list![""], "resources" => list!["pods"], "verbs" => list!["get"] };
    let permission = map! { "serviceAccountName" => "etcd", "rules" => list![rule] };
    object.set(&["spec", "install", "strategy"], "deployment");
    object.set(&["spec", "install", "spec", "permissions"], list![permission]);
    object.set(&["status", "phase"], "Succeeded");
    object
}

fn contents() -> BundleContents {
    let settings = Object::new("v1", "ConfigMap", "", "settings");
    let definition =
        Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "etcds.example.com");
    let objects = [settings, service_version("etcd.v2"), definition];
    BundleContents::new("etcd.v2", objects).expect("it is a bundle")
}

fn operator() -> PlannedOperator {
    let addition = Addition {
        name: "etcd.v2".to_owned(),
        package: "etcd".to_owned(),
        channel: "stable".to_owned(),
        source: SourceName { namespace: "olm".to_owned(), name: "demo".to_owned() },
        entry: EntryId(0),
        version: "2.0.0".to_owned(),
        replaces: "etcd.v1".to_owned(),
        updates: "etcd.v1".to_owned(),
        image: String::new(),
        is_starting: false,
        reasons: Vec::new(),
    };
    let properties = vec![("olm.package".to_owned(), r#"{"packageName":"etcd"}"#.to_owned())];
    PlannedOperator { addition, properties }
}

fn draft(contents: &BundleContents, target: &str) -> Draft {
    let targets = BTreeMap::from([("etcd".to_owned(), target.to_owned())]);
    draft_operators("shop", vec![(operator(), contents)], targets).expect("it can be planned")
}

#[test]
fn steps_come_in_order_and_say_what_the_resolution_says() {
    let draft = draft(&contents(), "etcd.v2");
    let kinds: Vec<String> =
        draft.steps.iter().map(|step| step.object.kind().name().to_owned()).collect();
    let expected = [
        "ClusterServiceVersion",
        "CustomResourceDefinition",
        "ConfigMap",
        "ServiceAccount",
        "Role",
        "RoleBinding",
    ];
    assert_eq!(kinds, expected);
    let operator = &draft.steps[0].object;
    assert_eq!(operator.namespace(), "shop");
    assert_eq!(operator.at(&["spec", "replaces"]).str(), "etcd.v1");
    assert!(operator.status().is_null(), "a bundle's status says nothing here");
    assert_eq!(
        operator.annotation("operatorframework.io/properties"),
        Some(r#"{"properties":[{"type":"olm.package","value":{"packageName":"etcd"}}]}"#)
    );
    let labelled = draft
        .steps
        .iter()
        .all(|step| step.object.labels().any(|(name, _)| name == "operators.coreos.com/etcd.shop"));
    assert!(labelled, "everything belongs to the operator from the beginning");
}

#[test]
fn the_hash_names_the_content_and_nothing_else() {
    let first = draft(&contents(), "etcd.v2");
    assert_eq!(first.content, draft(&contents(), "etcd.v2").content);
    assert_ne!(first.content, draft(&contents(), "etcd.v3").content, "who moves where counts");
    let mut changed = contents();
    changed.objects[0].set(&["data", "a"], "b");
    assert_ne!(first.content, draft(&changed, "etcd.v2").content, "every object counts");
    assert_eq!(plan_name(&first, 1), plan_name(&first, 1));
    assert_ne!(plan_name(&first, 1), plan_name(&first, 2), "the same content may come again");
}

#[test]
fn a_plan_says_what_its_draft_says() {
    let draft = draft(&contents(), "etcd.v2");
    let plan = lift_plan(&draft, "install-1", 7, &[], "because");
    assert_eq!(plan.at(&["spec", "approved"]), &Value::Bool(true), "nobody has to say yes");
    assert_eq!(plan.at(&["spec", "generation"]).as_integer(), Some(7));
    assert_eq!(plan.annotation("operon.dev/targets"), Some(r#"{"etcd":"etcd.v2"}"#));
    let status = lift_status(&draft, false);
    assert_eq!(status.get("phase").str(), "RequiresApproval");
    let steps = status.get("plan").elements();
    assert_eq!(steps.len(), draft.steps.len());
    for (step, planned) in steps.iter().zip(&draft.steps) {
        let manifest = Value::parse_json(step.at(&["resource", "manifest"]).str());
        assert_eq!(manifest.as_ref(), Ok(planned.object.value()), "nothing is lost on the way");
    }
}

#[test]
fn what_is_no_bundle_is_told() {
    let none = BundleContents::new("a.v1", [Object::new("v1", "ConfigMap", "", "a")]);
    assert_eq!(none, Err(ContentsError::NoServiceVersion));
    let two = BundleContents::new("a.v1", [service_version("a.v1"), service_version("b.v1")]);
    assert!(matches!(two, Err(ContentsError::ServiceVersions(names)) if names.len() == 2));
    let other = BundleContents::new("a.v1", [service_version("b.v1")]);
    let text = other.expect_err("the names differ").to_string();
    assert!(text.contains("a.v1") && text.contains("b.v1"), "{text}");
}
