//! Users with limited permissions in a namespace, who try to get more through Operon.
//!
//! Each trial first lets an honest operator be installed, so that refusals prove something. Then users try
//! what they can. In the end every object outside the namespace, every rule that the API server reports for
//! the users, and the permissions of all accounts of the namespace must be what they were.

mod claims;
mod edit;
mod writers;

use std::{collections::BTreeSet, io::Write as _, process::Stdio};

use operon_driver::{Cluster, ClusterError};
use operon_kube::{KubeCluster, Options, Place};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, Value, known};
use operon_proof::Installation;

use crate::operators::standing;

pub(crate) use self::{
    claims::{
        bundle_claims_prove_nothing, crds_of_others_are_kept, foreign_roles_are_not_bound,
        refused_plans_write_nothing, reserved_apis_are_not_granted, status_approves_nothing,
    },
    edit::edit_gains_nothing,
    writers::{forged_labels_lift_nothing, writers_gain_nothing},
};

/// The name under which fields of users are recorded.
const USER_MANAGER: &str = "tenant";

/// Namespaces in which no tenant of these trials has a permission.
const FOREIGN: [&str; 3] = ["default", "kube-system", operon_proof::SYSTEM];

/// What an escalation would allow: verb, resource, and whether it is asked for the whole cluster.
const DANGEROUS: &[(&str, &str, bool)] = &[
    ("*", "*", true),
    ("get", "secrets", true),
    ("create", "pods", true),
    ("create", "clusterrolebindings.rbac.authorization.k8s.io", true),
    ("escalate", "clusterroles.rbac.authorization.k8s.io", true),
    ("bind", "clusterroles.rbac.authorization.k8s.io", true),
    ("update", "customresourcedefinitions.apiextensions.k8s.io", true),
    ("create", "mutatingwebhookconfigurations.admissionregistration.k8s.io", true),
    ("impersonate", "serviceaccounts", true),
    ("get", "secrets", false),
    ("create", "operatorgroups.operators.coreos.com", false),
    ("create", "clusterserviceversions.operators.coreos.com", false),
    ("update", "installplans.operators.coreos.com/status", false),
];

/// A user in a namespace whose OperatorGroup names the ServiceAccount `installer`.
struct Tenant<'o, 'r> {
    operon: &'o Installation<'r>,
    user: &'static str,
    namespace: &'static str,
    /// The API server as this user reaches it.
    cluster: KubeCluster,
}

impl<'o, 'r> Tenant<'o, 'r> {
    /// Connects with the credentials of a user of the rig.
    fn new(
        operon: &'o Installation<'r>,
        user: &'static str,
        namespace: &'static str,
    ) -> Result<Self, String> {
        let file = operon.rig().kubeconfig_of_user(user).map_err(|error| error.to_string())?;
        let place = Place::Kubeconfig { file: Some(file), context: None };
        let options = Options { manager: USER_MANAGER.to_owned(), ..Options::default() };
        let cluster = KubeCluster::connect(&place, options).map_err(|error| error.to_string())?;
        Ok(Self { operon, user, namespace, cluster })
    }

    /// Creates objects as this user, who must be allowed to.
    fn create(&self, manifests: &str) -> Result<(), String> {
        for object in objects(manifests) {
            let created = self.cluster.create(&object);
            created.map_err(|error| {
                format!("{} cannot create {}: {}", self.user, object.key(), error.message)
            })?;
        }
        Ok(())
    }

