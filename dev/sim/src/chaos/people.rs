//! Who lives in a simulated cluster: what they choose to do next.
//!
//! A choice depends on the seed and on what can be seen in the cluster when it is made, never on faults.

mod choices;

use operon_object::{Object, Value, known, list, map};
use operon_resolve::SourceName;

use super::{
    deed::Deed,
    packages::{Shop, names},
    random::Random,
};

/// The ServiceAccount that an OperatorGroup may name.
const INSTALLER: &str = "installer";

/// The name of the Role that a tenant labels like an operator's.
pub(super) const FORGED: &str = "forged";

/// The people of a cluster: what they know, and what they may do next.
#[derive(Debug)]
pub(super) struct People {
    random: Random,
    shops: Vec<Shop>,
    namespaces: Vec<String>,
}

impl People {
    /// Thinks out who lives in a cluster, and what is there in the beginning.
    pub(super) fn new(seed: u64) -> (Self, Vec<Deed>) {
        let mut random = Random::new(seed, 1);
        let namespaces: Vec<String> = ["apple", "berry", "cider"]
            .iter()
            .take(1 + random.below(3))
            .map(|&n| n.into())
            .collect();
        let mut deeds = Vec::new();
        let source = |namespace: &str, name: &str| SourceName {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        let offset = random.below(8);
        let mut shops = vec![Shop::invent(source("olm", "main"), &names(offset, 5), &mut random)];
        if random.happens(500) {
            let names = names(offset + 4 + random.below(2), 2);
            shops.push(Shop::invent(source("olm", "extra"), &names, &mut random));
        }
        if random.happens(400) {
            let names = names(offset + 6, 2);
            shops.push(Shop::invent(source("apple", "local"), &names, &mut random));
        }
        for namespace in &namespaces {
            deeds.push(Deed::Apply(Object::new("v1", "Namespace", "", namespace)));
            deeds.extend(installer(namespace, random.happens(500)).into_iter().map(Deed::Apply));
            deeds.push(Deed::Apply(group(namespace, namespace, &mut random)));
        }
        for shop in &shops {
            deeds.push(Deed::Publish(shop.source.clone(), Box::new(shop.publication())));
            deeds.push(Deed::Apply(catalog_source(&shop.source)));
        }
        let mut people = Self { random, shops, namespaces };
        for _ in 0..2 + people.random.below(3) {
            deeds.extend(people.subscribe());
        }
        (people, deeds)
    }

    fn subscribe(&mut self) -> Vec<Deed> {
        let Some(namespace) = self.random.pick(&self.namespaces).cloned() else {
            return Vec::new();
        };
        let visible: Vec<&Shop> = self
            .shops
            .iter()
            .filter(|shop| ["olm", namespace.as_str()].contains(&shop.source.namespace.as_str()))
            .collect();
        let Some(shop) = self.random.pick(&visible) else { return Vec::new() };
        let Some(package) = self.random.pick(&shop.packages) else { return Vec::new() };
        let mut spec = map! {
            "name" => package.name.as_str(),
            "source" => shop.source.name.as_str(),
            "sourceNamespace" => shop.source.namespace.as_str(),
        };
        if self.random.happens(850) {
            let channels = package.channels();
            spec.set(&["channel"], *self.random.pick(&channels).unwrap_or(&"stable"));
        }
        if self.random.happens(300) {
            spec.set(&["installPlanApproval"], "Manual");
        }
        if self.random.happens(300)
            && let Some(version) = self.random.pick(&package.versions())
        {
            spec.set(&["startingCSV"], format!("{}.v{version}", package.name));
        }
        let mut object =
            Object::new("operators.coreos.com/v1alpha1", "Subscription", &namespace, &package.name);
        object.set(&["spec"], spec);
        vec![Deed::Apply(object)]
    }
}

/// Returns the ServiceAccount that groups may name, which may do everything in its namespace or in the
/// whole cluster.
fn installer(namespace: &str, is_cluster_wide: bool) -> [Object; 3] {
    let prefix = if is_cluster_wide { "Cluster" } else { "" };
    let (home, name) = match is_cluster_wide {
        true => ("", format!("{INSTALLER}-{namespace}")),
        false => (namespace, INSTALLER.to_owned()),
    };
    let rbac = |kind: &str| {
        Object::new("rbac.authorization.k8s.io/v1", &format!("{prefix}{kind}"), home, &name)
    };
    let (mut role, mut binding) = (rbac("Role"), rbac("RoleBinding"));
    let rule = map! { "apiGroups" => list!["*"], "resources" => list!["*"], "verbs" => list!["*"] };
    role.set(&["rules"], list![rule]);
    let reference = map! {
        "apiGroup" => "rbac.authorization.k8s.io",
        "kind" => format!("{prefix}Role"),
        "name" => name.as_str(),
    };
    binding.set(&["roleRef"], reference);
    let subject =
        map! { "kind" => "ServiceAccount", "name" => INSTALLER, "namespace" => namespace };
    binding.set(&["subjects"], list![subject]);
    [account(namespace), role, binding]
}

fn account(namespace: &str) -> Object {
    Object::new("v1", "ServiceAccount", namespace, INSTALLER)
}

/// Thinks out an OperatorGroup.
fn group(namespace: &str, name: &str, random: &mut Random) -> Object {
    let mut object = Object::new("operators.coreos.com/v1", "OperatorGroup", namespace, name);
    let mut spec = match random.below(10) {
        0..6 => map! { "targetNamespaces" => list![namespace] },
        6 => map! { "selector" => map! { "matchLabels" => map! { "team" => namespace } } },
        _ => map! {},
    };
    if random.happens(400) {
        spec.set(&["upgradeStrategy"], "TechPreviewUnsafeFailForward");
    }
    if random.happens(250) {
        spec.set(&["serviceAccountName"], INSTALLER);
    }
    if random.happens(150) {
        object.set_annotation(operon_kinds::names::PLAN_SCOPE_ANNOTATION, "namespace");
    }
    object.set(&["spec"], spec);
    object
}

fn catalog_source(source: &SourceName) -> Object {
    let mut object = Object::new(
        "operators.coreos.com/v1alpha1",
        "CatalogSource",
        &source.namespace,
        &source.name,
    );
    let image = format!("example.com/{}:latest", source.name);
    object.set(&["spec"], map! { "sourceType" => "grpc", "image" => image });
    object
}

/// Returns a patch of annotations; an empty text takes one away.
fn annotation(name: &str, value: &str) -> Value {
    let value = if value.is_empty() { Value::Null } else { Value::text(value) };
    let annotations = Value::map([(name, value)]);
    map! { "metadata" => map! { "annotations" => annotations } }
}

/// Tells whether a namespace belongs to people.
fn is_home(object: &Object) -> bool {
    object.kind() == known::NAMESPACE
        && !["default", "kube-system", "olm"].contains(&object.name())
        && !object.is_deleting()
}
