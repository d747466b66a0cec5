//! What the manifests contain in each mode. That an API server enforces it is proven in `dev/proof`.

use std::collections::BTreeSet;

use operon_image::{
    MAX_CATALOG_MEMORY, MAX_NAMESPACE_BYTES, MAX_TENANT_DECLARED_BYTES, MAX_TENANTS_BYTES,
    parse_cache_limit,
};
use operon_object::known::KNOWN_KINDS;

use super::*;

fn shape() -> Shape {
    Shape {
        image: "here/operon:v1".into(),
        namespace: "deep".into(),
        replicas: 3,
        insecure_registry: vec!["here".into(), "there:5000".into()],
        ..Shape::in_namespace("deep")
    }
}

fn attenuated() -> Shape {
    Shape { attenuated: true, tenant: vec!["shop".to_owned()], ..shape() }
}

fn made(shape: &Shape) -> Vec<Object> {
    objects(shape).expect("the manifests are sound")
}

fn yaml(objects: &[Object]) -> String {
    let texts: Vec<String> = objects.iter().map(|object| write_yaml(object.value())).collect();
    texts.join("---\n")
}

fn find<'o>(objects: &'o [Object], kind: &str, name: &str) -> &'o Object {
    let mut found = objects.iter().filter(|object| object.kind().name() == kind);
    found.find(|object| object.name() == name).unwrap_or_else(|| panic!("no {kind} {name}"))
}

/// Returns every verb, group and resource that rules allow, such as `get /secrets`.
fn allowed(role: &Object) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for rule in role.at(&["rules"]).elements() {
        for group in rule.get("apiGroups").iter_texts() {
            for resource in rule.get("resources").iter_texts() {
                let verbs = rule.get("verbs").iter_texts();
                allowed.extend(verbs.map(|verb| format!("{verb} {group}/{resource}")));
            }
        }
    }
    allowed
}

#[test]
fn manifests_contain_what_the_command_line_says() {
    let text = yaml(&made(&shape()));
    assert!(!text.contains("namespace: olm"), "{text}");
    let mut policies = made(&shape());
    policies.retain(|object| object.kind().group() == POLICY_GROUP);
    let policies = yaml(&policies);
    assert!(!policies.contains("olm:") && !policies.contains("NAMESPACE"), "{policies}");
    for part in [
        "image: here/operon:v1",
        "replicas: 3",
        "value: here,there:5000",
        "- name: OPERON_IMAGE\n          value: here/operon:v1",
        "- --first-group-namespace=operators",
        "'system:serviceaccount:deep:operon-controller'",
    ] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
    for file in [CONTROLLER, include_str!("../permissions.yaml"), include_str!("../policies.yaml")]
    {
        let findings = read_objects("the manifests", file.as_bytes()).diagnostics;
        assert!(findings.is_empty(), "{findings:?}");
    }
    assert_eq!(made(&shape()).last().map(Object::kind), Some(known::DEPLOYMENT));
    let bare = made(&Shape { no_policies: true, ..shape() });
    assert!(bare.iter().all(|object| object.kind().group() != POLICY_GROUP));
}

/// Whatever Operon writes, its role allows; what it never writes, the role does not.
#[test]
fn role_allows_what_the_engine_writes() {
    let role = allowed(find(&made(&shape()), "ClusterRole", CONTROLLER_NAME));
    let never = [known::POD, known::JOB, known::LEASE];
    for known in KNOWN_KINDS {
        let verbs: &[&str] = match &known.kind {
            kind if never.contains(kind) => &[],
            kind if *kind == known::NAMESPACE => &["update"],
            kind if *kind == known::EVENT => &["create", "update", "patch"],
            kind if *kind == known::CUSTOM_RESOURCE_DEFINITION => &["create", "update", "patch"],
            _ => &["create", "update", "patch", "delete"],
        };
        for verb in ["create", "update", "patch", "delete"] {
            let permission = format!("{verb} {}/{}", known.kind.group(), known.plural);
            assert_eq!(role.contains(&permission), verbs.contains(&verb), "{permission}");
        }
    }
}

#[test]
fn attenuated_role_grants_no_permissions() {
    let objects = made(&attenuated());
    let role = allowed(find(&objects, "ClusterRole", CONTROLLER_NAME));
    let group = "rbac.authorization.k8s.io";
    for resource in ["roles", "rolebindings", "clusterroles", "clusterrolebindings"] {
        for verb in ["bind", "escalate", "*"] {
            assert!(!role.contains(&format!("{verb} {group}/{resource}")), "{verb} {resource}");
        }
        let is_cluster_wide = resource.starts_with("cluster");
        for verb in ["create", "update", "patch"] {
            let permission = format!("{verb} {group}/{resource}");
            assert_eq!(role.contains(&permission), !is_cluster_wide, "{permission}");
        }
        // Otherwise an operator could not be uninstalled.
        assert!(role.contains(&format!("delete {group}/{resource}")));
    }
    assert!(yaml(&objects).contains("- --attenuated\n"));
    assert!(objects.iter().all(|object| object.annotation(FIRST_GROUP_ANNOTATION).is_none()));
    let policies = |shape: &Shape| {
        let objects = made(shape);
        let policy = find(&objects, "ValidatingAdmissionPolicy", "operon-controller-rbac");
        policy.at(&["spec", "validations"]).elements().len()
    };
    assert_eq!(policies(&attenuated()), policies(&shape()) + 3);
}