    /// Changes an object as this user, who must be allowed to.
    fn edit(&self, key: &ObjectKey, change: impl Fn(&mut Object)) -> Result<(), String> {
        loop {
            let mut object = self.operon.get(key).ok_or_else(|| format!("{key} is missing"))?;
            change(&mut object);
            match self.cluster.update(&object) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind == ErrorKind::Conflict => {}
                Err(error) => {
                    return Err(format!("{} cannot edit {key}: {}", self.user, error.message));
                }
            }
        }
    }

    /// Deletes an object as this user, who must be allowed to.
    fn delete(&self, key: &ObjectKey) -> Result<(), String> {
        let uid = self.operon.get(key).ok_or_else(|| format!("{key} is missing"))?.uid().to_owned();
        let deleted = self.cluster.delete(key, &uid);
        deleted.map_err(|error| format!("{} cannot delete {key}: {}", self.user, error.message))
    }

    /// Expects that the API server refuses a request of this user.
    fn refuses<T>(&self, request: &str, answer: Result<T, ClusterError>) -> Result<(), String> {
        match answer {
            Err(error) if error.kind == ErrorKind::Forbidden => Ok(()),
            Err(error) => Err(format!("{} may {request}: {}", self.user, error.message)),
            Ok(_) => Err(format!("{} may {request}", self.user)),
        }
    }

    /// Expects that this user may not create objects.
    fn may_not_create(&self, manifests: &str) -> Result<(), String> {
        objects(manifests).iter().try_for_each(|object| {
            self.refuses(&format!("create {}", object.key()), self.cluster.create(object))
        })
    }

    /// Expects that this user may not change an object, nor its status.
    fn may_not_edit(&self, key: &ObjectKey, change: impl Fn(&mut Object)) -> Result<(), String> {
        let mut object = self.operon.get(key).ok_or_else(|| format!("{key} is missing"))?;
        change(&mut object);
        self.refuses(&format!("edit {key}"), self.cluster.update(&object))
    }

    /// Expects that this user may not write the status of an object.
    fn may_not_edit_status(&self, key: &ObjectKey) -> Result<(), String> {
        let mut object = self.operon.get(key).ok_or_else(|| format!("{key} is missing"))?;
        object.set(&["status", "phase"], "Installing");
        self.refuses(&format!("edit the status of {key}"), self.cluster.update_status(&object))
    }

    /// Waits until the status of an object of a kind, or of a plan for an operator, contains words.
    fn learns(&self, kind: &Kind, name: &str, words: &[&str]) -> Result<(), String> {
        let is_about = |object: &Object| {
            let operators = object.at(&["spec", "clusterServiceVersionNames"]).iter_texts();
            object.name() == name || operators.into_iter().any(|operator| operator == name)
        };
        let claim = format!("{} {name} reports {words:?}", kind.name());
        let outcome = self.operon.until(&claim, |operon| {
            operon.list(kind, self.namespace).iter().filter(|object| is_about(object)).any(
                |object| {
                    let mut status = object.status().clone();
                    if *kind == known::CLUSTER_SERVICE_VERSION {
                        // Its conditions are its history.
                        status.remove(&["conditions"]);
                    }
                    let status = status.to_string();
                    words.iter().all(|words| status.contains(words))
                },
            )
        });
        outcome.map_err(|reason| format!("{reason}; {}", standing(self.operon, self.namespace)))
    }

    /// Returns the InstallPlan that brings an operator.
    fn plan_of(&self, operator: &str) -> Option<ObjectKey> {
        let plans = self.operon.list(&known::INSTALL_PLAN, self.namespace);
        let mut found = plans.iter().filter(|plan| {
            plan.at(&["spec", "clusterServiceVersionNames"]).iter_texts().any(|one| one == operator)
        });
        found.next().map(Object::key)
    }

    /// Returns every rule that the API server reports for this user here and in foreign namespaces.
    fn powers(&self) -> Result<BTreeSet<String>, String> {
        let file = self.operon.rig().kubeconfig_of_user(self.user);
        let file = file.map_err(|error| error.to_string())?.display().to_string();
        powers(self.operon, self.namespace, &["--kubeconfig", &file])
    }
}

/// Returns every rule that the API server reports for a ServiceAccount.
fn powers_of_account(
    operon: &Installation<'_>,
    namespace: &str,
    account: &str,
) -> Result<BTreeSet<String>, String> {
    let user = format!("--as=system:serviceaccount:{namespace}:{account}");
    powers(operon, namespace, &[&user])
}

/// Returns each rule as `NAMESPACE: VERB GROUP/RESOURCE [NAMES]`.
fn powers(
    operon: &Installation<'_>,
    namespace: &str,
    identity: &[&str],
) -> Result<BTreeSet<String>, String> {
    let mut powers = BTreeSet::new();
    for namespace in FOREIGN.iter().copied().chain([namespace]) {
        let review = format!(
            "{{\"apiVersion\": \"authorization.k8s.io/v1\", \"kind\": \"SelfSubjectRulesReview\", \
             \"spec\": {{\"namespace\": \"{namespace}\"}}}}"
        );
        let create = ["create", "--filename=-", "--output=json", "--validate=false"];
        let answer = kubectl(operon, &[&create, identity].concat(), &review)?;
        let answer = Value::parse_json(answer.as_bytes()).map_err(|error| error.to_string())?;
        let rules = answer.at(&["status", "resourceRules"]).elements();
        if rules.is_empty() {
            return Err(format!("the API server reports no rules for {identity:?}"));
        }
        for rule in rules {
            let names: Vec<&str> = rule.get("resourceNames").iter_texts().collect();
            for group in rule.get("apiGroups").iter_texts() {
                for resource in rule.get("resources").iter_texts() {
                    for verb in rule.get("verbs").iter_texts() {
                        powers.insert(format!("{namespace}: {verb} {group}/{resource} {names:?}"));
                    }
                }
            }
        }
    }
    Ok(powers)
}

