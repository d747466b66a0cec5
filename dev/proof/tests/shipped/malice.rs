//! Bundles and tenants that want more than they may have, and secrets that nobody should read.

use std::collections::BTreeMap;

use operon_object::{Kind, Object, ObjectKey, known};
use operon_proof::{
    ACCOUNT, Installation, SYSTEM,
    shelf::{group, source, subscription},
};

use crate::{
    Verdict,
    operators::{Operator, publish, reaches, says, standing},
};

/// What the account of the tenant may do: install operators that look at pods, in its namespace.
const TENANT: &str = "
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: installer, namespace: tenant }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: installer, namespace: tenant }
rules:
- { apiGroups: [''], resources: [serviceaccounts, services, configmaps], verbs: [get, list, create, update, patch, delete] }
- { apiGroups: [apps], resources: [deployments], verbs: [get, list, create, update, patch, delete] }
- { apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [get, list, create, update, patch, delete] }
- { apiGroups: [''], resources: [pods], verbs: [get, list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: installer, namespace: tenant }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: installer }
subjects: [{ kind: ServiceAccount, name: installer, namespace: tenant }]
";

/// The permissions of an operator whose account has its name.
pub(crate) fn permissions(field: &str, account: &str, rule: &str) -> String {
    format!("      {field}: [{{ serviceAccountName: {account}, rules: [{rule}] }}]")
}

pub(crate) fn tenant_gains_nothing(operon: &Installation<'_>) -> Verdict {
    let pods = "{ apiGroups: [''], resources: [pods], verbs: [get, list] }";
    let secrets = "{ apiGroups: [''], resources: [secrets], verbs: ['*'] }";
    let mut bundles = Vec::new();
    for (package, field, rule) in [
        ("modest", "permissions", pods),
        ("greedy", "permissions", secrets),
        ("lofty", "clusterPermissions", pods),
    ] {
        let install = permissions(field, package, rule);
        bundles.push((package, vec![Operator { install, ..Operator::new(package) }.csv()]));
    }
    let mut spy = Operator::new("spy");
    spy.spec = "
  webhookdefinitions:
  - type: MutatingAdmissionWebhook
    generateName: spy.example.com
    deploymentName: spy-operator
    containerPort: 443
    sideEffects: None
    failurePolicy: Ignore
    admissionReviewVersions: [v1]
    webhookPath: /read
    rules: [{ apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets] }]
"
    .to_owned();
    bundles.push(("spy", vec![spy.csv()]));
    let binding = |kind: &str, place: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{ name: crown{place} }}\n\
             roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }}\n\
             subjects: [{{ kind: ServiceAccount, name: default, namespace: tenant }}]\n"
        )
    };
    for (package, kind, place) in [
        ("landlord", "ClusterRoleBinding", ""),
        ("mover", "RoleBinding", ", namespace: kube-system"),
        ("heir", "RoleBinding", ""),
    ] {
        bundles.push((package, vec![Operator::new(package).csv(), binding(kind, place)]));
    }
    operon
        .apply(&group("tenant", "{ targetNamespaces: [tenant], serviceAccountName: installer }"))?;
    operon.apply(TENANT)?;
    publish(operon, "tenant", "tenant", &bundles)?;
    operon.until("the catalog is there", |operon| {
        operon.list(&known::CATALOG_SOURCE, "tenant").iter().any(|source| {
            source.at(&["status", "connectionState", "lastObservedState"]).str() == "READY"
        })
    })?;
    operon.calm()?;
    let before = outside(operon, "tenant")?;
    for (package, _) in &bundles {
        operon.apply(&subscription("tenant", package, ("tenant", "tenant")))?;
    }
    reaches(operon, "tenant", "modest.v1.0.0", "Succeeded")?;
    for (package, _) in bundles.iter().filter(|(package, _)| *package != "modest") {
        refused(operon, package)?;
    }
    compare(&before, &outside(operon, "tenant")?)?;
    cannot(operon, "tenant")?;
    // What is refused is tried for ever; who looks for writes next should see none of it.
    operon.delete_namespaces(&["tenant"])?;
    Ok(format!("{} of {} packages refused by the API server", bundles.len() - 1, bundles.len()))
}

/// Waits until it is said that an operator's rights are not the account's to give.
fn refused(operon: &Installation<'_>, package: &str) -> Result<(), String> {
    let name = format!("{package}.v1.0.0");
    let is_about = |object: &Object| {
        object.name() == name
            || object
                .at(&["spec", "clusterServiceVersionNames"])
                .iter_texts()
                .any(|one| one == name)
    };
    let outcome = operon.until(&format!("{package} is refused"), |operon| {
        [known::INSTALL_PLAN, known::CLUSTER_SERVICE_VERSION].iter().any(|kind| {
            let objects = operon.list(kind, "tenant");
            objects.iter().filter(|object| is_about(object)).any(|object| {
                let status = object.status().to_string();
                status.contains("forbidden")
                    && status.contains("system:serviceaccount:tenant:installer")
            })
        })
    });
    outcome.map_err(|reason| format!("{reason}; {}", standing(operon, "tenant")))
}

