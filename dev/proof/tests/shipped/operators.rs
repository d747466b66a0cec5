//! Operators that the proofs make, and questions about how they are.

use std::path::PathBuf;

use operon_object::{Object, known};
use operon_proof::{
    Installation,
    shelf::{ShelfBundle, push_shelf, source},
};
use operon_rig::BUSYBOX_IMAGE;

/// An operator of a test: alone in its package, with one Deployment.
pub(crate) struct Operator {
    pub(crate) package: &'static str,
    pub(crate) image: String,
    /// Whether it is for all namespaces alone, and not for its own.
    pub(crate) is_global: bool,
    /// Lines of `spec.install.spec`, such as its permissions.
    pub(crate) install: String,
    /// More lines of `spec`.
    pub(crate) spec: String,
}

impl Operator {
    pub(crate) fn new(package: &'static str) -> Self {
        let image = BUSYBOX_IMAGE.to_owned();
        Self { package, image, is_global: false, install: String::new(), spec: String::new() }
    }

    /// Returns its ClusterServiceVersion.
    pub(crate) fn csv(&self) -> String {
        let Self { package, image, is_global, install, spec } = self;
        let is_own = !is_global;
        format!(
            "
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {{ name: {package}.v1.0.0 }}
spec:
  displayName: {package}
  version: 1.0.0
  installModes:
  - {{ type: OwnNamespace, supported: {is_own} }}
  - {{ type: SingleNamespace, supported: {is_own} }}
  - {{ type: MultiNamespace, supported: false }}
  - {{ type: AllNamespaces, supported: true }}
  install:
    strategy: deployment
    spec:
{install}
      deployments:
      - name: {package}-operator
        spec:
          replicas: 1
          selector: {{ matchLabels: {{ app: {package} }} }}
          template:
            metadata: {{ labels: {{ app: {package} }} }}
            spec:
              terminationGracePeriodSeconds: 0
              containers: [{{ name: operator, image: \"{image}\" }}]
{spec}
"
        )
    }
}

/// Returns a CustomResourceDefinition with one version that takes everything.
pub(crate) fn definition(plural: &str, group: &str, kind: &str) -> String {
    let singular = kind.to_lowercase();
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{ name: {plural}.{group} }}
spec:
  group: {group}
  scope: Namespaced
  names: {{ plural: {plural}, singular: {singular}, kind: {kind}, listKind: {kind}List }}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }}
"
    )
}

/// Pushes a catalog of bundles, each a package with its manifests, and makes a CatalogSource for it.
pub(crate) fn publish(
    operon: &Installation<'_>,
    namespace: &str,
    name: &str,
    bundles: &[(&str, Vec<String>)],
) -> Result<(), String> {
    let place = bundles_of(operon, name);
    let written = bundles
        .iter()
        .map(|(package, manifests)| ShelfBundle::write(&place, package, manifests))
        .collect::<Result<Vec<_>, _>>()?;
    let image = push_shelf(operon, &format!("catalogs/{name}:v1"), &written)?;
    operon.apply(&source(namespace, name, &image))
}

fn bundles_of(operon: &Installation<'_>, name: &str) -> PathBuf {
    operon.rig().directory().join("bundles").join(name)
}

/// Returns the phase of an operator, or nothing if it is not there.
pub(crate) fn phase(operon: &Installation<'_>, namespace: &str, name: &str) -> String {
    let key = known::CLUSTER_SERVICE_VERSION.key(namespace, name);
    let found = operon.get(&key);
    found.map_or_else(String::new, |object| object.status().get("phase").str().to_owned())
}

/// Waits until an operator is in a phase; says how everything stands if it does not get there.
pub(crate) fn reaches(
    operon: &Installation<'_>,
    namespace: &str,
    name: &str,
    wanted: &str,
) -> Result<(), String> {
    let claim = format!("{name} is {wanted}");
    let outcome = operon.until(&claim, |operon| phase(operon, namespace, name) == wanted);
    outcome.map_err(|reason| format!("{reason}; {}", standing(operon, namespace)))
}

/// Waits until an object says something anywhere in its status.
pub(crate) fn says(
    operon: &Installation<'_>,
    key: &operon_object::ObjectKey,
    words: &str,
) -> Result<(), String> {
    let status = |operon: &Installation<'_>| {
        operon.get(key).map_or_else(String::new, |object| object.status().to_string())
    };
    let outcome =
        operon.until(&format!("{key} says `{words}`"), |operon| status(operon).contains(words));
    outcome.map_err(|reason| format!("{reason}, but: {}", status(operon)))
}

/// Says how everything in a namespace stands.
pub(crate) fn standing(operon: &Installation<'_>, namespace: &str) -> String {
    let kinds = [
        known::CATALOG_SOURCE,
        known::SUBSCRIPTION,
        known::INSTALL_PLAN,
        known::CLUSTER_SERVICE_VERSION,
    ];
    let objects = kinds.iter().flat_map(|kind| operon.list(kind, namespace));
    let said = |object: Object| {
        let status = object.status();
        let conditions = status.get("conditions").elements().iter().rev().take(3);
        let conditions: String = conditions
            .map(|condition| {
                let [name, reason] = ["type", "reason"].map(|field| condition.get(field).str());
                format!("; {name} {reason}: {:.400}", condition.get("message").str())
            })
            .collect();
        let [phase, message] = ["phase", "message"].map(|field| status.get(field).str());
        format!("\n  {}: {phase} {message:.400}{conditions}", object.key())
    };
    objects.map(said).collect()
}