/// Runs kubectl with an input; it must succeed.
fn kubectl(operon: &Installation<'_>, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut command = operon.rig().kubectl_command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(|error| error.to_string())?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("kubectl {}: {error}", arguments.join(" ")))
}

/// Expects that no account of a namespace may do what only an escalation would allow.
fn accounts_are_harmless(operon: &Installation<'_>, namespace: &str) -> Result<(), String> {
    let accounts = operon.list(&known::SERVICE_ACCOUNT, namespace);
    if accounts.len() < 2 {
        return Err(format!("namespace {namespace} has no accounts to ask about"));
    }
    for account in &accounts {
        let user = format!("--as=system:serviceaccount:{namespace}:{}", account.name());
        for (verb, resource, is_everywhere) in DANGEROUS {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let subresource = format!("--subresource={subresource}");
            let mut question = vec!["auth", "can-i", verb, resource, &user];
            if subresource != "--subresource=" {
                question.push(&subresource);
            }
            match is_everywhere {
                true => question.push("--all-namespaces"),
                false => question.extend(["--namespace", namespace]),
            }
            // The exit code is 1 where the answer is no.
            let answer = operon.rig().kubectl_command(&question).output();
            let answer = answer.map_err(|error| error.to_string())?;
            if String::from_utf8_lossy(&answer.stdout).trim() != "no" {
                let error = String::from_utf8_lossy(&answer.stderr);
                return Err(format!("{} may {verb} {resource} {error}", account.key()));
            }
        }
    }
    Ok(())
}

/// Expects that rules are what they were.
fn same_powers(
    user: &str,
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
) -> Result<(), String> {
    let changed: Vec<&String> = before.symmetric_difference(after).collect();
    match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!("the permissions of {user} changed: {changed:#?}")),
    }
}

/// Reads manifests.
fn objects(manifests: &str) -> Vec<Object> {
    let read = operon_api::read_objects("the test", manifests.as_bytes()).objects;
    read.into_iter().map(|located| located.object).collect()
}

/// Returns the account `installer` of a namespace and what it may do: install operators that read pods.
fn installer(namespace: &str) -> String {
    format!(
        "
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
- {{ apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get, list, create, update, patch, delete] }}
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

/// Returns a RoleBinding of a user to a role.
fn user_binding(namespace: &str, user: &str, kind: &str, role: &str) -> String {
    format!(
        "
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{ name: {user}-{role}, namespace: {namespace} }}
roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {role} }}
subjects: [{{ apiGroup: rbac.authorization.k8s.io, kind: User, name: {user} }}]
"
    )
}

/// Returns a ClusterServiceVersion that a user writes by hand, with permission to do everything.
fn csv_by_hand(namespace: &str, name: &str) -> String {
    format!(
        "
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {{ name: {name}.v1.0.0, namespace: {namespace}, labels: {{ olm.managed: 'true', operators.coreos.com/{name}.{namespace}: '' }} }}
spec:
  displayName: {name}
  version: 1.0.0
  installModes:
  - {{ type: OwnNamespace, supported: true }}
  - {{ type: SingleNamespace, supported: true }}
  - {{ type: MultiNamespace, supported: true }}
  - {{ type: AllNamespaces, supported: true }}
  install:
    strategy: deployment
    spec:
      clusterPermissions: [{{ serviceAccountName: {name}, rules: [{{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }}] }}]
      deployments:
      - name: {name}
        spec:
          replicas: 1
          selector: {{ matchLabels: {{ app: {name} }} }}
          template:
            metadata: {{ labels: {{ app: {name} }} }}
            spec: {{ serviceAccountName: {name}, containers: [{{ name: {name}, image: 'example.com/{name}:v1' }}] }}
"
    )
}