/// All Secrets, or all accounts, are worth as much as `escalate`.
#[test]
fn attenuated_mode_requires_tenants() {
    let without = Shape { tenant: Vec::new(), ..attenuated() };
    let error = objects(&without).expect_err("`--attenuated` alone").to_string();
    assert!(error.contains("`--attenuated` requires `--tenant`"), "{error}");
    let objects = made(&attenuated());
    for role in objects.iter().filter(|object| object.kind().name().ends_with("Role")) {
        let is_tenants = !role.namespace().is_empty();
        for permission in allowed(role) {
            let is_limited = permission.ends_with(" /secrets")
                || permission.starts_with("impersonate")
                || permission.contains('*');
            assert!(!is_limited || is_tenants, "{}: {permission}", role.key());
        }
    }
    let namespaces: Vec<&str> = objects
        .iter()
        .filter(|object| object.kind() == known::ROLE && object.name() != CONTROLLER_NAME)
        .map(Object::namespace)
        .collect();
    assert_eq!(namespaces, ["deep", "shop"]);
}

/// A tenant decides how much is read: a catalog or a decision must not take what a node has.
#[test]
fn controller_has_resource_limits() {
    let objects = made(&shape());
    let deployment = find(&objects, "Deployment", CONTROLLER_NAME);
    let pod = deployment.at(&["spec", "template", "spec"]);
    let containers = pod.get("containers").elements();
    assert_eq!(containers.len(), 1);
    for container in containers {
        let resources = container.get("resources");
        for (list, name, expected) in [("requests", "memory", "128Mi"), ("limits", "memory", "1Gi")]
        {
            assert_eq!(resources.at(&[list, name]).str(), expected, "{list} of {name}");
        }
    }
    let volumes = pod.get("volumes").elements();
    assert!(!volumes.is_empty());
    for volume in volumes {
        // Where nodes do not measure ephemeral storage, a pod that requests some is never scheduled.
        assert!(!pod.to_string().contains("ephemeral-storage"));
        assert_eq!(volume.at(&["emptyDir", "sizeLimit"]).str(), "4Gi", "{volume}");
    }
}

#[test]
fn secrets_and_accounts_are_limited_to_tenants() {
    let tenant = vec!["shop".to_owned(), "bank".to_owned()];
    let objects = made(&Shape { tenant, ..shape() });
    let role = allowed(find(&objects, "ClusterRole", CONTROLLER_NAME));
    let is_limited = |permission: &String| {
        permission.ends_with(" /secrets")
            || permission.starts_with("impersonate")
            || permission.contains('*')
    };
    assert_eq!(role.iter().find(|permission| is_limited(permission)), None);
    let namespaces: Vec<&str> = objects
        .iter()
        .filter(|object| object.kind() == known::ROLE && object.name() != CONTROLLER_NAME)
        .map(|role| {
            let allowed = allowed(role);
            assert!(allowed.contains("list /secrets"), "{allowed:?}");
            assert!(allowed.contains("impersonate /serviceaccounts"), "{allowed:?}");
            role.namespace()
        })
        .collect();
    assert_eq!(namespaces, ["bank", "deep", "operators", "shop"]);
    let text = yaml(&objects);
    for part in ["- --tenant=bank\n", "- --tenant=deep\n", "- --tenant=shop\n"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn invalid_namespaces_are_rejected() {
    for name in ["", "a'b", "A", "-a", "a-", "a.b", "a\nb", &"a".repeat(64)] {
        let wrong = Shape { namespace: name.to_owned(), ..shape() };
        assert!(objects(&wrong).is_err(), "namespace {name:?}");
        let wrong = Shape { tenant: vec![name.to_owned()], ..shape() };
        assert!(objects(&wrong).is_err(), "tenant {name:?}");
    }
}

/// What catalogs of tenants may take has to fit into what the manifest gives the pod.
#[test]
fn limits_of_tenants_fit_into_the_pod() {
    let manifests = made(&shape());
    let pod = find(&manifests, "Deployment", "operon-controller").at(&["spec", "template", "spec"]);
    let container = &pod.get("containers").elements()[0];
    let bytes = |value: &Value| parse_cache_limit(value.str()).expect("a size");
    let volume = &pod.get("volumes").elements()[0];
    let disk = bytes(volume.at(&["emptyDir", "sizeLimit"]));
    // Directories, snapshots and notes are not counted.
    let uncounted = 1 << 30;
    assert!(MAX_TENANTS_BYTES + uncounted <= disk, "{disk}");
    const { assert!(2 * MAX_NAMESPACE_BYTES <= MAX_TENANTS_BYTES, "one namespace is not all") };
    let environment = container.get("env").elements();
    let limit =
        environment.iter().find(|variable| variable.get("name").str() == "OPERON_CACHE_LIMIT");
    let limit = bytes(limit.expect("the cache has a limit").get("value"));
    assert!(limit <= MAX_TENANTS_BYTES, "{limit}");
    let memory = bytes(container.at(&["resources", "limits", "memory"]));
    assert!(2 * MAX_TENANT_DECLARED_BYTES + MAX_CATALOG_MEMORY <= memory / 2, "{memory}");
}
