//! Names and hashes.

use operon_install::{
    AccountRbac, DEPLOYMENT_HASH_LABEL, DeploymentTemplate, GoType, MANAGED_LABEL,
    aggregation_label, api_hash, api_text, auth_delegator_binding_name, auth_reader_binding_name,
    binding_hash, bundle_object_name, certificate_secret_name, copy_hashes, deep_hash,
    deployment_for, generate_name, installed_alongside_key, operator_group_role_name, rbac_for,
    rules_hash, service_host_names, service_name, typed_json,
};
use operon_object::{ApiKind, Kind, Object, Value, base62_sha224, go_json};

use super::{LineVerdict, same};

/// Checks a line of `hashes.jsonl`.
pub(super) fn check(line: &serde_json::Value) -> LineVerdict {
    let vector = &Value::parse_json(line.to_string()).unwrap_or_default();
    let text = |name: &str| vector.get(name).str();
    let kind = text("kind");
    let out = |got: &str| same(kind, text("out"), got);
    match kind {
        "bundleConfigMapName" => out(&bundle_object_name(text("in"))),
        "base62sha224" => out(&base62_sha224(text("in"))),
        "alongsideKey" => out(&installed_alongside_key(text("namespace"), text("name"))),
        "gvkHash" => check_api(vector),
        "generateName" => {
            same("hash", text("hash"), &deep_hash(text("goJSON")))?;
            out(&generate_name(text("base"), text("goJSON")))
        }
        "policyRules" => out(&told(rules_hash(vector.get("in")))),
        "roleRefSubjects" => {
            let given = vector.get("in");
            out(&told(binding_hash(given.get("roleRef"), given.get("subjects"))))
        }
        "operatorGroupClusterRole" => {
            out(&operator_group_role_name(text("namespace"), text("name"), text("roleType")))
        }
        "deepHash" => check_deep_hash(vector),
        "copyableCSV" => check_copy(vector),
        "rbacForCSV" => check_rbac(vector),
        "deploymentForSpec" => check_deployment(vector),
        "names" => check_names(vector),
        other => same("kind", "a known kind", other),
    }
}

/// Shows an answer, or why there is none.
fn told<E: std::fmt::Display>(answer: Result<String, E>) -> String {
    answer.unwrap_or_else(|error| format!("error: {error}"))
}

fn same_value(what: &str, expected: &Value, got: &Value) -> LineVerdict {
    same(what, &expected.to_string(), &got.to_string())
}

/// Some vectors leave out what every ClusterServiceVersion begins with.
fn service_version(value: &Value) -> Object {
    let name = value.at(&["metadata", "name"]).str();
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "", name);
    for (name, value) in value.entries().filter(|(name, _)| !["apiVersion", "kind"].contains(name))
    {
        object.set(&[name], value.clone());
    }
    object
}

fn check_api(vector: &Value) -> LineVerdict {
    let given = vector.get("in");
    let api = ApiKind {
        kind: Kind::new(given.get("Group").str(), given.get("Kind").str()),
        version: given.get("Version").str().to_owned(),
    };
    same("gvkString", vector.get("gvkString").str(), &api_text(&api))?;
    same("out", vector.get("out").str(), &api_hash(&api))?;
    for (suffix, label) in vector.get("aggregationLabels").entries() {
        same(suffix, label.str(), &aggregation_label(&api, suffix))?;
    }
    Ok(())
}

fn check_deep_hash(vector: &Value) -> LineVerdict {
    let given = vector.get("in");
    let typed = |go_type| told(typed_json(go_type, given));
    let json = match vector.get("type").str() {
        "DeploymentSpec" => typed(GoType::DeploymentSpec),
        "WebhookDescription" => typed(GoType::WebhookDescription),
        "PodSpec" => typed(GoType::PodSpec),
        "ServiceSpec" => typed(GoType::ServiceSpec),
        "any" => go_json(given),
        other => return same("type", "a known type", other),
    };
    same("goJSON", vector.get("goJSON").str(), &json)?;
    same("out", vector.get("out").str(), &deep_hash(&json))
}

fn check_copy(vector: &Value) -> LineVerdict {
    let hashes = copy_hashes(&service_version(vector.get("in")));
    let (spec, status) = match hashes {
        Ok(hashes) => (hashes.spec, hashes.status),
        Err(error) => (error.to_string(), error.to_string()),
    };
    same("specHash", vector.get("specHash").str(), &spec)?;
    same("statusHash", vector.get("statusHash").str(), &status)
}

fn check_rbac(vector: &Value) -> LineVerdict {
    let csv = service_version(vector.get("in"));
    let answer = match (rbac_for(&csv, csv.namespace()), vector.get("error").is_null()) {
        (Ok(answer), true) => answer,
        (Err(_), false) => return Ok(()),
        (Ok(_), false) => return same("error", vector.get("error").str(), "no error"),
        (Err(error), true) => return same("error", "no error", &error.to_string()),
    };
    let accounts = vector.get("out").elements();
    same("accounts", &accounts.len().to_string(), &answer.len().to_string())?;
    answer.iter().zip(accounts).try_for_each(|(account, expected)| check_account(account, expected))
}

fn check_account(account: &AccountRbac, expected: &Value) -> LineVerdict {
    same("serviceAccount", expected.get("serviceAccount").str(), &account.account)?;
    let lists = [
        (&account.roles, "roles"),
        (&account.role_bindings, "roleBindings"),
        (&account.cluster_roles, "clusterRoles"),
        (&account.cluster_role_bindings, "clusterRoleBindings"),
    ];
    for (objects, name) in lists {
        let expected = expected.get(name).elements();
        same(name, &expected.len().to_string(), &objects.len().to_string())?;
        for (object, expected) in objects.iter().zip(expected) {
            same(name, expected.get("name").str(), object.name())?;
            // Upstream puts this label on when the object is written.
            let mut labels = object.metadata("labels").clone();
            labels.remove(&[MANAGED_LABEL]);
            same_value(name, expected.get("labels"), &labels)?;
        }
    }
    Ok(())
}

fn check_deployment(vector: &Value) -> LineVerdict {
    let csv = service_version(vector.get("csv"));
    let given = vector.get("deployment");
    let template = DeploymentTemplate {
        name: given.get("name").str().to_owned(),
        spec: given.get("spec").clone(),
        labels: given.get("label").clone(),
    };
    let deployment = match deployment_for(&csv, &template, &Value::Null, None) {
        Ok(deployment) => deployment,
        Err(error) => return same("deployment", "a deployment", &error.to_string()),
    };
    let json = told(typed_json(GoType::DeploymentSpec, deployment.spec()));
    same("specGoJSON", vector.get("specGoJSON").str(), &json)?;
    same("hash", vector.get("hash").str(), deployment.label(DEPLOYMENT_HASH_LABEL))?;
    let result = vector.get("result");
    same_value("metadata", result.get("metadata"), deployment.at(&["metadata"]))?;
    same_value("spec", result.get("spec"), deployment.spec())
}

fn check_names(vector: &Value) -> LineVerdict {
    let text = |name: &str| vector.get(name).str();
    let service = service_name(text("deployment"));
    same("service", text("service"), &service)?;
    same("secret", text("secret"), &certificate_secret_name(&service))?;
    let delegator = auth_delegator_binding_name(&service);
    same("delegator", text("authDelegatorClusterRoleBinding"), &delegator)?;
    same("reader", text("authReaderRoleBinding"), &auth_reader_binding_name(&service))?;
    let hosts = Value::texts(service_host_names(&service, text("namespace")));
    same_value("hostnames", vector.get("hostnames"), &hosts)
}
