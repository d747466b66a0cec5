//! What the API server lets the controller's ServiceAccount do: permissions and admission policies of
//! `operon manifests`, in each mode.
//!
//! `OPERON_PROOF_RIG=<name>` uses a rig that runs already.

mod attenuated;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use operon_driver::{Cluster, ClusterError, Interest};
use operon_kinds::names::FIELD_MANAGER;
use operon_kube::{KubeCluster, Options, Place};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, known};
use operon_proof::{ACCOUNT, Installation, PATIENCE, SYSTEM, operon_program, rigs_for_proof};
use operon_rig::Rig;

/// How long a policy may take to be in force; the API server compiles it in the background.
const POLICY_PATIENCE: Duration = Duration::from_secs(60);

/// The namespace of a tenant.
const SHOP: &str = "policy-shop";

/// A namespace that is none of a tenant.
const ELSEWHERE: &str = "policy-elsewhere";

/// Objects that exist before the controller writes anything, and an account with the permissions of an
/// administrator of its namespace.
const GIVEN: &str = r#"
{ apiVersion: v1, kind: Namespace, metadata: { name: policy-shop, labels: { pod-security.kubernetes.io/enforce: restricted }, annotations: { operon.dev/first-operator-group: mine } } }
---
{ apiVersion: v1, kind: Namespace, metadata: { name: policy-elsewhere } }
---
{ apiVersion: v1, kind: ServiceAccount, metadata: { name: installer, namespace: policy-shop } }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: { name: installer, namespace: policy-shop }, roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin }, subjects: [{ kind: ServiceAccount, name: installer, namespace: policy-shop }] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: policy-foreign }, rules: [] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: other, namespace: policy-shop }, rules: [{ apiGroups: [operators.coreos.com], resources: [operatorconditions], verbs: [get] }] }
---
{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: policy-owned, labels: { olm.owner: shop.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: policy-shop } }, rules: [] }
---
{ apiVersion: v1, kind: Secret, metadata: { name: foreign, namespace: policy-shop } }
---
{ apiVersion: v1, kind: Secret, metadata: { name: pull, namespace: policy-elsewhere } }
"#;

/// What is expected of a write.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Allowed,
    /// The API server refuses it, and its message contains this.
    Refused(&'static str),
}

use Expected::{Allowed, Refused};

#[test]
fn controller_is_limited_by_permissions_and_policies() {
    let Some(program) = operon_program() else {
        let reason = "there is no program `operon` next to this test; `cargo build -p operon`";
        operon_parts::leave_out(operon_parts::Part::Proof, reason);
        return;
    };
    let Some(rig) = rigs_for_proof("policies", 1).pop() else { return };
    let outcome = rig.inside(|| prove(&rig, &program)).expect("the network of the rig");
    outcome.expect("the API server limits the controller");
}

fn prove(rig: &Rig, program: &Path) -> Result<(), String> {
    let mut operon = Installation::new(rig, program)?;
    operon.apply(GIVEN)?;
    let kubeconfig =
        rig.kubeconfig_of_account(SYSTEM, ACCOUNT).map_err(|error| error.to_string())?;
    let controller = connect(&kubeconfig)?;
    until(POLICY_PATIENCE, "the policies are in force", || {
        let probe = object(&cluster_role("policy-probe", "{}"));
        controller.rehearse(&probe, FIELD_MANAGER).is_err()
    })?;
    default_mode(&controller)?;
    println!("the default mode is as it should be");
    attenuated_mode(&operon, &controller)?;
    println!("attenuated mode is as it should be");
    attenuated::prove(&mut operon)?;
    println!("an attenuated controller serves accounts only");
    tenant_mode(&mut operon, &controller)?;
    println!("tenants are as they should be");
    Ok(())
}

// ---- Modes ----

