//! A controller that is installed with `--attenuated`: what it may do, and what it does.
//!
//! Its flags and permissions are those of `operon manifests`. The objects that tenants bring are those of
//! the shortest operator that works.

use std::collections::BTreeSet;

use operon_object::{Object, Value, known};
use operon_proof::{
    ACCOUNT, Installation, SYSTEM,
    shelf::{ShelfBundle, group, push_shelf, source, subscription},
};
use operon_rig::BUSYBOX_IMAGE;

/// A tenant whose OperatorGroup names no account at first.
const OPEN: &str = "attenuated-open";

/// A tenant whose OperatorGroup names an account.
const CLOSED: &str = "attenuated-closed";

/// A namespace that is none of a tenant.
const ELSEWHERE: &str = "attenuated-elsewhere";

/// The options of `operon manifests`.
const OPTIONS: [&str; 3] =
    ["--attenuated", "--tenant=attenuated-open", "--tenant=attenuated-closed"];

/// Why nothing is installed for an OperatorGroup without an account.
const REASON: &str = "this installation requires every OperatorGroup to name a ServiceAccount";

/// What every namespace of this proof contains: an account that may install operators which read pods.
fn account(namespace: &str) -> String {
    format!(
        "
---
apiVersion: v1
kind: Namespace
metadata: {{ name: {namespace} }}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{ name: installer, namespace: {namespace} }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{ name: installer, namespace: {namespace} }}
rules:
- {{ apiGroups: [''], resources: [serviceaccounts, services, configmaps], verbs: [get, list, create, update, patch, delete] }}
- {{ apiGroups: [apps], resources: [deployments], verbs: [get, list, create, update, patch, delete] }}
- {{ apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [get, list, create, update, patch, delete] }}
- {{ apiGroups: [''], resources: [pods], verbs: [get, list] }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{ name: installer, namespace: {namespace} }}
roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: Role, name: installer }}
subjects: [{{ kind: ServiceAccount, name: installer, namespace: {namespace} }}]
"
    )
}

/// Installs Operon with `--attenuated`, and lets tenants with and without an account subscribe.
pub(crate) fn prove(operon: &mut Installation<'_>) -> Result<(), String> {
    operon.apply(&[account(OPEN), account(CLOSED), account(ELSEWHERE)].concat())?;
    needs_tenants(operon)?;
    operon.apply_system(&OPTIONS)?;
    controller_cannot_grant(operon)?;
    operon.flags = flags(operon)?;
    operon.start_controllers(1)?;
    let outcome = tenants_are_served(operon);
    let words = operon.leader().map(|leader| leader.last_words(20)).unwrap_or_default();
    outcome.map_err(|reason| format!("{reason}\n{words}"))?;
    // Operators have finalizers, so the controller is needed until they are gone.
    operon.delete_namespaces(&[OPEN, CLOSED, ELSEWHERE])?;
    operon.kill_controllers();
    operon.flags.clear();
    Ok(())
}

/// `--attenuated` alone would leave all Secrets readable, so it is refused.
fn needs_tenants(operon: &Installation<'_>) -> Result<(), String> {
    for command in [&["manifests", "--attenuated"][..], &["install", "--attenuated", "--dry-run"]] {
        match operon.operon(command) {
            Err(error) if error.contains("`--attenuated` requires `--tenant`") => {}
            answer => return Err(format!("operon {}: {answer:?}", command.join(" "))),
        }
    }
    Ok(())
}

/// Returns the flags of the controller as the Deployment of this mode has them.
fn flags(operon: &Installation<'_>) -> Result<Vec<String>, String> {
    let objects = operon.system_objects(&OPTIONS)?;
    let deployment = objects.iter().find(|object| object.kind() == known::DEPLOYMENT);
    let pod = deployment.ok_or("no Deployment")?.at(&["spec", "template", "spec"]);
    let container = pod.get("containers").elements().first().ok_or("no container")?;
    let is_of_mode = |flag: &&str| flag.starts_with("--attenuated") || flag.starts_with("--tenant");
    let flags: Vec<String> =
        container.get("args").iter_texts().filter(is_of_mode).map(str::to_owned).collect();
    let expected = BTreeSet::from([
        "--attenuated",
        "--tenant=attenuated-closed",
        "--tenant=attenuated-open",
        "--tenant=olm",
    ]);
    if flags.iter().map(String::as_str).collect::<BTreeSet<&str>>() != expected {
        return Err(format!("the Deployment starts the controller with {flags:?}"));
    }
    Ok(flags)
}

