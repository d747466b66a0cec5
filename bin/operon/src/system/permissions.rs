//! The permissions and admission policies of the controller, for each mode of an installation.
//!
//! All modes use the same names, so that switching from one to another takes permissions away.

use anyhow::{Context, ensure};
use operon_api::read_objects;
use operon_object::{Object, Value, known, list, map};

use super::manifests::{APP_LABEL, CONTROLLER_NAME, OPERATORS_NAMESPACE, Shape};

/// Named sets of rules.
const PERMISSIONS: &str = include_str!("permissions.yaml");

/// ValidatingAdmissionPolicies and their bindings.
const POLICIES: &str = include_str!("policies.yaml");

/// Stands for the controller's namespace in [`POLICIES`].
const NAMESPACE_PLACEHOLDER: &str = "NAMESPACE";

/// The policy about RBAC objects, which is stricter in attenuated mode.
const RBAC_POLICY: &str = "operon-controller-rbac";

/// The Role and RoleBinding in the namespace of a tenant.
pub(super) const TENANT_ROLE: &str = "operon-controller-tenant";

/// The ClusterRole that collects permissions to read custom resources, where tenants are named.
const CUSTOM_RESOURCES_ROLE: &str = "operon-controller-custom-resources";

/// Put on a ClusterRole by an administrator, this label lets the controller read what the role allows.
const AGGREGATE_LABEL: &str = "operon.dev/aggregate-to-controller";

/// API version of RBAC objects.
const RBAC_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// Longest name of a namespace, which is a DNS label.
const LONGEST_NAMESPACE: usize = 63;

/// What the controller writes by itself where every OperatorGroup names a ServiceAccount.
const ATTENUATED: [(&str, &str); 3] = [
    (
        "object == null || request.resource.resource in ['roles', 'rolebindings']",
        "in attenuated mode Operon writes no ClusterRoles and ClusterRoleBindings itself",
    ),
    (
        "object == null || request.resource.resource != 'roles' || object.?rules.orValue([]).all(rule, \
         rule.?apiGroups.orValue([]) == ['operators.coreos.com'] \
         && rule.?resources.orValue([]) == ['operatorconditions'] \
         && rule.?resourceNames.orValue([]) == [object.metadata.name])",
        "in attenuated mode Operon itself grants nothing but the update of an OperatorCondition",
    ),
    (
        "object == null || request.resource.resource != 'rolebindings' \
         || object.roleRef.kind == 'Role' && object.roleRef.name == object.metadata.name",
        "in attenuated mode Operon itself binds nothing but the Role of an OperatorCondition",
    ),
];

/// Returns the rules of the controller's ClusterRole.
pub(super) fn cluster_rules(shape: &Shape) -> anyhow::Result<Value> {
    let has_tenants = !shape.tenant.is_empty();
    let reading = if has_tenants { "read-known-kinds" } else { "read-everything" };
    let installing = if shape.attenuated { "clean-up" } else { "install-anything" };
    let mut rules = Vec::new();
    for name in [reading, "own-work", installing] {
        rules.extend(rules_of(name)?);
    }
    if !has_tenants {
        rules.extend(rules_of("tenant")?);
    }
    Ok(Value::from(rules))
}

/// Returns the objects that give the controller its permissions in the namespaces of tenants.
pub(super) fn tenant_objects(shape: &Shape) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    let tenants = tenants(shape);
    if tenants.is_empty() {
        return Ok(objects);
    }
    let mut reader = Object::new(RBAC_VERSION, "ClusterRole", "", CUSTOM_RESOURCES_ROLE);
    let selectors = list![
        // ClusterRoles that Operon writes for the APIs of operators.
        map! { "matchLabels" => map! {
            "olm.managed" => "true",
            "rbac.authorization.k8s.io/aggregate-to-view" => "true",
        } },
        map! { "matchLabels" => map! { AGGREGATE_LABEL => "true" } },
    ];
    reader.set_label(APP_LABEL, CONTROLLER_NAME);
    reader.set(&["aggregationRule", "clusterRoleSelectors"], selectors);
    objects.push(reader);
    objects.push(binding("ClusterRoleBinding", "", "ClusterRole", CUSTOM_RESOURCES_ROLE, shape));
    for tenant in tenants {
        let mut role = Object::new(RBAC_VERSION, "Role", tenant, TENANT_ROLE);
        role.set_label(APP_LABEL, CONTROLLER_NAME);
        role.set(&["rules"], Value::from(rules_of("tenant")?));
        objects.push(role);
        objects.push(binding("RoleBinding", tenant, "Role", TENANT_ROLE, shape));
    }
    Ok(objects)
}

