//! The accounts, roles and bindings that the permissions of a ClusterServiceVersion turn into.
//!
//! Whether whoever installs may grant them is decided by the cluster, not here.

use std::collections::BTreeMap;

use operon_object::{Object, Value, base62_sha224, go_json, list, map};

use crate::{
    golang::{GoType, TypeFault, typed_json, typed_value},
    names::generate_name,
    ownership::{csv_reference, label_owner, mark_managed},
    strategy::{Permission, Strategy, StrategyFault},
};

/// The label with the hash of a role's rules, or of a binding's role and subjects.
pub const PERMISSIONS_HASH_LABEL: &str = "olm.permissions.hash";

pub(crate) const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
pub(crate) const RBAC_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// The objects that give one ServiceAccount its permissions.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountRbac {
    /// The ServiceAccount's name.
    pub account: String,
    /// The ServiceAccount; none for `default`, which every namespace has.
    pub service_account: Option<Object>,
    /// One Role for each entry of `permissions`.
    pub roles: Vec<Object>,
    /// The RoleBindings of the Roles, in the same order.
    pub role_bindings: Vec<Object>,
    /// One ClusterRole for each entry of `clusterPermissions`.
    pub cluster_roles: Vec<Object>,
    /// The ClusterRoleBindings of the ClusterRoles, in the same order.
    pub cluster_role_bindings: Vec<Object>,
}

/// Returns what the permissions of a ClusterServiceVersion turn into when it is installed in a
/// namespace, sorted by the names of the accounts.
///
/// What lies in the namespace refers to the ClusterServiceVersion as its owner; what lies in none
/// carries its labels.
pub fn rbac_for(csv: &Object, namespace: &str) -> Result<Vec<AccountRbac>, StrategyFault> {
    let strategy = Strategy::read(csv)?;
    let mut csv = csv.clone();
    csv.set_namespace(namespace);
    let mut accounts = BTreeMap::new();
    for (index, permission) in strategy.permissions.iter().enumerate() {
        let role = role(&csv, permission).map_err(|fault| inside(fault, "permissions", index))?;
        let binding = binding(&csv, &role, "RoleBinding", permission)?;
        let account = account_entry(&mut accounts, &csv, permission);
        account.roles.push(role);
        account.role_bindings.push(binding);
    }
    for (index, permission) in strategy.cluster_permissions.iter().enumerate() {
        let role = cluster_role(&csv, permission)
            .map_err(|fault| inside(fault, "clusterPermissions", index))?;
        let binding = binding(&csv, &role, "ClusterRoleBinding", permission)?;
        let account = account_entry(&mut accounts, &csv, permission);
        account.cluster_roles.push(role);
        account.cluster_role_bindings.push(binding);
    }
    Ok(accounts.into_values().collect())
}

/// Returns the value of [`PERMISSIONS_HASH_LABEL`] for the rules of a role.
pub fn rules_hash(rules: &Value) -> Result<String, TypeFault> {
    Ok(base62_sha224(&typed_json(GoType::PolicyRules, rules)?))
}

/// Returns the value of [`PERMISSIONS_HASH_LABEL`] for what a binding binds.
pub fn binding_hash(role_ref: &Value, subjects: &Value) -> Result<String, TypeFault> {
    let role_ref = typed_json(GoType::RoleRef, role_ref)?;
    let subjects = typed_json(GoType::Subjects, subjects)?;
    Ok(base62_sha224(&format!("{{\"RoleRef\":{role_ref},\"Subjects\":{subjects}}}")))
}

/// Returns a reference to a role.
pub(crate) fn role_ref(kind: &str, name: &str) -> Value {
    map! { "apiGroup" => RBAC_GROUP, "kind" => kind, "name" => name }
}

/// Returns a list with one ServiceAccount as subject.
pub(crate) fn account_subjects(namespace: &str, account: &str) -> Value {
    list![map! { "kind" => "ServiceAccount", "name" => account, "namespace" => namespace }]
}

fn account_entry<'a>(
    accounts: &'a mut BTreeMap<String, AccountRbac>,
    csv: &Object,
    permission: &Permission,
) -> &'a mut AccountRbac {
    let account = permission.account.as_str();
    accounts.entry(account.to_owned()).or_insert_with(|| AccountRbac {
        account: account.to_owned(),
        service_account: (account != "default").then(|| service_account(csv, account)),
        roles: Vec::new(),
        role_bindings: Vec::new(),
        cluster_roles: Vec::new(),
        cluster_role_bindings: Vec::new(),
    })
}

fn service_account(csv: &Object, account: &str) -> Object {
    let mut object = Object::new("v1", "ServiceAccount", csv.namespace(), account);
    object.add_owner(&csv_reference(csv));
    mark_managed(&mut object);
    object
}

fn role(csv: &Object, permission: &Permission) -> Result<Object, TypeFault> {
    let hashed = format!(
        "{{\"name\":{},\"permission\":{}}}",
        go_json(&Value::text(csv.name())),
        typed_json(GoType::Permission, &permission.value)?
    );
    let name = generate_name(&format!("{}-{}", csv.name(), permission.account), &hashed);
    let mut role = Object::new(RBAC_VERSION, "Role", csv.namespace(), &name);
    role.add_owner(&csv_reference(csv));
    finish_role(&mut role, csv, permission)?;
    Ok(role)
}

fn cluster_role(csv: &Object, permission: &Permission) -> Result<Object, TypeFault> {
    let hashed = format!(
        "{{\"name\":{},\"namespace\":{},\"permission\":{}}}",
        go_json(&Value::text(csv.name())),
        go_json(&Value::text(csv.namespace())),
        typed_json(GoType::Permission, &permission.value)?
    );
    let name = generate_name(csv.name(), &hashed);
    let mut role = Object::new(RBAC_VERSION, "ClusterRole", "", &name);
    finish_role(&mut role, csv, permission)?;
    Ok(role)
}

fn finish_role(role: &mut Object, csv: &Object, permission: &Permission) -> Result<(), TypeFault> {
    label_owner(role, csv);
    mark_managed(role);
    role.set_label(PERMISSIONS_HASH_LABEL, &rules_hash(permission.rules())?);
    role.set(&["rules"], typed_value(GoType::PolicyRules, permission.rules())?);
    Ok(())
}

fn binding(
    csv: &Object,
    role: &Object,
    kind: &str,
    permission: &Permission,
) -> Result<Object, TypeFault> {
    let mut binding = Object::new(RBAC_VERSION, kind, role.namespace(), role.name());
    for owner in role.owners() {
        binding.add_owner(&owner);
    }
    let role_ref = role_ref(role.kind().name(), role.name());
    let subjects = account_subjects(csv.namespace(), &permission.account);
    label_owner(&mut binding, csv);
    mark_managed(&mut binding);
    binding.set_label(PERMISSIONS_HASH_LABEL, &binding_hash(&role_ref, &subjects)?);
    binding.set(&["roleRef"], role_ref);
    binding.set(&["subjects"], subjects);
    Ok(binding)
}

fn inside(fault: TypeFault, list: &str, index: usize) -> TypeFault {
    fault.inside(&format!("spec.install.spec.{list}[{index}]"))
}