/// Asks the API server about the controller's own ServiceAccount.
fn controller_cannot_grant(operon: &Installation<'_>) -> Result<(), String> {
    const RBAC: &str = "rbac.authorization.k8s.io";
    let mut questions: Vec<(&str, String, &str, bool)> = Vec::new();
    for resource in ["roles", "rolebindings", "clusterroles", "clusterrolebindings"] {
        for verb in ["escalate", "bind"] {
            for namespace in ["", OPEN, SYSTEM] {
                questions.push((verb, format!("{resource}.{RBAC}"), namespace, false));
            }
        }
    }
    for resource in ["clusterroles", "clusterrolebindings"] {
        for verb in ["create", "update", "patch"] {
            questions.push((verb, format!("{resource}.{RBAC}"), "", false));
        }
    }
    for verb in ["get", "list", "create"] {
        questions.push((verb, "secrets".to_owned(), "", false));
        questions.push((verb, "secrets".to_owned(), ELSEWHERE, false));
        questions.push((verb, "secrets".to_owned(), "kube-system", false));
        questions.push((verb, "secrets".to_owned(), OPEN, true));
    }
    for (namespace, expected) in
        [("", false), (ELSEWHERE, false), ("kube-system", false), (OPEN, true), (CLOSED, true)]
    {
        questions.push(("impersonate", "serviceaccounts".to_owned(), namespace, expected));
    }
    for resource in ["users", "groups"] {
        questions.push(("impersonate", resource.to_owned(), "", false));
    }
    questions.push(("*", "*".to_owned(), "", false));
    questions.push(("create", "pods".to_owned(), "", false));
    questions.push(("create", "serviceaccounts/token".to_owned(), "", false));
    questions.push(("create", "subscriptions.operators.coreos.com".to_owned(), "", true));
    let user = format!("--as=system:serviceaccount:{SYSTEM}:{ACCOUNT}");
    for (verb, resource, namespace, expected) in questions {
        let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
        let subresource = format!("--subresource={subresource}");
        let mut question = vec!["auth", "can-i", verb, resource, &user];
        if subresource != "--subresource=" {
            question.push(&subresource);
        }
        match namespace {
            "" => question.push("--all-namespaces"),
            namespace => question.extend(["--namespace", namespace]),
        }
        // The exit code is 1 where the answer is no.
        let answer = operon.rig().kubectl_command(&question).output();
        let answer = answer.map_err(|error| error.to_string())?;
        let words = if expected { "yes" } else { "no" };
        if String::from_utf8_lossy(&answer.stdout).trim() != words {
            let error = String::from_utf8_lossy(&answer.stderr);
            return Err(format!("expected `{words}`: {} {error}", question.join(" ")));
        }
    }
    Ok(())
}

fn tenants_are_served(operon: &Installation<'_>) -> Result<(), String> {
    publish(operon)?;
    operon.apply(&group(OPEN, &format!("{{ targetNamespaces: [{OPEN}] }}")))?;
    let spec = format!("{{ targetNamespaces: [{CLOSED}], serviceAccountName: installer }}");
    operon.apply(&group(CLOSED, &spec))?;
    operon.apply(&subscription(OPEN, "plain", (SYSTEM, "attenuated")))?;
    operon.apply(&subscription(CLOSED, "plain", (SYSTEM, "attenuated")))?;
    // The control: with an account, an operator within its permissions is installed.
    phase_is(operon, CLOSED, "plain.v1.0.0", "Succeeded")?;
    plan_reports(operon, OPEN, "plain.v1.0.0", REASON)?;
    nothing_is_installed(operon)?;
    operon.apply(&subscription(CLOSED, "lofty", (SYSTEM, "attenuated")))?;
    let refused = "system:serviceaccount:attenuated-closed:installer";
    plan_reports(operon, CLOSED, "lofty.v1.0.0", refused)?;

    // A group that loses its account stops there, and goes on when it has one.
    set_account(operon, CLOSED, None)?;
    operon.apply(&subscription(CLOSED, "later", (SYSTEM, "attenuated")))?;
    plan_reports(operon, CLOSED, "lofty.v1.0.0", REASON)?;
    plan_reports(operon, CLOSED, "later.v1.0.0", REASON)?;
    let lost = role_of(operon, CLOSED, "plain.v1.0.0").ok_or("the operator has no Role")?;
    operon.delete(&lost.key())?;
    set_account(operon, OPEN, Some("installer"))?;
    phase_is(operon, OPEN, "plain.v1.0.0", "Succeeded")?;
    if role_of(operon, CLOSED, "plain.v1.0.0").is_some() {
        return Err("a Role was restored for a group without an account".to_owned());
    }
    set_account(operon, CLOSED, Some("installer"))?;
    phase_is(operon, CLOSED, "later.v1.0.0", "Succeeded")?;
    operon.until("the Role is restored", |operon| {
        role_of(operon, CLOSED, "plain.v1.0.0").is_some()
    })?;
    no_cluster_roles(operon)
}

/// Publishes operators: two within the permissions of the account, and one beyond.
fn publish(operon: &Installation<'_>) -> Result<(), String> {
    let pods = "rules: [{ apiGroups: [''], resources: [pods], verbs: [get, list] }]";
    let all = "rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]";
    let place = operon.rig().directory().join("bundles").join("attenuated");
    let mut bundles = Vec::new();
    for (package, field, rules) in [
        ("plain", "permissions", pods),
        ("later", "permissions", pods),
        ("lofty", "clusterPermissions", all),
    ] {
        let permissions = format!("{field}: [{{ serviceAccountName: {package}, {rules} }}]");
        bundles.push(ShelfBundle::write(&place, package, &[csv(package, &permissions)])?);
    }
    let image = push_shelf(operon, "catalogs/attenuated:v1", &bundles)?;
    operon.apply(&source(SYSTEM, "attenuated", &image))
}