fn default_mode(controller: &KubeCluster) -> Result<(), String> {
    let managed = "{ olm.managed: 'true' }";
    let unmanaged = "does not change or delete";
    for (what, yaml, expected) in [
        ("a ClusterRole with the label", cluster_role("policy-role", managed), Allowed),
        ("one without it", cluster_role("policy-bare", "{}"), Refused("`olm.managed:")),
        (
            "one of Kubernetes",
            cluster_role("system:ours", managed),
            Refused("begins with `system:`"),
        ),
        ("one of an administrator", cluster_role("policy-foreign", managed), Refused(unmanaged)),
        ("one with an owner", cluster_role("policy-owned", managed), Allowed),
        ("a role of all users", user_role("things.example.com"), Allowed),
        (
            "a role of all users for APIs of Kubernetes",
            user_role("rbac.authorization.k8s.io"),
            Refused("to the roles of all users"),
        ),
        (
            "a role of all users for APIs of Operon",
            user_role("operators.coreos.com"),
            Refused("to the roles of all users"),
        ),
        (
            "a binding to any role",
            binding("ClusterRoleBinding", "", "cluster-admin", SUBJECT),
            Allowed,
        ),
        (
            "a binding for the authentication of API servers",
            binding(
                "RoleBinding",
                "kube-system",
                "extension-apiserver-authentication-reader",
                SUBJECT,
            ),
            Allowed,
        ),
        (
            "a binding for administrators of Kubernetes",
            binding(
                "ClusterRoleBinding",
                "",
                "view",
                "{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'system:masters' }",
            ),
            Refused("of Kubernetes itself"),
        ),
        (
            "a binding for a user of Kubernetes",
            binding(
                "ClusterRoleBinding",
                "",
                "view",
                "{ apiGroup: rbac.authorization.k8s.io, kind: User, name: 'system:anonymous' }",
            ),
            Refused("of Kubernetes itself"),
        ),
        (
            "a binding for the controller",
            binding(
                "ClusterRoleBinding",
                "",
                "cluster-admin",
                "{ kind: ServiceAccount, name: operon-controller, namespace: olm }",
            ),
            Refused("to its own controller"),
        ),
        ("a Secret with the label", secret(SHOP, "ours", managed, "Opaque"), Allowed),
        ("one without it", secret(SHOP, "bare", "{}", "Opaque"), Refused("`olm.managed:")),
        ("one of a user", secret(SHOP, "foreign", managed, "Opaque"), Refused(unmanaged)),
        ("a token of a tenant", secret(SHOP, "token", managed, TOKEN), Allowed),
        (
            "a token of its own",
            secret(SYSTEM, "token", managed, TOKEN),
            Refused("requests no tokens"),
        ),
        ("a Deployment", deployment(SHOP, "shop"), Allowed),
        ("its own Deployment", deployment(SYSTEM, ACCOUNT), Refused("that it consists of")),
    ] {
        expect(what, controller.apply(&object(&yaml)), expected)?;
    }
    own_definitions(controller)?;
    namespaces(controller)?;
    let delete = |kind: &Kind, namespace: &str, name: &str| -> Result<(), ClusterError> {
        let key = kind.key(namespace, name);
        let found = controller.get(&key)?;
        controller.delete(&key, found.as_ref().map_or("", Object::uid))
    };
    let role = known::CLUSTER_ROLE;
    expect(
        "deleting a role of an administrator",
        delete(&role, "", "policy-foreign"),
        Refused(unmanaged),
    )?;
    expect(
        "deleting a role of Kubernetes",
        delete(&role, "", "system:discovery"),
        Refused("`system:`"),
    )?;
    expect("deleting its own role", delete(&role, "", ACCOUNT), Refused(unmanaged))?;
    expect("deleting a role with an owner", delete(&role, "", "policy-owned"), Allowed)?;
    expect(
        "deleting a user's Secret",
        delete(&known::SECRET, SHOP, "foreign"),
        Refused(unmanaged),
    )?;
    // A request in the name of another account is that account's.
    let installer = on_behalf(controller, SHOP)?;
    let bare = object(&secret(SHOP, "by-installer", "{}", "Opaque"));
    expect("a Secret in the name of an account", installer.apply(&bare), Allowed)?;
    let beyond = object(&cluster_role("policy-beyond", managed));
    expect("more than that account may", installer.apply(&beyond), Refused("installer"))
}

