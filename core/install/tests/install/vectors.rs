//! The reference vectors of names and hashes: what upstream's own functions answer.

use operon_install::{
    AccountRbac, DEPLOYMENT_HASH_LABEL, DeploymentTemplate, GoType, MANAGED_LABEL,
    aggregation_label, api_hash, api_text, auth_delegator_binding_name, auth_reader_binding_name,
    binding_hash, bundle_object_name, certificate_secret_name, copy_hashes, deep_hash,
    deployment_for, deployment_spec_hash, generate_name, installed_alongside_key,
    operator_group_role_name, rbac_for, rules_hash, service_host_names, service_name, typed_json,
};
use operon_object::{ApiKind, Kind, Object, Value, base62_sha224, go_json};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/hashes.jsonl");

#[test]
fn names_and_hashes_are_those_of_the_reference() {
    let Ok(text) = std::fs::read_to_string(VECTORS) else {
        println!("left out: {VECTORS} not present");
        return;
    };
    let mut checked = 0;
    for (index, line) in text.lines().enumerate() {
        let vector = Value::parse_json(line).expect("a vector is JSON");
        check(&vector, &format!("line {}", index + 1));
        checked += 1;
    }
    println!("checked {checked} vectors");
    assert!(checked > 0, "{VECTORS} is empty");
}

fn check(vector: &Value, place: &str) {
    let text = |name: &str| vector.get(name).str().to_owned();
    match vector.get("kind").str() {
        "bundleConfigMapName" => {
            assert_eq!(bundle_object_name(&text("in")), text("out"), "{place}");
        }
        "base62sha224" => assert_eq!(base62_sha224(&text("in")), text("out"), "{place}"),
        "alongsideKey" => {
            let key = installed_alongside_key(&text("namespace"), &text("name"));
            assert_eq!(key, text("out"), "{place}");
        }
        "gvkHash" => check_api(vector, place),
        "generateName" => {
            assert_eq!(deep_hash(&text("goJSON")), text("hash"), "{place}");
            assert_eq!(generate_name(&text("base"), &text("goJSON")), text("out"), "{place}");
        }
        "policyRules" => {
            assert_eq!(rules_hash(vector.get("in")).as_deref(), Ok(&*text("out")), "{place}");
        }
        "roleRefSubjects" => {
            let given = vector.get("in");
            let hash = binding_hash(given.get("roleRef"), given.get("subjects"));
            assert_eq!(hash.as_deref(), Ok(&*text("out")), "{place}");
        }
        "operatorGroupClusterRole" => {
            let name =
                operator_group_role_name(&text("namespace"), &text("name"), &text("roleType"));
            assert_eq!(name, text("out"), "{place}");
        }
        "deepHash" => check_deep_hash(vector, place),
        "copyableCSV" => {
            let csv = service_version(vector.get("in"));
            let spec = typed_json(GoType::CsvSpec, csv.spec()).expect("the spec fits its type");
            assert!(text("specGoJSON").contains(&spec), "{place}: {spec}");
            let hashes = copy_hashes(&csv).expect("the object fits its type");
            assert_eq!(hashes.spec, text("specHash"), "{place}");
            assert_eq!(hashes.status, text("statusHash"), "{place}");
        }
        "rbacForCSV" => check_rbac(vector, place),
        "deploymentForSpec" => check_deployment(vector, place),
        "names" => check_names(vector, place),
        other => unreachable!("{place}: no check for `{other}`"),
    }
}

/// Some vectors leave out what every ClusterServiceVersion begins with.
fn service_version(value: &Value) -> Object {
    let mut value = value.clone();
    value.set(&["apiVersion"], "operators.coreos.com/v1alpha1");
    value.set(&["kind"], "ClusterServiceVersion");
    Object::from_value(value).expect("it has a kind")
}

fn check_api(vector: &Value, place: &str) {
    let given = vector.get("in");
    let api = ApiKind {
        kind: Kind::new(given.get("Group").str(), given.get("Kind").str()),
        version: given.get("Version").str().to_owned(),
    };
    assert_eq!(api_text(&api), vector.get("gvkString").str(), "{place}");
    assert_eq!(api_hash(&api), vector.get("out").str(), "{place}");
    for (suffix, label) in vector.get("aggregationLabels").entries() {
        assert_eq!(aggregation_label(&api, suffix), label.str(), "{place}");
    }
}