fn csv(package: &str, permissions: &str) -> String {
    format!(
        "
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {{ name: {package}.v1.0.0 }}
spec:
  displayName: {package}
  version: 1.0.0
  installModes: [{{ type: OwnNamespace, supported: true }}]
  install:
    strategy: deployment
    spec:
      {permissions}
      deployments:
      - name: {package}
        spec:
          replicas: 1
          selector: {{ matchLabels: {{ app: {package} }} }}
          template:
            metadata: {{ labels: {{ app: {package} }} }}
            spec:
              serviceAccountName: {package}
              terminationGracePeriodSeconds: 0
              containers: [{{ name: operator, image: \"{BUSYBOX_IMAGE}\" }}]
"
    )
}

/// Sets or removes the account that the OperatorGroup of a namespace names.
fn set_account(
    operon: &Installation<'_>,
    namespace: &str,
    account: Option<&str>,
) -> Result<(), String> {
    let value = account.map_or_else(|| "null".to_owned(), |name| format!("\"{name}\""));
    let patch = format!("{{\"spec\":{{\"serviceAccountName\":{value}}}}}");
    let arguments = ["patch", "operatorgroup", namespace, "-n", namespace, "--type=merge", "-p"];
    let patched = operon.rig().kubectl(&[&arguments[..], &[&patch]].concat());
    patched.map(drop).map_err(|error| error.to_string())
}

fn phase_is(
    operon: &Installation<'_>,
    namespace: &str,
    operator: &str,
    wanted: &str,
) -> Result<(), String> {
    let key = known::CLUSTER_SERVICE_VERSION.key(namespace, operator);
    let status = |operon: &Installation<'_>| {
        operon.get(&key).map_or(Value::Null, |operator| operator.status().clone())
    };
    let claim = format!("{key} is {wanted}");
    let outcome = operon.until(&claim, |operon| status(operon).get("phase").str() == wanted);
    outcome.map_err(|reason| format!("{reason}, but: {}", status(operon)))
}

/// Waits until the plan for an operator says something in its status.
fn plan_reports(
    operon: &Installation<'_>,
    namespace: &str,
    operator: &str,
    words: &str,
) -> Result<(), String> {
    let status = |operon: &Installation<'_>| -> String {
        let plans = operon.list(&known::INSTALL_PLAN, namespace);
        let is_for = |plan: &&Object| {
            plan.at(&["spec", "clusterServiceVersionNames"]).iter_texts().any(|one| one == operator)
        };
        plans.iter().filter(is_for).map(|plan| plan.status().to_string()).collect()
    };
    let claim = format!("the plan for {namespace}/{operator} reports `{words}`");
    let outcome = operon.until(&claim, |operon| status(operon).contains(words));
    outcome.map_err(|reason| format!("{reason}, but: {}", status(operon)))
}

/// Nothing of an operator exists in the namespace whose group names no account.
fn nothing_is_installed(operon: &Installation<'_>) -> Result<(), String> {
    let given = ["default", "installer"];
    for kind in [
        known::CLUSTER_SERVICE_VERSION,
        known::SERVICE_ACCOUNT,
        known::ROLE,
        known::ROLE_BINDING,
        known::DEPLOYMENT,
        known::CONFIG_MAP,
        known::SECRET,
    ] {
        let found = operon.list(&kind, OPEN);
        let mut foreign = found.iter().filter(|object| {
            let name = object.name();
            !given.contains(&name)
                && name != "kube-root-ca.crt"
                && name != "operon-controller-tenant"
        });
        if let Some(object) = foreign.next() {
            return Err(format!("{} was written without an account", object.key()));
        }
    }
    Ok(())
}

fn role_of(operon: &Installation<'_>, namespace: &str, operator: &str) -> Option<Object> {
    let roles = operon.list(&known::ROLE, namespace);
    roles.into_iter().find(|role| {
        // The Role for the OperatorCondition is the controller's own.
        role.name() != operator && role.owners().any(|owner| owner.name == operator)
    })
}

/// No ClusterRole or binding came from the tenants of this proof.
fn no_cluster_roles(operon: &Installation<'_>) -> Result<(), String> {
    let kinds = [known::CLUSTER_ROLE, known::CLUSTER_ROLE_BINDING];
    let found = operon.person().list_once(&kinds).map_err(|error| error.message)?;
    let mut written = found.iter().filter(|object| {
        [OPEN, CLOSED].contains(&object.label("olm.owner.namespace"))
            || ["plain", "later", "lofty"].iter().any(|package| object.name().starts_with(package))
    });
    match written.next() {
        None => Ok(()),
        Some(object) => Err(format!("{} was written", object.key())),
    }
}