fn own_definitions(controller: &KubeCluster) -> Result<(), String> {
    let key = known::CUSTOM_RESOURCE_DEFINITION.key("", "subscriptions.operators.coreos.com");
    let found = controller.get(&key).map_err(|error| error.message)?.ok_or("no CRD")?;
    let mut changed = found.clone();
    changed.set_label("changed", "true");
    let refusal = Refused("CRDs of `operators.coreos.com`");
    expect("changing a CRD of Operon", controller.update(&changed), refusal)
}

fn namespaces(controller: &KubeCluster) -> Result<(), String> {
    const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
    const FIRST_GROUP: &str = "operon.dev/first-operator-group";
    type Change = fn(&mut Object);
    let changes: [(&str, Change, Expected); 7] = [
        ("a label of a group", |it| it.set_label("olm.operatorgroup.uid/1-2", ""), Allowed),
        (
            "a lower level of pod security",
            |it| it.set_label(ENFORCE, "privileged"),
            Refused("no labels"),
        ),
        ("another label", |it| it.set_label("more", ""), Refused("no labels")),
        (
            "a label less",
            |it| {
                it.value_mut().remove(&["metadata", "labels", ENFORCE]);
            },
            Refused("no labels"),
        ),
        ("another annotation", |it| it.set_annotation("more", ""), Refused("no annotations")),
        (
            "another first group",
            |it| it.set_annotation(FIRST_GROUP, "other"),
            Refused("no annotations"),
        ),
        ("no first group", |it| it.remove_annotation(FIRST_GROUP), Allowed),
    ];
    let key = known::NAMESPACE.key("", SHOP);
    for (what, change, expected) in changes {
        let found = controller.get(&key).map_err(|error| error.message)?;
        let mut changed = found.ok_or("no namespace")?;
        change(&mut changed);
        expect(what, controller.update(&changed), expected)?;
    }
    Ok(())
}

fn attenuated_mode(operon: &Installation<'_>, controller: &KubeCluster) -> Result<(), String> {
    operon.apply_system(&["--attenuated", "--tenant", SHOP])?;
    let probe = object(&role("policy-probe", "secrets"));
    until(POLICY_PATIENCE, "the stricter policy is in force", || {
        controller.rehearse(&probe, FIELD_MANAGER).is_err()
    })?;
    let managed = "{ olm.managed: 'true' }";
    for (what, yaml, expected) in [
        ("a ClusterRole", cluster_role("policy-role", managed), Refused("cannot patch resource")),
        (
            "a ClusterRoleBinding",
            binding("ClusterRoleBinding", "", "view", SUBJECT),
            Refused("cannot patch resource"),
        ),
        ("a Role to read Secrets", role("policy-secrets", "secrets"), Refused("OperatorCondition")),
        (
            "a Role for an OperatorCondition",
            role("policy-condition", "operatorconditions"),
            Allowed,
        ),
        (
            "a RoleBinding to another role",
            binding("RoleBinding", SHOP, "other", SUBJECT),
            Refused("OperatorCondition"),
        ),
    ] {
        expect(what, controller.apply(&object(&yaml)), expected)?;
    }
    // A role that the account may not grant is refused whoever asks in its name.
    let installer = on_behalf(controller, SHOP)?;
    let own = object(&role("policy-own", "configmaps"));
    expect("a Role within the account's permissions", installer.apply(&own), Allowed)?;
    let wide = object(&role("policy-wide", "'*'"));
    expect("a Role beyond them", installer.apply(&wide), Refused("attempting to grant"))?;
    let key = known::CLUSTER_ROLE.key("", "policy-role");
    let found = controller.get(&key).map_err(|error| error.message)?.ok_or("no role")?;
    expect("deleting a role that is left", controller.delete(&key, found.uid()), Allowed)
}