/// No account of the namespace may read secrets, anywhere.
fn cannot(operon: &Installation<'_>, namespace: &str) -> Result<(), String> {
    for account in operon.list(&known::SERVICE_ACCOUNT, namespace) {
        let user = format!("--as=system:serviceaccount:{namespace}:{}", account.name());
        for place in [namespace, "kube-system"] {
            let question = ["auth", "can-i", "get", "secrets", "--namespace", place, &user];
            // It fails when the answer is no.
            let answer = operon.rig().kubectl_command(&question).output();
            let answer = answer.map_err(|error| error.to_string())?;
            if String::from_utf8_lossy(&answer.stdout).trim() != "no" {
                return Err(format!("{} may read secrets in {place}", account.key()));
            }
        }
    }
    Ok(())
}

pub(crate) fn bundle_stays_where_it_is(operon: &Installation<'_>) -> Verdict {
    let map = |name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: \"{name}\"{more} }}\ndata: {{ by: pirate }}\n"
        )
    };
    let objects: Vec<(&str, String)> = vec![
        ("anchor", map("extension-apiserver-authentication", ", namespace: kube-system")),
        ("boarder", map("treasure", ", namespace: bystander")),
        ("climber", map("../../../kube-system/configmaps/climbed", "")),
        (
            "forger",
            map(
                "forged",
                ", labels: { olm.owner: treasure, olm.owner.namespace: bystander, olm.owner.kind: ConfigMap }, \
                 ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: treasure, uid: 11111111-2222-3333-4444-555555555555, controller: true }]",
            ),
        ),
        ("squatter", "apiVersion: v1\nkind: Namespace\nmetadata: { name: squat }\n".to_owned()),
        (
            "stowaway",
            "apiVersion: v1\nkind: Pod\nmetadata: { name: stow, namespace: kube-system }\nspec: { containers: [{ name: a, image: a }] }\n".to_owned(),
        ),
    ];
    let bundles: Vec<(&str, Vec<String>)> = objects
        .into_iter()
        .map(|(package, object)| (package, vec![Operator::new(package).csv(), object]))
        .collect();
    operon.apply(&group("harm", "{ targetNamespaces: [harm] }"))?;
    operon.apply("---\napiVersion: v1\nkind: Namespace\nmetadata: { name: bystander }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: treasure, namespace: bystander, labels: { olm.managed: \"true\", olm.owner: boarder.v1.0.0, olm.owner.namespace: harm, olm.owner.kind: ClusterServiceVersion } }\ndata: { by: bystander }\n")?;
    operon.until("the namespace is complete", |operon| {
        operon.get(&known::CONFIG_MAP.key("bystander", "kube-root-ca.crt")).is_some()
            && operon.get(&known::SERVICE_ACCOUNT.key("bystander", "default")).is_some()
    })?;
    publish(operon, "harm", "harm", &bundles)?;
    operon.calm()?;
    let before = outside(operon, "harm")?;
    for (package, _) in &bundles {
        operon.apply(&subscription("harm", package, ("harm", "harm")))?;
    }
    // Where the object may be in the namespace, it is, and the operator works; else it is said why not.
    for package in ["anchor", "boarder", "forger"] {
        reaches(operon, "harm", &format!("{package}.v1.0.0"), "Succeeded")?;
    }
    for (package, words) in [("climber", "../"), ("squatter", "Namespace"), ("stowaway", "Pod")] {
        said_of(operon, "harm", package, words)?;
    }
    compare(&before, &outside(operon, "harm")?)?;
    for (package, _) in &bundles {
        operon.delete(&known::SUBSCRIPTION.key("harm", package))?;
        let key = known::CLUSTER_SERVICE_VERSION.key("harm", &format!("{package}.v1.0.0"));
        operon.delete(&key)?;
    }
    let gone = operon.until("the operators are gone", |operon| {
        operon.list(&known::CLUSTER_SERVICE_VERSION, "harm").is_empty()
    });
    gone.map_err(|reason| format!("{reason}; {}", standing(operon, "harm")))?;
    compare(&before, &outside(operon, "harm")?)?;
    Ok(format!("{} bundles wrote nothing outside their namespace", bundles.len()))
}

/// Waits until a Subscription, or a plan for its operator, uses some words in its status.
fn said_of(
    operon: &Installation<'_>,
    namespace: &str,
    package: &str,
    words: &str,
) -> Result<(), String> {
    let name = format!("{package}.v1.0.0");
    let is_about = |object: &Object| {
        object.name() == package
            || object
                .at(&["spec", "clusterServiceVersionNames"])
                .iter_texts()
                .any(|one| one == name)
    };
    let outcome = operon.until(&format!("`{words}` is said about {package}"), |operon| {
        [known::SUBSCRIPTION, known::INSTALL_PLAN].iter().any(|kind| {
            let objects = operon.list(kind, namespace);
            let mut conditions = objects
                .iter()
                .filter(|object| is_about(object))
                .flat_map(|object| object.status().get("conditions").elements());
            conditions.any(|condition| condition.get("message").str().contains(words))
        })
    });
    outcome.map_err(|reason| format!("{reason}; {}", standing(operon, namespace)))
}

