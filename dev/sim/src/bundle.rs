//! Bundles from a few words: what a scenario says about an operator, and the manifests that follow.
//!
//! The manifests are complete, so that the same scenario runs on a real cluster; the container image is
//! never pulled in a simulation.

use std::collections::BTreeSet;

use operon_apiserver::WORKLOAD_ANNOTATION;
use operon_object::{Object, Value, list, map};

/// An API in words: `EtcdCluster.v1.etcd.example.com`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Api {
    /// The kind.
    pub kind: String,
    /// The version.
    pub version: String,
    /// The group.
    pub group: String,
}

/// A bundle in words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bundle {
    /// The package.
    pub package: String,
    /// The version.
    pub version: String,
    /// The APIs it provides.
    pub provides: Vec<Api>,
    /// The APIs it requires.
    pub requires: Vec<Api>,
    /// Other properties: types and values.
    pub properties: Vec<(String, Value)>,
    /// How its Deployment behaves, such as `ready`, `never`, `crash`.
    pub workload: String,
    /// More of its ClusterServiceVersion's spec.
    pub spec: Value,
    /// The versions that its CRDs serve beside the one it provides, their schemas, and the conversion, by
    /// kind.
    pub definitions: Value,
    /// Other objects.
    pub objects: Vec<Value>,
}

impl Api {
    /// Reads an API.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.').map(str::to_owned);
        Some(Self { kind: parts.next()?, version: parts.next()?, group: parts.next()? })
    }

    /// Returns the plural of its kind.
    pub fn plural(&self) -> String {
        format!("{}s", self.kind.to_lowercase())
    }

    fn value(&self) -> Value {
        map! {
            "group" => self.group.as_str(),
            "version" => self.version.as_str(),
            "kind" => self.kind.as_str(),
        }
    }

    fn definition_name(&self) -> String {
        format!("{}.{}", self.plural(), self.group)
    }

    fn description(&self) -> Value {
        map! {
            "name" => self.definition_name(),
            "version" => self.version.as_str(),
            "kind" => self.kind.as_str(),
            "displayName" => self.kind.as_str(),
        }
    }
}

impl Bundle {
    /// Returns its name: `etcd.v0.9.2`.
    pub fn name(&self) -> String {
        format!("{}.v{}", self.package, self.version)
    }

    /// Returns its objects, the ClusterServiceVersion first.
    pub fn objects(&self) -> Vec<Object> {
        let mut objects = vec![self.service_version()];
        // Several versions of a kind have one CRD.
        let mut names = BTreeSet::new();
        let defining = self.provides.iter().filter(|api| names.insert(api.definition_name()));
        objects.extend(defining.map(|api| self.definition(api)));
        let others = self.objects.iter().cloned();
        objects.extend(others.filter_map(|value| Object::from_value(value).ok()));
        objects
    }

    /// Returns its document in a catalog, with all its objects in it.
    pub fn document(&self, encode: impl Fn(&str) -> String) -> Value {
        let package =
            map! { "packageName" => self.package.as_str(), "version" => self.version.as_str() };
        let mut properties = vec![property("olm.package", package)];
        properties.extend(self.provides.iter().map(|api| property("olm.gvk", api.value())));
        properties
            .extend(self.requires.iter().map(|api| property("olm.gvk.required", api.value())));
        properties
            .extend(self.properties.iter().map(|(kind, value)| property(kind, value.clone())));
        let inline = self.objects().into_iter().map(|object| {
            let text = object.value().to_string();
            property("olm.bundle.object", map! { "data" => encode(&text) })
        });
        properties.extend(inline);
        map! {
            "schema" => "olm.bundle",
            "name" => self.name(),
            "package" => self.package.as_str(),
            "image" => "",
            "properties" => properties,
        }
    }

    fn service_version(&self) -> Object {
        let mut object =
            Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "", &self.name());
        let modes = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
        let modes = modes.iter().map(|mode| map! { "type" => *mode, "supported" => true });
        let descriptions = |apis: &[Api]| Value::list(apis.iter().map(Api::description));
        let account = format!("{}-operator", self.package);
        let rule = map! {
            "apiGroups" => list![""], "resources" => list!["configmaps"], "verbs" => list!["get", "list"],
        };
        let spec = map! {
            "displayName" => self.package.as_str(),
            "version" => self.version.as_str(),
            "installModes" => Value::list(modes),
            "customresourcedefinitions" => map! {
                "owned" => descriptions(&self.provides),
                "required" => descriptions(&self.requires),
            },
            "install" => map! {
                "strategy" => "deployment",
                "spec" => map! {
                    "deployments" => list![self.deployment(&account)],
                    "permissions" => list![
                        map! { "serviceAccountName" => account.as_str(), "rules" => list![rule] }
                    ],
                },
            },
        };
        object.set(&["spec"], spec);
        for (name, value) in self.spec.entries() {
            object.set(&["spec", name], value.clone());
        }
        object
    }

    fn deployment(&self, account: &str) -> Value {
        let labels = map! { "app" => account };
        let mut template = map! {
            "metadata" => map! { "labels" => labels.clone() },
            "spec" => map! {
                "serviceAccountName" => account,
                "containers" => list![map! {
                    "name" => "operator",
                    "image" => format!("example.com/{}:v{}", self.package, self.version),
                }],
            },
        };
        if !self.workload.is_empty() {
            template.set(&["metadata", "annotations", WORKLOAD_ANNOTATION], self.workload.as_str());
        }
        map! {
            "name" => account,
            "spec" => map! {
                "replicas" => 1,
                "selector" => map! { "matchLabels" => labels },
                "template" => template,
            },
        }
    }

    fn definition(&self, api: &Api) -> Object {
        let name = api.definition_name();
        let mut object =
            Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", &name);
        let open = map! { "type" => "object", "x-kubernetes-preserve-unknown-fields" => true };
        let given = self.definitions.get(&api.kind);
        let version = |name: &str, schema: &Value, served: bool, storage: bool| {
            map! {
                "name" => name, "served" => served, "storage" => storage,
                "schema" => map! { "openAPIV3Schema" => schema.clone() },
            }
        };
        let mut versions = vec![];
        for entry in given.get("versions").elements() {
            let schema = entry.get("schema");
            versions.push(version(
                entry.get("name").str(),
                if schema.is_null() { &open } else { schema },
                entry.get("served").as_bool().unwrap_or(true),
                entry.get("storage").as_bool().unwrap_or(false),
            ));
        }
        if versions.is_empty() {
            versions.push(version(&api.version, &open, true, true));
        }
        let spec = map! {
            "group" => api.group.as_str(),
            "scope" => "Namespaced",
            "names" => map! {
                "kind" => api.kind.as_str(),
                "listKind" => format!("{}List", api.kind),
                "plural" => api.plural(),
                "singular" => api.kind.to_lowercase(),
            },
            "versions" => versions,
        };
        object.set(&["spec"], spec);
        if !given.get("conversion").is_null() {
            object.set(&["spec", "conversion"], given.get("conversion").clone());
        }
        object
    }
}

fn property(kind: &str, value: Value) -> Value {
    map! { "type" => kind, "value" => value }
}