/// The controller of an installation with tenants reads Secrets there, none elsewhere, and does its work.
fn tenant_mode(operon: &mut Installation<'_>, controller: &KubeCluster) -> Result<(), String> {
    operon.apply_system(&["--tenant", SHOP])?;
    let list = |namespace: &str| {
        let interest = match namespace {
            "" => Interest::all(known::SECRET),
            namespace => Interest::within(known::SECRET, namespace),
        };
        controller.look(&[interest].into()).pop().map_or(Ok(()), |(_, found)| found.map(drop))
    };
    until(POLICY_PATIENCE, "permissions are limited", || list("").is_err())?;
    expect("Secrets of a tenant", list(SHOP), Allowed)?;
    expect("Secrets of its own namespace", list(SYSTEM), Allowed)?;
    expect("Secrets elsewhere", list(ELSEWHERE), Refused("cannot list resource"))?;
    let account = known::SERVICE_ACCOUNT.key(ELSEWHERE, "default");
    let stranger = controller.impersonating(&account).map_err(|error| error.to_string())?;
    let theirs = object(&secret(ELSEWHERE, "theirs", "{}", "Opaque"));
    expect("an account elsewhere", stranger.apply(&theirs), Refused("cannot impersonate"))?;
    let pods = controller.look(&[Interest::all(known::POD)].into()).pop();
    let pods = pods.map_or(Ok(()), |(_, found)| found.map(drop));
    expect("kinds that it does not need", pods, Refused("cannot list resource"))?;
    operon.flags = [SHOP, SYSTEM].map(|tenant| format!("--tenant={tenant}")).into();
    // A pull secret that may not be read must not stop the rest.
    let source = |namespace: &str| {
        format!(
            "{{ apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {{ name: catalog, namespace: {namespace} }}, spec: {{ sourceType: grpc, address: 'localhost:1', secrets: [pull] }} }}\n---\n"
        )
    };
    let group = format!(
        "{{ apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {{ name: shop, namespace: {SHOP} }}, spec: {{ targetNamespaces: [{SHOP}] }} }}\n"
    );
    operon.apply(&[source(SHOP), source(ELSEWHERE), group].concat())?;
    operon.start_controllers(1)?;
    operon.until("the OperatorGroup has its namespaces, and they their label", |operon| {
        let group = operon.get(&known::OPERATOR_GROUP.key(SHOP, "shop"));
        let namespace = operon.get(&known::NAMESPACE.key("", SHOP));
        group.is_some_and(|group| {
            let label = format!("olm.operatorgroup.uid/{}", group.uid());
            namespace.is_some_and(|namespace| namespace.labels().any(|(name, _)| name == label))
        })
    })?;
    operon.until("both CatalogSources have a status", |operon| {
        [SHOP, ELSEWHERE].iter().all(|namespace| {
            let source = operon.get(&known::CATALOG_SOURCE.key(namespace, "catalog"));
            source.is_some_and(|source| !source.status().is_null())
        })
    })?;
    let log: String = operon.controllers().map(|controller| controller.log()).collect();
    let refused: Vec<&str> =
        log.lines().filter(|line| line.to_lowercase().contains("forbidden")).collect();
    match refused.as_slice() {
        [] => Ok(()),
        refused => Err(refused.join("\n")),
    }
}

// ---- Objects ----

/// The type of Secrets that Kubernetes fills with a token.
const TOKEN: &str = "kubernetes.io/service-account-token";

/// A subject that any bundle may have.
const SUBJECT: &str = "{ kind: ServiceAccount, name: default, namespace: policy-shop }";

