//! What must hold before Operon is put on a cluster: asked of the cluster, told with what to do.
//!
//! Nothing is changed. A finding that is only worth a look does not hold anything up.

use std::collections::{BTreeMap, BTreeSet};

use operon_driver::{Cluster as _, ClusterError};
use operon_kinds::condition;
use operon_kube::KubeCluster;
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, known};
use operon_version::Version;

use super::Rehearsed;
use crate::{
    cluster::{PERSON, resource},
    system::{
        manifests::{CONTROLLER_NAME, POLICY_GROUP},
        permissions::TENANT_ROLE,
    },
};

/// The oldest Kubernetes that Operon runs on: the first whose pod security is stable.
const OLDEST_KUBERNETES: (u64, u64) = (1, 25);

/// The first Kubernetes that serves ValidatingAdmissionPolicies in version v1.
const FIRST_WITH_POLICIES: (u64, u64) = (1, 30);

/// The Deployments by which upstream's OLM is known.
const UPSTREAM: [&str; 2] = ["olm-operator", "catalog-operator"];

/// What is done with every object, and what is asked for.
const VERBS: [&str; 3] = ["get", "create", "patch"];

/// The writers of definitions that are no strangers: people's tools, and the server itself.
const NO_STRANGERS: [&str; 5] = [PERSON, "kubectl", "kube-apiserver", "operon", "helm"];

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is as it should be.
    Good,
    /// It is worth a look.
    Doubtful,
    /// Operon cannot be installed like this.
    Bad,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    /// A word for programs.
    pub(super) name: &'static str,
    pub(super) standing: Standing,
    /// What was found.
    pub(super) told: String,
    /// What to do; empty where there is nothing to do.
    pub(super) help: String,
}

impl Check {
    fn good(name: &'static str, told: String) -> Self {
        Self { name, standing: Standing::Good, told, help: String::new() }
    }

    fn doubtful(name: &'static str, told: String, help: &str) -> Self {
        Self { name, standing: Standing::Doubtful, told, help: help.to_owned() }
    }

    fn bad(name: &'static str, told: String, help: &str) -> Self {
        Self { name, standing: Standing::Bad, told, help: help.to_owned() }
    }

    /// Says that something could not be looked at.
    fn unknown(name: &'static str, what: &str, error: &ClusterError) -> Self {
        let told = format!("{what} cannot be looked at: {error}");
        Self::bad(name, told, "get the right to read it, or use another --context")
    }
}

/// Tells whether nothing holds an installation up.
pub(super) fn is_passed(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.standing != Standing::Bad)
}

/// Asks whether the server can be used; whatever else is asked rests on it.
pub(super) fn server(cluster: &KubeCluster) -> Check {
    let name = "server";
    let address = cluster.server();
    match cluster.server_version() {
        Ok(version) => match is_at_least(&version, OLDEST_KUBERNETES) {
            true => Check::good(name, format!("the API server at {address} is {version}")),
            false => {
                let (major, minor) = OLDEST_KUBERNETES;
                let told = format!(
                    "the API server at {address} is {version}, older than v{major}.{minor}"
                );
                Check::bad(name, told, "upgrade Kubernetes")
            }
        },
        Err(error) => {
            let told = format!("the API server at {address} does not answer: {error}");
            Check::bad(name, told, "look at the kubeconfig, or choose another --context")
        }
    }
}

fn is_at_least(text: &str, oldest: (u64, u64)) -> bool {
    let version = Version::parse_tolerant(text.trim_start_matches('v'));
    // A version that cannot be read is that of a vendor, and taken for a new one.
    version.map_or(true, |version| (version.major(), version.minor()) >= oldest)
}

/// Leaves out the admission policies where the server does not serve them.
pub(super) fn policies(
    cluster: &KubeCluster,
    objects: &mut Vec<Object>,
) -> Result<Option<Check>, ClusterError> {
    let is_policy = |object: &Object| object.kind().group() == POLICY_GROUP;
    if !objects.iter().any(is_policy) {
        return Ok(None);
    }
    let version = cluster.server_version()?;
    if is_at_least(&version, FIRST_WITH_POLICIES) {
        return Ok(None);
    }
    objects.retain(|object| !is_policy(object));
    let (major, minor) = FIRST_WITH_POLICIES;
    let told = format!("admission policies are left out: they need Kubernetes v{major}.{minor}");
    Ok(Some(Check::doubtful("policies", told, "RBAC alone limits the controller until then")))
}

