//! Real bundles of OperatorHub, by the dozen: what their authors wrote, with pods that only stay alive.
//!
//! Pods get an image that exists, and lose what only the real program needs; everything that Operon
//! writes is what the bundle says. Webhooks of these operators are answered by nobody.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use operon_object::{Object, known};
use operon_proof::{
    Installation, SYSTEM,
    shelf::{ShelfBundle, group, push_shelf, source, subscription},
};
use operon_rig::BUSYBOX_IMAGE;

use crate::{Verdict, operators::standing};

/// The packages: of every kind and size, for one namespace and for all, with and without webhooks.
const PACKAGES: &[&str] = &[
    "ack-iam-controller",
    "ack-secretsmanager-controller",
    "aerospike-kubernetes-operator",
    "airflow-helm-operator",
    "apollo-operator",
    "aqua",
    "aws-auth-operator",
    "camel-k",
    "ceph-s3-operator",
    "cloudnative-pg",
    "composable-operator",
    "customized-user-remediation",
    "deployment-validation-operator",
    "edp-keycloak-operator",
    "etcd",
    "fence-agents-remediation",
    "frappe-operator",
    "grafana-operator",
    "hedvig-operator",
    "ibm-spectrum-scale-csi-operator",
    "istio",
    "knative-operator",
    "kubernetes-imagepuller-operator",
    "litellm-operator",
    "microcks",
    "mongodb-operator",
    "node-maintenance-operator",
    "patterns-operator",
    "pinot-operator",
    "postgres-operator",
    "prometheus",
    "pystol",
    "rocketmq-operator",
    "sap-btp-operator",
    "skupper-operator",
    "spark-gcp",
    "storageos",
    "tidb-operator",
    "victoriametrics-operator",
    "wso2am-operator",
];

/// What is said of operators whose definitions are of a version that no cluster serves any more.
const OUTDATED: &str =
    "apiextensions.k8s.io/v1beta1, Kind=CustomResourceDefinition not found on the cluster";

/// Those that cannot work on this cluster, and the words that say why.
const EXPLAINED: &[(&str, &str)] = &[
    ("composable-operator", OUTDATED),
    ("etcd", OUTDATED),
    ("istio", OUTDATED),
    ("knative-operator", "its spec.conversion sends objects to Service operators/operator-webhook"),
    ("postgres-operator", OUTDATED),
    ("pystol", OUTDATED),
    ("spark-gcp", OUTDATED),
    ("wso2am-operator", OUTDATED),
];

/// How many containers a pod of theirs has at most.
const MOST_CONTAINERS: usize = 4;

/// The name of the catalog.
const CATALOG: &str = "real";

/// The label of the namespaces whose pods only stay alive.
const LABEL: &str = "proof.operon.dev/pods=stay-alive";

pub(crate) fn dozens_of_real_bundles(operon: &Installation<'_>) -> Verdict {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bundles.tar.zst");
    if !archive.is_file() {
        let reason = "../shared/data/bundles.tar.zst is not there";
        operon_parts::leave_out(operon_parts::Part::Shared, reason);
        return Ok(format!("left out: {reason}"));
    }
    let bundles = unpack(&archive, &operon.rig().directory().join("real"))?;
    operon.apply(&policy())?;
    let image = push_shelf(operon, "catalogs/real:v1", &bundles)?;
    operon.apply(&source(SYSTEM, CATALOG, &image))?;
    let begun = Instant::now();
    for bundle in &bundles {
        let namespace = namespace_of(bundle);
        operon.apply(&group(&namespace, &group_for(bundle, &namespace)?))?;
        let label = ["label", "namespace", &namespace, "--overwrite", LABEL];
        operon.rig().kubectl(&label).map_err(|error| error.to_string())?;
        operon.apply(&subscription(&namespace, &bundle.package, (SYSTEM, CATALOG)))?;
    }
    let outcome = operon.until("every operator is as far as it gets", |operon| {
        bundles.iter().all(|bundle| is_right(operon, bundle))
    });
    if let Err(reason) = outcome {
        let wrong = bundles.iter().filter(|bundle| !is_right(operon, bundle));
        let said: String = wrong
            .map(|bundle| {
                format!("\n{}: {}", bundle.package, standing(operon, &namespace_of(bundle)))
            })
            .collect();
        return Err(format!("{reason}; {said}"));
    }
    let took = begun.elapsed().as_secs_f64();
    let (all, explained) = (bundles.len(), EXPLAINED.len());
    Ok(format!("{} bundles Succeeded, {explained} explained, in {took:.0} s", all - explained))
}

fn namespace_of(bundle: &ShelfBundle) -> String {
    format!("real-{}", bundle.package)
}