/// What only the API server and the registry may get to read.
const PASSWORD: &str = "correct-horse-battery-staple";

pub(crate) fn secrets_are_not_told(operon: &Installation<'_>) -> Verdict {
    let registry = operon.rig().registry();
    operon.apply(&group("quiet", "{ targetNamespaces: [quiet] }"))?;
    let sound = format!(
        "{{\"auths\":{{\"{registry}\":{{\"username\":\"u\",\"password\":\"{PASSWORD}\"}}}}}}"
    );
    let damaged = format!("{{\"auths\":{{\"{registry}\":{{\"auth\":\"{PASSWORD}\"");
    for (name, text) in [("sound", sound), ("damaged", damaged)] {
        let mut secret = Object::new("v1", "Secret", "quiet", name);
        let text = operon_document::encode_base64(text.as_bytes());
        secret.set(&["data", "config.json"], text.as_str());
        operon.insist(|person| person.apply_as(&secret, "person"))?;
    }
    publish(operon, "quiet", "quiet", &[("quiet", vec![Operator::new("quiet").csv()])])?;
    for name in ["sound", "damaged"] {
        let image =
            format!("{registry}/catalogs/{}:v1", if name == "sound" { "quiet" } else { "nowhere" });
        let mut text = source("quiet", name, &image);
        text = text.replace("spec: {", &format!("spec: {{ secrets: [{name}], "));
        operon.apply(&text)?;
    }
    operon.apply(&subscription("quiet", "quiet", ("quiet", "sound")))?;
    reaches(operon, "quiet", "quiet.v1.0.0", "Succeeded")?;
    says(operon, &known::CATALOG_SOURCE.key("quiet", "damaged"), "TRANSIENT_FAILURE")?;

    let mut secrets =
        vec![PASSWORD.to_owned(), operon_document::encode_base64(PASSWORD.as_bytes())];
    let kubeconfig =
        operon.rig().kubeconfig_of_account(SYSTEM, ACCOUNT).map_err(|error| error.to_string())?;
    let account = std::fs::read_to_string(kubeconfig).map_err(|error| error.to_string())?;
    let token = operon_object::Value::parse_json(&account).map_err(|error| error.to_string())?;
    let users = token.get("users").elements().to_vec();
    let token = users.first().map_or("", |user| user.at(&["user", "token"]).str()).to_owned();
    // The last part is the signature; every token of the account begins alike.
    secrets.extend(token.get(..40).map(str::to_owned));
    let keys = operon.list(&known::SECRET, "quiet");
    if token.is_empty() || keys.len() < 2 {
        return Err("there are no secrets to look for".to_owned());
    }
    let mut told: Vec<(String, String)> = Vec::new();
    for controller in operon.controllers() {
        told.push(("the log".to_owned(), controller.log()));
    }
    let kinds: Vec<Kind> = known::KNOWN_KINDS
        .iter()
        .map(|known| known.kind.clone())
        .filter(|kind| *kind != known::SECRET)
        .collect();
    for object in operon.person().list_once(&kinds).map_err(|error| error.message)? {
        told.push((object.key().to_string(), object.value().to_string()));
    }
    for (place, text) in &told {
        if let Some(secret) = secrets.iter().find(|secret| text.contains(secret.as_str())) {
            return Err(format!("{place} tells `{secret}`"));
        }
    }
    Ok(format!("{} objects and the whole log tell no secret", told.len() - 1))
}

/// Everything outside a namespace, with its version. What Operon keeps for a namespace outside of it is
/// left out: Operator objects, and the roles of its OperatorGroup. So are pods, whose status changes by
/// itself, and which Operon never writes.
pub(crate) fn outside(
    operon: &Installation<'_>,
    namespace: &str,
) -> Result<BTreeMap<ObjectKey, String>, String> {
    let left_out = [known::LEASE, known::EVENT, known::OPERATOR, known::POD];
    let kinds: Vec<Kind> = known::KNOWN_KINDS
        .iter()
        .map(|known| known.kind.clone())
        .filter(|kind| !left_out.contains(kind))
        .collect();
    let of_group = format!("olm.og.{namespace}.");
    let objects = operon.person().list_once(&kinds).map_err(|error| error.message)?;
    let is_outside = |object: &&Object| {
        object.namespace() != namespace
            && !object.name().starts_with(&of_group)
            && object.key() != known::NAMESPACE.key("", namespace)
    };
    let version = |object: &Object| (object.key(), object.resource_version().to_owned());
    Ok(objects.iter().filter(is_outside).map(version).collect())
}

pub(crate) fn compare(
    before: &BTreeMap<ObjectKey, String>,
    after: &BTreeMap<ObjectKey, String>,
) -> Result<(), String> {
    let is_other = |key: &&ObjectKey| before.get(*key) != after.get(*key);
    let changed: Vec<String> =
        before.keys().chain(after.keys()).filter(is_other).map(ToString::to_string).collect();
    match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!("something outside was written: {}", changed.join(", "))),
    }
}