/// Checks that tenants' namespaces exist, and finds permissions of former tenants.
pub(super) fn tenants(
    cluster: &KubeCluster,
    objects: &[Object],
) -> Result<Vec<Check>, ClusterError> {
    let name = "tenants";
    let is_created = |namespace: &str| {
        objects.iter().any(|other| other.kind() == known::NAMESPACE && other.name() == namespace)
    };
    let roles: Vec<&Object> = objects.iter().filter(|object| is_tenant_role(object)).collect();
    let mut checks = Vec::new();
    for namespace in roles.iter().map(|role| role.namespace()).filter(|name| !is_created(name)) {
        match cluster.get(&known::NAMESPACE.key("", namespace)) {
            Ok(Some(_)) => {}
            Ok(None) => {
                let told = format!("namespace {namespace} of a tenant does not exist");
                let help = format!("create it first: kubectl create namespace {namespace}");
                checks.push(Check::bad(name, told, &help));
            }
            // The check of permissions reports what may not be read.
            Err(error) if error.kind == ErrorKind::Forbidden => {}
            Err(error) => return Err(error),
        }
    }
    let found = match cluster.list_once(&[known::ROLE]) {
        Err(error) if error.kind == ErrorKind::Forbidden => Vec::new(),
        found => found?,
    };
    let is_former = |role: &&Object| {
        is_tenant_role(role) && !roles.iter().any(|tenant| tenant.key() == role.key())
    };
    for role in found.iter().filter(is_former) {
        let namespace = role.namespace();
        let told = format!("the controller keeps its permissions in namespace {namespace}");
        let help = format!(
            "if it is not a tenant any more: kubectl delete role,rolebinding {TENANT_ROLE} -n {namespace}"
        );
        checks.push(Check::doubtful(name, told, &help));
    }
    Ok(checks)
}

fn is_tenant_role(object: &Object) -> bool {
    object.kind() == known::ROLE && object.name() == TENANT_ROLE
}

/// Asks whether this user may make what is to be made.
pub(super) fn rights(cluster: &KubeCluster, objects: &[Object]) -> Check {
    let name = "rights";
    let places: BTreeSet<(Kind, &str)> =
        objects.iter().map(|object| (object.kind(), object.namespace())).collect();
    let mut missing: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
    for (kind, namespace) in &places {
        let mut verbs = Vec::new();
        for verb in VERBS {
            match cluster.may(verb, kind, namespace) {
                Ok(true) => {}
                Ok(false) => verbs.push(verb),
                Err(error) => return Check::unknown(name, "what you may do", &error),
            }
        }
        if !verbs.is_empty() {
            missing.entry(verbs).or_default().push(plural(kind, namespace));
        }
    }
    if missing.is_empty() {
        return Check::good(name, format!("you may make all {} objects", objects.len()));
    }
    let words = missing.iter().map(|(verbs, what)| [verbs.join(", "), what.join(", ")].join(" "));
    let told = format!("you may not {}", words.collect::<Vec<_>>().join("; nor "));
    Check::bad(name, told, "let an administrator do it: operon manifests prints everything")
}

fn plural(kind: &Kind, namespace: &str) -> String {
    let place = match namespace {
        "" => String::new(),
        namespace => format!(" in namespace {namespace}"),
    };
    format!("{}{place}", resource(kind))
}

/// Looks at what the server says it would do with each object.
pub(super) fn rehearsal(rehearsed: &[Rehearsed]) -> Check {
    let name = "rehearsal";
    let refused: Vec<String> = rehearsed
        .iter()
        .filter_map(|one| one.outcome.as_ref().err().map(|error| format!("{}: {error}", one.key)))
        .collect();
    match refused.as_slice() {
        [] => Check::good(name, "the API server takes every object".to_owned()),
        refused => {
            let told = format!("the API server refuses {}", refused.join("; "));
            Check::bad(name, told, "what it says is what is in the way")
        }
    }
}

