//! `operon manifests`: the objects that Operon consists of on a cluster.
//!
//! There is no object of Operon's own kinds among them: `kubectl apply` would refuse it until their
//! definitions are there. The controller makes those that a new cluster needs.

use anyhow::{Context, ensure};
use clap::Args;
use operon_api::{crd_objects, read_objects, write_yaml};
use operon_object::{Object, Value, known, map};

use crate::{exit::Outcome, output::print_text};

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

/// On a namespace: the name of an OperatorGroup that the controller makes there once.
pub(crate) const FIRST_GROUP_ANNOTATION: &str = "operon.dev/first-operator-group";

/// Where the controller finds the image that it runs from.
const IMAGE_VARIABLE: &str = "OPERON_IMAGE";

/// The variable that tells the controller which registries may be talked to without TLS.
const INSECURE_VARIABLE: &str = "OPERON_INSECURE_REGISTRIES";

/// Prints what Operon consists of on a cluster, for `kubectl apply`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon manifests | kubectl apply --server-side -f -
  operon manifests --image registry.example.com/operon:v1 > operon.yaml")]
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
}

impl Shape {
    /// Means Operon in a namespace, for those who ask what it consists of.
    pub(super) fn in_namespace(namespace: &str) -> Self {
        Self {
            image: default_image(),
            namespace: namespace.to_owned(),
            replicas: 1,
            insecure_registry: Vec::new(),
        }
    }
}

pub(crate) fn print(command: &Manifests) -> anyhow::Result<Outcome> {
    let texts: Vec<String> =
        objects(&command.shape)?.iter().map(|object| write_yaml(object.value())).collect();
    print_text(&texts.join("---\n"))?;
    Ok(Outcome::Done)
}

/// Returns the objects, in the order in which they are to be made.
pub(crate) fn objects(shape: &Shape) -> anyhow::Result<Vec<Object>> {
    ensure!(
        (1..=MAX_REPLICAS).contains(&shape.replicas),
        "`--replicas {}` is not between 1 and {MAX_REPLICAS}",
        shape.replicas
    );
    let mut namespaces = Vec::new();
    let mut others = Vec::new();
    let read = read_objects("controller.yaml", CONTROLLER.as_bytes());
    for located in read.objects {
        let mut object = located.object;
        settle(&mut object, shape).context("bug: the manifests of the controller are damaged")?;
        let is_namespace = object.kind() == known::NAMESPACE;
        if is_namespace { namespaces.push(object) } else { others.push(object) }
    }
    Ok([namespaces, crd_objects(), others].concat())
}

/// Puts what was typed in its places.
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
    if object.kind() == known::DEPLOYMENT {
        object.set_label(VERSION_LABEL, env!("CARGO_PKG_VERSION"));
        object.set(&["spec", "replicas"], shape.replicas);
        let path = ["spec", "template", "spec", "containers"];
        let mut containers = object.at(&path).elements().to_vec();
        let container = containers.first_mut().context("there is no container")?;
        container.set(&["image"], shape.image.as_str());
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

fn default_image() -> String {
    format!("operon:{}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use operon_object::known::KNOWN_KINDS;

    use super::*;

    fn read() -> Vec<Object> {
        let shape = Shape {
            image: "here/operon:v1".into(),
            namespace: "deep".into(),
            replicas: 3,
            insecure_registry: vec!["here".into(), "there:5000".into()],
        };
        objects(&shape).expect("the manifests are sound")
    }

    #[test]
    fn what_is_typed_is_everywhere() {
        let text: Vec<String> = read().iter().map(|object| write_yaml(object.value())).collect();
        let text = text.join("---\n");
        assert!(!text.contains("namespace: olm"), "{text}");
        assert!(text.contains("image: here/operon:v1") && text.contains("replicas: 3"), "{text}");
        assert!(text.contains("value: here,there:5000"), "{text}");
        assert!(text.contains("- name: OPERON_IMAGE\n          value: here/operon:v1"), "{text}");
        let findings = read_objects("controller.yaml", CONTROLLER.as_bytes()).diagnostics;
        assert!(findings.is_empty(), "{findings:?}");
    }

    /// Whatever Operon writes, its role allows; what nobody writes, it does not.
    #[test]
    fn the_role_allows_what_is_written() {
        let objects = read();
        let role = objects
            .iter()
            .find(|object| object.kind() == known::CLUSTER_ROLE)
            .expect("there is a role");
        let may = |verb: &str, group: &str, plural: &str| {
            role.at(&["rules"]).elements().iter().any(|rule| {
                let has = |field: &str, text: &str| {
                    rule.get(field).iter_texts().any(|found| found == text)
                };
                has("verbs", verb) && has("apiGroups", group) && has("resources", plural)
            })
        };
        let unwritten = [known::POD, known::JOB, known::LEASE, known::NAMESPACE, known::EVENT];
        for known in KNOWN_KINDS {
            let is_written = !unwritten.contains(&known.kind);
            for verb in ["create", "update", "patch", "delete"] {
                let group = known.kind.group();
                if is_written {
                    assert!(may(verb, group, known.plural), "{verb} {}", known.plural);
                }
                if known.kind == known::POD || known.kind == known::JOB {
                    assert!(!may(verb, group, known.plural), "{verb} {}", known.plural);
                }
            }
        }
    }
}