/// Returns the namespaces to which Secrets and ServiceAccounts are limited; none without a limit.
pub(super) fn tenants(shape: &Shape) -> Vec<&str> {
    if shape.tenant.is_empty() {
        return Vec::new();
    }
    let mut tenants: Vec<&str> = shape.tenant.iter().map(String::as_str).collect();
    // Catalogs of the controller's namespace are visible everywhere, and have pull secrets.
    tenants.push(&shape.namespace);
    if !shape.attenuated {
        // The first OperatorGroup is there.
        tenants.push(OPERATORS_NAMESPACE);
    }
    tenants.sort_unstable();
    tenants.dedup();
    tenants
}

/// Returns the admission policies and their bindings.
pub(super) fn policy_objects(shape: &Shape) -> anyhow::Result<Vec<Object>> {
    let text = POLICIES.replace(NAMESPACE_PLACEHOLDER, &shape.namespace);
    let mut objects: Vec<Object> = read_objects("policies.yaml", text.as_bytes())
        .objects
        .into_iter()
        .map(|located| located.object)
        .collect();
    if shape.attenuated {
        let policy = objects
            .iter_mut()
            .find(|object| {
                object.name() == RBAC_POLICY && !object.at(&["spec", "validations"]).is_null()
            })
            .context("bug: the policy about RBAC objects is missing")?;
        let validations = policy.value_mut().place(&["spec", "validations"]).make_list();
        for (expression, message) in ATTENUATED {
            validations.push(map! { "expression" => expression, "message" => message });
        }
    }
    Ok(objects)
}

/// Returns an error if a namespace cannot exist: names become part of roles and of policies.
pub(super) fn check_namespaces(shape: &Shape) -> anyhow::Result<()> {
    for name in shape.tenant.iter().chain([&shape.namespace]) {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_valid = name.len() <= LONGEST_NAMESPACE
            && name.bytes().all(|byte| is_word(byte) || byte == b'-')
            && name.bytes().next().is_some_and(is_word)
            && name.bytes().last().is_some_and(is_word);
        ensure!(
            is_valid,
            "`{}` is not a valid namespace: expected at most {LONGEST_NAMESPACE} lower-case letters, \
             digits and `-`",
            name.escape_debug()
        );
    }
    Ok(())
}

fn rules_of(name: &str) -> anyhow::Result<Vec<Value>> {
    let read = read_objects("permissions.yaml", PERMISSIONS.as_bytes());
    let mut roles = read.objects.into_iter().map(|located| located.object);
    let role = roles.find(|role| role.kind() == known::CLUSTER_ROLE && role.name() == name);
    let role = role.with_context(|| format!("bug: the rules `{name}` are missing"))?;
    Ok(role.at(&["rules"]).elements().to_vec())
}

fn binding(kind: &str, namespace: &str, role_kind: &str, name: &str, shape: &Shape) -> Object {
    let mut binding = Object::new(RBAC_VERSION, kind, namespace, name);
    binding.set_label(APP_LABEL, CONTROLLER_NAME);
    let role = map! {
        "apiGroup" => "rbac.authorization.k8s.io",
        "kind" => role_kind,
        "name" => name,
    };
    binding.set(&["roleRef"], role);
    let subject = map! {
        "kind" => "ServiceAccount",
        "name" => CONTROLLER_NAME,
        "namespace" => shape.namespace.as_str(),
    };
    binding.set(&["subjects"], list![subject]);
    binding
}