/// Looks for somebody who does the same work: upstream's OLM, or Operon elsewhere.
pub(super) fn neighbours(cluster: &KubeCluster, namespace: &str) -> Vec<Check> {
    let name = "neighbours";
    let deployments = match cluster.list_once(&[known::DEPLOYMENT]) {
        Ok(deployments) => deployments,
        Err(error) => return vec![Check::unknown(name, "what runs here", &error)],
    };
    let mut checks: Vec<Check> = Vec::new();
    for found in deployments.iter().filter(|found| UPSTREAM.contains(&found.name())) {
        let place = format!("Deployment {}/{}", found.namespace(), found.name());
        checks.push(match found.spec().get("replicas").as_integer() {
            Some(0) => {
                Check::good(name, format!("upstream's OLM was here and is stopped ({place})"))
            }
            _ => Check::bad(
                name,
                format!("upstream's OLM runs here ({place}): two would fight over every operator"),
                &format!(
                    "stop it first: kubectl scale deployment {} --replicas=0 -n {}; on OpenShift it is part of the system and stays",
                    found.name(),
                    found.namespace()
                ),
            ),
        });
    }
    let is_elsewhere =
        |found: &&Object| found.name() == CONTROLLER_NAME && found.namespace() != namespace;
    for found in deployments.iter().filter(is_elsewhere) {
        let told = format!("Operon is in namespace {} already", found.namespace());
        let help = format!("operon install --namespace {} makes it new there", found.namespace());
        checks.push(Check::bad(name, told, &help));
    }
    if checks.is_empty() {
        checks.push(Check::good(name, "nobody else looks after operators here".to_owned()));
    }
    checks
}

/// Looks at definitions that are there already.
pub(super) fn definitions(cluster: &KubeCluster, objects: &[Object]) -> Check {
    let name = "definitions";
    let found = match cluster.list_once(&[known::CUSTOM_RESOURCE_DEFINITION]) {
        Ok(found) => found,
        Err(error) => return Check::unknown(name, "the definitions of kinds", &error),
    };
    let found: BTreeMap<&str, &Object> =
        found.iter().map(|definition| (definition.name(), definition)).collect();
    let wanted: Vec<&Object> = objects
        .iter()
        .filter(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION)
        .collect();
    let mut strangers = BTreeSet::new();
    let mut is_any_there = false;
    for definition in &wanted {
        let Some(there) = found.get(definition.name()) else { continue };
        is_any_there = true;
        if there.is_deleting() {
            let told = format!("CRD {} is being deleted", definition.name());
            return Check::bad(name, told, "wait until it is gone; operon status tells");
        }
        if let Some(version) = unserved(definition, there) {
            let told = format!(
                "CRD {} keeps objects in version {version}, which Operon does not have",
                definition.name()
            );
            return Check::bad(name, told, "let them be stored anew in a version that is served");
        }
        strangers.extend(managers(there).filter(|manager| !is_familiar(manager)));
    }
    let count = wanted.len();
    match (is_any_there, strangers.is_empty()) {
        (false, _) => Check::good(name, format!("the {count} CRDs are new here")),
        (true, true) => Check::good(name, format!("the {count} CRDs fit those that are here")),
        (true, false) => {
            let strangers: Vec<&str> = strangers.into_iter().collect();
            let told = format!("CRDs are here that `{}` wrote", strangers.join("`, `"));
            Check::doubtful(name, told, "Operon's take their place; let nobody else write them")
        }
    }
}

fn is_familiar(manager: &str) -> bool {
    NO_STRANGERS.iter().any(|known| manager == *known || manager.starts_with(&format!("{known}-")))
}

fn managers(object: &Object) -> impl Iterator<Item = &str> {
    object.metadata("managedFields").elements().iter().map(|entry| entry.get("manager").str())
}

/// Returns a version in which objects are stored and which would not be known any more.
fn unserved(ours: &Object, there: &Object) -> Option<String> {
    let served: BTreeSet<&str> =
        ours.spec().get("versions").elements().iter().map(|one| one.get("name").str()).collect();
    let mut stored = there.status().get("storedVersions").iter_texts();
    stored.find(|version| !served.contains(version)).map(str::to_owned)
}