fn check_deep_hash(vector: &Value, place: &str) {
    let given = vector.get("in");
    let typed = |go_type| typed_json(go_type, given).expect("the value fits its type");
    let json = match vector.get("type").str() {
        "DeploymentSpec" => typed(GoType::DeploymentSpec),
        "WebhookDescription" => typed(GoType::WebhookDescription),
        "PodSpec" => typed(GoType::PodSpec),
        "ServiceSpec" => typed(GoType::ServiceSpec),
        "any" => go_json(given),
        other => unreachable!("{place}: no type `{other}`"),
    };
    assert_eq!(json, vector.get("goJSON").str(), "{place}");
    assert_eq!(deep_hash(&json), vector.get("out").str(), "{place}");
}

fn check_rbac(vector: &Value, place: &str) {
    let csv = service_version(vector.get("in"));
    let answer = rbac_for(&csv, csv.namespace());
    if !vector.get("error").is_null() {
        assert!(answer.is_err(), "{place}: upstream says {}", vector.get("error"));
        return;
    }
    let answer = answer.expect("upstream has an answer");
    let accounts = vector.get("out").elements();
    assert_eq!(answer.len(), accounts.len(), "{place}");
    for (account, expected) in answer.iter().zip(accounts) {
        check_account(account, expected, &format!("{place}, account `{}`", account.account));
    }
}

fn check_account(account: &AccountRbac, expected: &Value, place: &str) {
    assert_eq!(account.account, expected.get("serviceAccount").str(), "{place}");
    let lists = [
        (&account.roles, "roles"),
        (&account.role_bindings, "roleBindings"),
        (&account.cluster_roles, "clusterRoles"),
        (&account.cluster_role_bindings, "clusterRoleBindings"),
    ];
    for (objects, name) in lists {
        let expected = expected.get(name).elements();
        assert_eq!(objects.len(), expected.len(), "{place}: {name}");
        for (object, expected) in objects.iter().zip(expected) {
            assert_eq!(object.name(), expected.get("name").str(), "{place}: {name}");
            assert_eq!(object.label(MANAGED_LABEL), "true", "{place}: {name}");
            // Upstream puts this label on when the object is written.
            let mut labels = object.metadata("labels").clone();
            labels.remove(&[MANAGED_LABEL]);
            assert_eq!(labels, *expected.get("labels"), "{place}: {name}");
        }
    }
}

fn check_deployment(vector: &Value, place: &str) {
    let csv = service_version(vector.get("csv"));
    let given = vector.get("deployment");
    let template = DeploymentTemplate {
        name: given.get("name").str().to_owned(),
        spec: given.get("spec").clone(),
        labels: given.get("label").clone(),
    };
    let deployment =
        deployment_for(&csv, &template, &Value::Null, None).expect("the template fits its type");
    let json = typed_json(GoType::DeploymentSpec, deployment.spec()).expect("it was typed");
    assert_eq!(json, vector.get("specGoJSON").str(), "{place}");
    assert_eq!(deployment.label(DEPLOYMENT_HASH_LABEL), vector.get("hash").str(), "{place}");
    assert_eq!(deployment_spec_hash(deployment.spec()).as_deref(), Ok(vector.get("hash").str()));
    let result = vector.get("result");
    assert_eq!(deployment.at(&["metadata"]), result.get("metadata"), "{place}");
    assert_eq!(deployment.spec(), result.get("spec"), "{place}");
}

fn check_names(vector: &Value, place: &str) {
    let service = service_name(vector.get("deployment").str());
    assert_eq!(service, vector.get("service").str(), "{place}");
    assert_eq!(certificate_secret_name(&service), vector.get("secret").str(), "{place}");
    let expected = vector.get("authDelegatorClusterRoleBinding").str();
    assert_eq!(auth_delegator_binding_name(&service), expected, "{place}");
    let expected = vector.get("authReaderRoleBinding").str();
    assert_eq!(auth_reader_binding_name(&service), expected, "{place}");
    let hosts = service_host_names(&service, vector.get("namespace").str());
    assert_eq!(Value::texts(hosts), *vector.get("hostnames"), "{place}");
}
