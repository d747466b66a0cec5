//! `operon manifests`: the objects that Operon consists of on a cluster.
//!
//! There is no object of Operon's own kinds among them: `kubectl apply` would refuse it until their
//! definitions are there. The controller makes those that a new cluster needs.

use anyhow::{Context, ensure};
use clap::Args;
use operon_api::{crd_objects, read_objects, write_yaml};
use operon_object::{Object, Value, known, map};

use super::permissions::{
    check_namespaces, cluster_rules, policy_objects, tenant_objects, tenants,
};
use crate::{exit::Outcome, output::Rendered};

/// Everything but the CRDs.
const CONTROLLER: &str = include_str!("controller.yaml");

/// The namespace in [`CONTROLLER`].
const NAMESPACE: &str = "olm";

/// The most replicas: one works, the others wait.
const MAX_REPLICAS: i64 = 9;

/// What everything is called that the controller consists of.
pub(crate) const CONTROLLER_NAME: &str = "operon-controller";

/// The label of the controller's Deployment and pods, with the value [`CONTROLLER_NAME`].
pub(crate) const APP_LABEL: &str = "app";

/// The label of the controller's Deployment that says which Operon it is.
pub(crate) const VERSION_LABEL: &str = "app.kubernetes.io/version";

/// The namespace for operators that the manifests create.
pub(crate) const OPERATORS_NAMESPACE: &str = "operators";

/// On a namespace: the name of an OperatorGroup that the controller creates there once, if the controller's
/// flag `--first-group-namespace` names the namespace.
pub(crate) const FIRST_GROUP_ANNOTATION: &str = "operon.dev/first-operator-group";

/// The group and kind of admission policies, which Kubernetes serves since v1.30.
pub(super) const POLICY_GROUP: &str = "admissionregistration.k8s.io";

/// Where the controller finds the image that it runs from.
const IMAGE_VARIABLE: &str = "OPERON_IMAGE";

/// The variable that tells the controller which registries may be talked to without TLS.
const INSECURE_VARIABLE: &str = "OPERON_INSECURE_REGISTRIES";

/// Prints what Operon consists of on a cluster, for `kubectl apply`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon manifests | kubectl apply --server-side -f -
  operon manifests --image registry.example.com/operon:v1 > operon.yaml
  operon manifests --attenuated --tenant shop --tenant bank > operon.yaml")]
pub(crate) struct Manifests {
    #[command(flatten)]
    shape: Shape,
}

/// What Operon is to be like on a cluster.
#[derive(Debug, Args)]
pub(crate) struct Shape {
    /// The image of the controller
    #[arg(long, value_name = "REF", default_value_t = default_image())]
    image: String,
    /// The namespace of the controller, whose catalogs are visible everywhere
    #[arg(long, default_value = NAMESPACE)]
    pub(crate) namespace: String,
    /// How many controllers run; one works, the others are ready to take over
    #[arg(long, default_value_t = 2)]
    replicas: i64,
    /// A registry that the controller may talk to without TLS, or with a certificate that nobody vouches
    /// for; may be given several times
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',')]
    insecure_registry: Vec<String>,
    /// Give the controller no permission to grant permissions; every OperatorGroup must name a ServiceAccount;
    /// requires `--tenant`
    #[arg(long)]
    pub(super) attenuated: bool,
    /// Namespace of a tenant: the controller reads and writes Secrets, and acts for ServiceAccounts, in these
    /// namespaces and those of the manifests only; may be given several times [default: all namespaces]
    #[arg(long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub(super) tenant: Vec<String>,
    /// Leave out the ValidatingAdmissionPolicies, for Kubernetes before v1.30
    #[arg(long)]
    pub(super) no_policies: bool,
}

impl Shape {
    /// Describes Operon in a namespace, for callers that only need the names of its objects.
    pub(super) fn in_namespace(namespace: &str) -> Self {
        Self {
            image: default_image(),
            namespace: namespace.to_owned(),
            replicas: 1,
            insecure_registry: Vec::new(),
            attenuated: false,
            tenant: Vec::new(),
            no_policies: false,
        }
    }
}

pub(crate) fn print(command: &Manifests) -> anyhow::Result<Outcome> {
    let texts: Vec<String> =
        objects(&command.shape)?.iter().map(|object| write_yaml(object.value())).collect();
    Rendered::Yaml(texts.join("---\n")).print()?;
    Ok(Outcome::Done)
}