fn cluster_role(name: &str, labels: &str) -> String {
    format!(
        "{{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{ name: '{name}', labels: {labels} }}, rules: [{{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }}] }}"
    )
}

/// A ClusterRole that the cluster adds to the permissions of everybody who may edit.
fn user_role(group: &str) -> String {
    format!(
        "{{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{ name: policy-users, labels: {{ olm.managed: 'true', rbac.authorization.k8s.io/aggregate-to-edit: 'true' }} }}, rules: [{{ apiGroups: [{group}], resources: [things], verbs: [create] }}] }}"
    )
}

fn role(name: &str, resource: &str) -> String {
    let (group, names) = match resource {
        "operatorconditions" => ("operators.coreos.com", format!(", resourceNames: [{name}]")),
        _ => ("''", String::new()),
    };
    format!(
        "{{ apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{ name: {name}, namespace: {SHOP}, labels: {{ olm.managed: 'true' }} }}, rules: [{{ apiGroups: [{group}], resources: [{resource}], verbs: [get, update, patch]{names} }}] }}"
    )
}

fn binding(kind: &str, namespace: &str, role: &str, subject: &str) -> String {
    let place = match namespace {
        "" => String::new(),
        namespace => format!(", namespace: {namespace}"),
    };
    let of = if kind == "RoleBinding" { "Role" } else { "ClusterRole" };
    format!(
        "{{ apiVersion: rbac.authorization.k8s.io/v1, kind: {kind}, metadata: {{ name: policy-{role}{place}, labels: {{ olm.managed: 'true' }} }}, roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: {of}, name: {role} }}, subjects: [{subject}] }}"
    )
}

fn secret(namespace: &str, name: &str, labels: &str, kind: &str) -> String {
    format!(
        "{{ apiVersion: v1, kind: Secret, type: {kind}, metadata: {{ name: {name}, namespace: {namespace}, labels: {labels}, annotations: {{ kubernetes.io/service-account.name: default }} }} }}"
    )
}

fn deployment(namespace: &str, name: &str) -> String {
    format!(
        "{{ apiVersion: apps/v1, kind: Deployment, metadata: {{ name: {name}, namespace: {namespace} }}, spec: {{ replicas: 0, selector: {{ matchLabels: {{ app: {name} }} }}, template: {{ metadata: {{ labels: {{ app: {name} }} }}, spec: {{ containers: [{{ name: one, image: none }}] }} }} }} }}"
    )
}

fn object(yaml: &str) -> Object {
    let mut read = operon_api::read_objects("the test", yaml.as_bytes()).objects;
    read.pop().expect("an object in the text").object
}

// ---- Requests ----

fn connect(kubeconfig: &Path) -> Result<KubeCluster, String> {
    let place = Place::Kubeconfig { file: Some(kubeconfig.to_owned()), context: None };
    KubeCluster::connect(&place, Options::default()).map_err(|error| error.to_string())
}

fn on_behalf<'c>(
    controller: &'c KubeCluster,
    namespace: &str,
) -> Result<Box<dyn Cluster + 'c>, String> {
    let account = known::SERVICE_ACCOUNT.key(namespace, "installer");
    controller.impersonating(&account).map_err(|error| error.to_string())
}

fn expect<T>(
    what: &str,
    answer: Result<T, ClusterError>,
    expected: Expected,
) -> Result<(), String> {
    match (answer.map(drop), expected) {
        (Ok(()), Allowed) => Ok(()),
        (Err(error), Refused(part))
            if error.message.contains(part)
                && [ErrorKind::Forbidden, ErrorKind::Invalid].contains(&error.kind) =>
        {
            Ok(())
        }
        (answer, expected) => Err(format!("{what}: expected {expected:?}, got {answer:?}")),
    }
}

fn until(patience: Duration, what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > patience.min(PATIENCE) {
            return Err(format!("not even after {patience:?}: {what}"));
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
