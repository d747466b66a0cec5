//! Which lists and maps of an object are merged, and which are replaced as a whole.
//!
//! For built-in kinds this is a table of the fields that Kubernetes marks; for custom kinds the
//! schema says it. Whether a value fits its type is not checked here.

use std::sync::Arc;

use operon_object::{Kind, Value, known, map};

use super::set::{key_step, value_step};

/// What is known of the value at some place of an object.
#[derive(Debug, Clone)]
pub(crate) enum Shape<'a> {
    /// A place of a built-in kind, as a path of names with `*` for elements.
    BuiltIn {
        /// The kind; nothing inside the metadata of a custom kind.
        kind: Option<&'a Kind>,
        /// The place.
        path: String,
    },
    /// An object of a custom kind, with its schema.
    CustomRoot(&'a Value),
    /// A place that a schema describes.
    Schema(&'a Value),
    /// A place of a custom kind that nobody describes.
    Unknown,
}

/// How a list or a map is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// As one value.
    Atomic,
    /// As a set of its elements.
    Set,
    /// By these fields of its elements; each with what it means if it is absent.
    Keyed(&'static [(&'static str, &'static str)]),
}

const NAME: Rule = Rule::Keyed(&[("name", "")]);
const TYPE: Rule = Rule::Keyed(&[("type", "")]);

/// The fields that are merged otherwise than by default. `pod` stands for every pod's spec, and
/// `pod.containers` also for the other lists of containers.
const RULES: &[(&str, Rule)] = &[
    ("metadata.finalizers", Rule::Set),
    ("metadata.ownerReferences", Rule::Keyed(&[("uid", "")])),
    ("metadata.ownerReferences.*", Rule::Atomic),
    ("pod.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", Rule::Atomic),
    ("pod.containers", NAME),
    ("pod.containers.*.env", NAME),
    ("pod.containers.*.env.*.valueFrom.configMapKeyRef", Rule::Atomic),
    ("pod.containers.*.env.*.valueFrom.fieldRef", Rule::Atomic),
    ("pod.containers.*.env.*.valueFrom.fileKeyRef", Rule::Atomic),
    ("pod.containers.*.env.*.valueFrom.resourceFieldRef", Rule::Atomic),
    ("pod.containers.*.env.*.valueFrom.secretKeyRef", Rule::Atomic),
    ("pod.containers.*.ports", Rule::Keyed(&[("containerPort", ""), ("protocol", "TCP")])),
    ("pod.containers.*.resources.claims", NAME),
    ("pod.containers.*.volumeDevices", Rule::Keyed(&[("devicePath", "")])),
    ("pod.containers.*.volumeMounts", Rule::Keyed(&[("mountPath", "")])),
    ("pod.hostAliases", Rule::Keyed(&[("ip", "")])),
    ("pod.imagePullSecrets", NAME),
    ("pod.imagePullSecrets.*", Rule::Atomic),
    ("pod.nodeSelector", Rule::Atomic),
    ("pod.resourceClaims", NAME),
    ("pod.schedulingGates", NAME),
    (
        "pod.topologySpreadConstraints",
        Rule::Keyed(&[("topologyKey", ""), ("whenUnsatisfiable", "")]),
    ),
    ("pod.topologySpreadConstraints.*.labelSelector", Rule::Atomic),
    ("pod.volumes", NAME),
    ("data of a ControllerRevision", Rule::Atomic),
    ("involvedObject", Rule::Atomic),
    ("related", Rule::Atomic),
    ("roleRef", Rule::Atomic),
    ("secrets", NAME),
    ("secrets.*", Rule::Atomic),
    ("spec.podSelector", Rule::Atomic),
    ("spec.ports", Rule::Keyed(&[("port", ""), ("protocol", "TCP")])),
    ("spec.selector", Rule::Atomic),
    ("status.conditions", TYPE),
    ("webhooks", NAME),
    ("webhooks.*.matchConditions", NAME),
    ("webhooks.*.namespaceSelector", Rule::Atomic),
    ("webhooks.*.objectSelector", Rule::Atomic),
];

impl<'a> Shape<'a> {
    /// The root of an object of a built-in kind.
    pub(crate) fn built_in(kind: &'a Kind) -> Self {
        Self::BuiltIn { kind: Some(kind), path: String::new() }
    }

    /// Returns the shape of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        match self {
            Self::BuiltIn { kind, path } => {
                Self::BuiltIn { kind: *kind, path: built_in_path(*kind, path, name) }
            }
            Self::CustomRoot(_) if name == "metadata" => {
                Self::BuiltIn { kind: None, path: name.to_owned() }
            }
            Self::CustomRoot(schema) | Self::Schema(schema) => {
                match (schema.at(&["properties", name]), schema.get("additionalProperties")) {
                    (Value::Null, values @ Value::Map(_)) => Self::Schema(values),
                    (Value::Null, _) => Self::Unknown,
                    (property, _) => Self::Schema(property),
                }
            }
            Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the shape of a list's elements.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::BuiltIn { kind, path } => {
                Self::BuiltIn { kind: *kind, path: format!("{path}.*") }
            }
            Self::CustomRoot(schema) | Self::Schema(schema) => Self::Schema(schema.get("items")),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Tells whether a field is named by the type, rather than a free key of a map.
    pub(super) fn declares(&self, name: &str) -> bool {
        match self {
            Self::BuiltIn { .. } => true,
            Self::CustomRoot(_) if name == "metadata" => true,
            Self::CustomRoot(schema) | Self::Schema(schema) => {
                !schema.at(&["properties", name]).is_null()
            }
            Self::Unknown => false,
        }
    }

    /// Tells whether a map is replaced as a whole.
    pub(super) fn is_atomic_map(&self) -> bool {
        match self {
            Self::BuiltIn { path, .. } => built_in_rule(path) == Some(Rule::Atomic),
            Self::Schema(schema) => schema.get("x-kubernetes-map-type").str() == "atomic",
            Self::CustomRoot(_) | Self::Unknown => false,
        }
    }

    /// Returns the steps to the elements of a list, or nothing if the list is replaced as a whole;
    /// a list whose elements have no keys, or the same ones twice, is.
    pub(super) fn steps(&self, elements: &[Value]) -> Option<Vec<Arc<str>>> {
        let steps: Vec<Arc<str>> = match self {
            Self::BuiltIn { path, .. } => match built_in_rule(path)? {
                Rule::Atomic => return None,
                Rule::Set => elements.iter().map(value_step).collect(),
                Rule::Keyed(keys) => {
                    let keys: Vec<_> =
                        keys.iter().map(|(name, default)| (*name, Value::text(default))).collect();
                    elements
                        .iter()
                        .map(|element| keyed_step(&keys, element))
                        .collect::<Option<_>>()?
                }
            },
            Self::Schema(schema) => match schema.get("x-kubernetes-list-type").str() {
                "set" => elements.iter().map(value_step).collect(),
                "map" => {
                    let names = schema.get("x-kubernetes-list-map-keys").iter_texts();
                    let default = |name: &str| schema.at(&["items", "properties", name, "default"]);
                    let keys: Vec<_> = names.map(|name| (name, default(name).clone())).collect();
                    elements
                        .iter()
                        .map(|element| keyed_step(&keys, element))
                        .collect::<Option<_>>()?
                }
                _ => return None,
            },
            Self::CustomRoot(_) | Self::Unknown => return None,
        };
        let mut sorted = steps.clone();
        sorted.sort_unstable();
        let has_twins = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        if has_twins { None } else { Some(steps) }
    }
}