fn is_right(operon: &Installation<'_>, bundle: &ShelfBundle) -> bool {
    let namespace = namespace_of(bundle);
    let explained = EXPLAINED.iter().find(|(package, _)| *package == bundle.package);
    match explained {
        None => {
            let operator = known::CLUSTER_SERVICE_VERSION.key(&namespace, &bundle.operator);
            let found = operon.get(&operator);
            found.is_some_and(|object| object.status().get("phase").str() == "Succeeded")
        }
        Some((_, words)) => {
            let kinds = [known::SUBSCRIPTION, known::INSTALL_PLAN, known::CLUSTER_SERVICE_VERSION];
            let mut objects = kinds.iter().flat_map(|kind| operon.list(kind, &namespace));
            objects.any(|object| object.status().to_string().contains(words))
        }
    }
}

/// Unpacks the newest version of each package.
fn unpack(archive: &Path, place: &Path) -> Result<Vec<ShelfBundle>, String> {
    fs::create_dir_all(place).map_err(|error| error.to_string())?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--zstd").arg("--file").arg(archive).arg("--directory").arg(place);
    tar.args(PACKAGES.iter().map(|package| format!("bundles/{package}")));
    let output = tar.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("tar: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut bundles = Vec::new();
    for package in PACKAGES {
        let folder = place.join("bundles").join(package);
        let directory = entries(&folder)?.pop().ok_or_else(|| format!("{package} is empty"))?;
        let operator = manifests(&directory)?
            .into_iter()
            .find(|object| object.kind() == known::CLUSTER_SERVICE_VERSION)
            .ok_or_else(|| format!("{package} has no ClusterServiceVersion"))?;
        let operator = operator.name().to_owned();
        bundles.push(ShelfBundle { package: (*package).to_owned(), operator, directory });
    }
    Ok(bundles)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut entries: Vec<PathBuf> =
        read.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    entries.sort();
    Ok(entries)
}

fn manifests(directory: &Path) -> Result<Vec<Object>, String> {
    let mut objects = Vec::new();
    for file in entries(&directory.join("manifests"))? {
        let bytes = fs::read(&file).map_err(|error| error.to_string())?;
        let read = operon_api::read_objects(&file.display().to_string(), &bytes);
        objects.extend(read.objects.into_iter().map(|located| located.object));
    }
    Ok(objects)
}

/// Returns the spec of the OperatorGroup that a bundle supports: its own namespace, or all.
fn group_for(bundle: &ShelfBundle, namespace: &str) -> Result<String, String> {
    let objects = manifests(&bundle.directory)?;
    let modes: BTreeMap<&str, bool> = objects
        .iter()
        .find(|object| object.kind() == known::CLUSTER_SERVICE_VERSION)
        .map(|operator| operator.spec().get("installModes").elements())
        .unwrap_or_default()
        .iter()
        .map(|mode| (mode.get("type").str(), mode.get("supported").as_bool() == Some(true)))
        .collect();
    let is_own = modes.get("OwnNamespace").copied().unwrap_or_default();
    Ok(if is_own { format!("{{ targetNamespaces: [{namespace}] }}") } else { "{}".to_owned() })
}

/// Returns the policy that makes pods stay alive, whatever their programs would need.
fn policy() -> String {
    let gone = ["volumes", "initContainers", "affinity", "nodeSelector", "imagePullSecrets"];
    let removed = gone.map(|field| {
        format!(
            "\n        + (has(object.spec.{field}) ? [ JSONPatch{{op: \"remove\", path: \"/spec/{field}\"}} ] : [])"
        )
    });
    // One by one: the API server breaks off where a list of objects is to take the place of another.
    let replaced = (0..MOST_CONTAINERS).map(|number| {
        format!(
            "\n        + (size(object.spec.containers) > {number} ? [ JSONPatch{{op: \"replace\", \
             path: \"/spec/containers/{number}\", value: Object.spec.containers{{\
             name: object.spec.containers[{number}].name, image: \"{BUSYBOX_IMAGE}\"}}}} ] : [])"
        )
    });
    let patches: String = replaced.chain(removed).collect();
    format!(
        r#"
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{ name: real-pods-stay-alive }}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {{ matchLabels: {{ proof.operon.dev/pods: stay-alive }} }}
    resourceRules:
    - {{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [ JSONPatch{{op: "add", path: "/spec/securityContext", value: Object.spec.securityContext{{}}}},
          JSONPatch{{op: "add", path: "/spec/hostNetwork", value: false}},
          JSONPatch{{op: "add", path: "/spec/terminationGracePeriodSeconds", value: 0}} ]{patches}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{ name: real-pods-stay-alive }}
spec: {{ policyName: real-pods-stay-alive }}
"#
    )
}