/// Returns the objects, in the order in which they are to be made.
pub(crate) fn objects(shape: &Shape) -> anyhow::Result<Vec<Object>> {
    ensure!(
        (1..=MAX_REPLICAS).contains(&shape.replicas),
        "`--replicas {}` is not between 1 and {MAX_REPLICAS}",
        shape.replicas
    );
    // Without tenants the controller could still read every Secret, tokens among them, and impersonate
    // every ServiceAccount, which is as much as granting permissions.
    ensure!(
        !shape.attenuated || !shape.tenant.is_empty(),
        "`--attenuated` requires `--tenant`: without it the controller may read all Secrets and \
         impersonate all ServiceAccounts of the cluster\nhint: name each namespace with an \
         OperatorGroup, such as `--attenuated --tenant shop`"
    );
    check_namespaces(shape)?;
    let mut namespaces = Vec::new();
    let mut others = Vec::new();
    let read = read_objects("controller.yaml", CONTROLLER.as_bytes());
    for located in read.objects {
        let mut object = located.object;
        settle(&mut object, shape).context("bug: the manifests of the controller are damaged")?;
        let is_namespace = object.kind() == known::NAMESPACE;
        if is_namespace { namespaces.push(object) } else { others.push(object) }
    }
    let policies = if shape.no_policies { Vec::new() } else { policy_objects(shape)? };
    // Policies come before the permissions that they limit, and the Deployment, which is last, after all.
    Ok([namespaces, crd_objects(), policies, tenant_objects(shape)?, others].concat())
}

/// Fills in what the command line says.
fn settle(object: &mut Object, shape: &Shape) -> anyhow::Result<()> {
    let namespace = shape.namespace.as_str();
    if object.namespace() == NAMESPACE {
        object.set_namespace(namespace);
    }
    if object.kind() == known::NAMESPACE && object.name() == NAMESPACE {
        object.set(&["metadata", "name"], namespace);
    }
    let subjects = object.at(&["subjects"]).elements().len();
    if subjects > 0 {
        let mut named = object.at(&["subjects"]).elements().to_vec();
        named.iter_mut().for_each(|subject| {
            subject.set(&["namespace"], namespace);
        });
        object.set(&["subjects"], Value::from(named));
    }
    if shape.attenuated {
        // The group would name no ServiceAccount, and nothing would be written for it.
        object.remove_annotation(FIRST_GROUP_ANNOTATION);
    }
    if object.kind() == known::CLUSTER_ROLE && object.name() == CONTROLLER_NAME {
        object.set(&["rules"], cluster_rules(shape)?);
    }
    if object.kind() == known::DEPLOYMENT {
        object.set_label(VERSION_LABEL, env!("CARGO_PKG_VERSION"));
        object.set(&["spec", "replicas"], shape.replicas);
        let path = ["spec", "template", "spec", "containers"];
        let mut containers = object.at(&path).elements().to_vec();
        let container = containers.first_mut().context("there is no container")?;
        container.set(&["image"], shape.image.as_str());
        container.place(&["args"]).make_list().extend(flags(shape).map(Value::from));
        let own_image = map! { "name" => IMAGE_VARIABLE, "value" => shape.image.as_str() };
        container.place(&["env"]).make_list().push(own_image);
        if !shape.insecure_registry.is_empty() {
            let registries = shape.insecure_registry.join(",");
            let variable = map! { "name" => INSECURE_VARIABLE, "value" => registries };
            container.place(&["env"]).make_list().push(variable);
        }
        object.set(&path, Value::from(containers));
    }
    Ok(())
}

/// Returns the flags of the controller that follow from the command line.
fn flags(shape: &Shape) -> impl Iterator<Item = String> {
    let mode = match shape.attenuated {
        true => "--attenuated".to_owned(),
        false => format!("--first-group-namespace={OPERATORS_NAMESPACE}"),
    };
    let tenants: Vec<String> =
        tenants(shape).into_iter().map(|tenant| format!("--tenant={tenant}")).collect();
    [mode].into_iter().chain(tenants)
}

fn default_image() -> String {
    format!("operon:{}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests;