/// Looks at the namespaces that are there already.
pub(super) fn namespaces(found: &[Object]) -> Check {
    let name = "namespaces";
    let going: Vec<&str> =
        found.iter().filter(|one| one.is_deleting()).map(|one| one.name()).collect();
    if !going.is_empty() {
        let told = format!("namespace {} is being deleted", going.join(" and "));
        return Check::bad(name, told, "wait until it is gone");
    }
    Check::good(name, "the controller keeps to the pod security level `restricted`".to_owned())
}

/// Looks for a node that takes the controller.
pub(super) fn nodes(cluster: &KubeCluster) -> Check {
    let name = "nodes";
    let nodes = match cluster.list_once(&[Kind::new("", "Node")]) {
        Ok(nodes) => nodes,
        Err(error) if error.kind == ErrorKind::Forbidden => {
            let told = "you may not look at nodes, so it is not known whether one takes pods";
            return Check::doubtful(name, told.to_owned(), "go on if you know that one does");
        }
        Err(error) => return Check::unknown(name, "nodes", &error),
    };
    let ready = nodes.iter().filter(|node| takes_pods(node)).count();
    match ready {
        0 => {
            let told = format!("none of {} nodes takes pods of everybody", nodes.len());
            Check::bad(name, told, "a node is needed that runs Linux, is ready and has no taint")
        }
        ready => Check::good(name, format!("{ready} of {} nodes take pods", nodes.len())),
    }
}

fn takes_pods(node: &Object) -> bool {
    let taints = node.spec().get("taints").elements();
    let keeps_off = taints.iter().any(|taint| taint.get("effect").str() != "PreferNoSchedule");
    let is_closed = node.spec().get("unschedulable").as_bool() == Some(true);
    let is_ready = condition(node.status(), "Ready").get("status").str() == "True";
    is_ready && !is_closed && !keeps_off && node.label("kubernetes.io/os") == "linux"
}

#[cfg(test)]
mod tests {
    use operon_object::{Value, list, map};

    use super::*;

    #[test]
    fn old_servers_are_known() {
        for (version, expected) in [
            ("v1.36.3", true),
            ("v1.25.0", true),
            ("v1.24.17+k3s1", false),
            ("v1.9.0", false),
            ("v2.0.0", true),
            ("our-own", true),
        ] {
            assert_eq!(is_at_least(version, OLDEST_KUBERNETES), expected, "{version}");
        }
    }

    #[test]
    fn nodes_that_take_no_pods_do_not_count() {
        let mut node = Object::new("v1", "Node", "", "one");
        node.set_label("kubernetes.io/os", "linux");
        let ready = map! { "type" => "Ready", "status" => "True" };
        node.set(&["status", "conditions"], Value::list([ready]));
        assert!(takes_pods(&node));
        let mut soft = node.clone();
        soft.set(&["spec", "taints"], Value::list([map! { "effect" => "PreferNoSchedule" }]));
        assert!(takes_pods(&soft));
        let mut tainted = node.clone();
        tainted.set(&["spec", "taints"], Value::list([map! { "effect" => "NoSchedule" }]));
        let mut closed = node.clone();
        closed.set(&["spec", "unschedulable"], true);
        let mut windows = node.clone();
        windows.set_label("kubernetes.io/os", "windows");
        let mut lost = node.clone();
        lost.set(&["status", "conditions"], list![]);
        for other in [tainted, closed, windows, lost] {
            assert!(!takes_pods(&other), "{:?}", other.value());
        }
    }

    #[test]
    fn versions_that_would_be_lost_are_found() {
        let mut ours = Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "a");
        let versions = [map! { "name" => "v1" }, map! { "name" => "v2" }];
        ours.set(&["spec", "versions"], Value::list(versions));
        let mut there = ours.clone();
        there.set(&["status", "storedVersions"], list!["v2", "v1"]);
        assert_eq!(unserved(&ours, &there), None);
        there.set(&["status", "storedVersions"], list!["v1", "v1beta1"]);
        assert_eq!(unserved(&ours, &there).as_deref(), Some("v1beta1"));
        assert!(is_familiar("kubectl-client-side-apply") && is_familiar(PERSON));
        assert!(!is_familiar("olm") && !is_familiar("cluster-version-operator"));
    }
}