fn keyed_step(keys: &[(&str, Value)], element: &Value) -> Option<Arc<str>> {
    let mut found = map! {};
    for (name, default) in keys {
        let value = match element.get(name) {
            Value::Null if default.is_empty() => continue,
            Value::Null => default,
            value => value,
        };
        found.set(&[name], value.clone());
    }
    if found.is_empty() { None } else { Some(key_step(&found)) }
}

fn built_in_rule(path: &str) -> Option<Rule> {
    RULES.iter().find(|(place, _)| *place == path).map(|(_, rule)| *rule)
}

fn built_in_path(kind: Option<&Kind>, path: &str, name: &str) -> String {
    let is = |wanted: &Kind| kind == Some(wanted);
    let has_template = is(&known::DEPLOYMENT) || is(&known::JOB);
    let special = match (path, name) {
        ("spec.template", "spec") if has_template => "pod",
        ("spec.template", "metadata") if has_template => "metadata",
        ("", "spec") if is(&known::POD) => "pod",
        ("pod", "initContainers" | "ephemeralContainers") => "pod.containers",
        // Upstream: the conditions of a Job are a list like any other.
        ("status", "conditions") if is(&known::JOB) => "status.conditions of a Job",
        ("", "data") if is(&known::CONTROLLER_REVISION) => "data of a ControllerRevision",
        ("", "secrets") if !is(&known::SERVICE_ACCOUNT) => "other secrets",
        ("", _) => name,
        (_, _) => return format!("{path}.{name}"),
    };
    special.to_owned()
}
