//! What a bundle is and what it would do to a cluster: APIs, rights, deployments, webhooks, size.
//!
//! A summary holds what people ask before they install; how it is laid out is not decided here.

mod danger;
mod deployment;
mod rights;
mod webhook;

use std::collections::BTreeSet;

use operon_object::{Object, Value};
use operon_schema::{Definition, Scope};

use crate::{
    BundleFile, BundleSource, Property, RelatedImage,
    property::Gvk,
    render::{package_value, provided_apis, required_apis},
    validate::measure,
};

pub(crate) use self::rights::granted_rules;
pub use self::{
    deployment::{ContainerSummary, DeploymentSummary},
    rights::{MAX_RIGHTS, Right, RightScope},
    webhook::WebhookSummary,
};

/// What a bundle is and brings.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleSummary {
    /// `metadata.name` of the ClusterServiceVersion.
    pub name: String,
    /// The package it belongs to.
    pub package: String,
    /// Its version, as written.
    pub version: String,
    /// Its release; empty if there is none.
    pub release: String,
    /// What people call it.
    pub display_name: String,
    /// The channels it is meant for.
    pub channels: Vec<String>,
    /// The default channel of the package; empty if none is named.
    pub default_channel: String,
    /// The bundle it replaces; empty if there is none.
    pub replaces: String,
    /// The range of versions it can follow directly; empty if there is none.
    pub skip_range: String,
    /// The oldest Kubernetes it runs on; empty if it does not say.
    pub min_kube_version: String,
    /// The install modes it supports, in the order they are written.
    pub install_modes: Vec<String>,
    /// The APIs it brings, sorted.
    pub provided_apis: Vec<Api>,
    /// The APIs it needs, sorted.
    pub required_apis: Vec<Api>,
    /// Its other needs: type and value as compact JSON.
    pub dependencies: Vec<Property>,
    /// The rights its accounts get, sorted.
    pub rights: Vec<Right>,
    /// Says that there are more rights than [`MAX_RIGHTS`], of which the rest is not listed.
    pub has_more_rights: bool,
    /// The deployments it installs, in the order they are written.
    pub deployments: Vec<DeploymentSummary>,
    /// The images that must be mirrored along with it, as the ClusterServiceVersion lists them.
    pub related_images: Vec<RelatedImage>,
    /// The webhooks it installs.
    pub webhooks: Vec<WebhookSummary>,
    /// The CRDs it installs, by name.
    pub definitions: Vec<DefinitionSummary>,
    /// The other objects it installs, in the order of files.
    pub objects: Vec<ObjectSummary>,
    /// How large its manifests are.
    pub size: BundleSize,
}

/// An API by group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Api {
    /// The group, such as `etcd.database.coreos.com`.
    pub group: String,
    /// The kind, such as `EtcdCluster`.
    pub kind: String,
    /// The version, such as `v1beta2`.
    pub version: String,
}

/// A CRD of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionSummary {
    /// Its name, `<plural>.<group>`.
    pub name: String,
    /// Says that its objects lie in no namespace.
    pub is_cluster_wide: bool,
    /// Its versions, in the order they are written.
    pub versions: Vec<VersionSummary>,
}

/// A version of a CRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionSummary {
    /// Its name, such as `v1alpha1`.
    pub name: String,
    /// Says whether it can be asked for.
    pub is_served: bool,
    /// Says whether objects are stored in it.
    pub is_stored: bool,
}

/// An object of a bundle that is neither the ClusterServiceVersion nor a CRD.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectSummary {
    /// The group and version of its API.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// How large the manifests of a bundle are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleSize {
    /// All bytes, as they are.
    pub bytes: usize,
    /// All bytes, compressed with gzip, which is what upstream limits.
    pub compressed: usize,
}

/// Summarizes a bundle.
///
/// What does not fit its form is left out; validating tells of it.
pub fn summarize(source: &BundleSource, files: &[BundleFile]) -> BundleSummary {
    let csv = service_version(source);
    let spec = csv.get("spec");
    let package = package_value(source);
    let (rights, has_more_rights) = rights::of(source, &csv);
    let (bytes, compressed) = measure(files);
    let modes = spec.get("installModes").elements().iter();
    let mut definitions: Vec<DefinitionSummary> = definitions(source)
        .filter_map(|object| Definition::read(&object).ok())
        .map(|definition| summarize_definition(&definition))
        .collect();
    definitions.sort_by(|left, right| left.name.cmp(&right.name));
    BundleSummary {
        name: source.service_version.name.clone(),
        package: package.package_name,
        version: package.version,
        release: package.release,
        display_name: source.service_version.display_name.clone(),
        channels: source.annotations.channels.clone(),
        default_channel: source.annotations.default_channel.clone(),
        replaces: source.service_version.replaces.clone(),
        skip_range: source.service_version.skip_range.clone(),
        min_kube_version: spec.get("minKubeVersion").str().to_owned(),
        install_modes: modes
            .filter(|mode| mode.get("supported").as_bool() == Some(true))
            .map(|mode| mode.get("type").str().to_owned())
            .collect(),
        provided_apis: provided_apis(source).into_iter().map(Api::from).collect(),
        required_apis: required_apis(source).into_iter().map(Api::from).collect(),
        dependencies: source
            .dependencies
            .iter()
            .filter(|dependency| dependency.property_type != "olm.gvk")
            .cloned()
            .collect(),
        rights,
        has_more_rights,
        deployments: deployment::read(spec),
        related_images: source.service_version.related_images.clone(),
        webhooks: webhook::read(spec),
        definitions,
        objects: others(source),
        size: BundleSize { bytes, compressed },
    }
}

impl BundleSummary {
    /// Returns every image that its deployments run, each once, sorted.
    pub fn images(&self) -> BTreeSet<&str> {
        let containers = self.deployments.iter().flat_map(|deployment| &deployment.containers);
        containers.map(|container| container.image.as_str()).collect()
    }
}

impl From<Gvk> for Api {
    fn from(gvk: Gvk) -> Self {
        Self { group: gvk.group, kind: gvk.kind, version: gvk.version }
    }
}

/// Returns the ClusterServiceVersion as a tree.
pub(crate) fn service_version(source: &BundleSource) -> Value {
    let manifest = source.manifests.iter().find(|manifest| {
        (&manifest.file, &manifest.range)
            == (&source.service_version.file, &source.service_version.range)
    });
    manifest.and_then(|manifest| Value::parse_json(&manifest.json).ok()).unwrap_or_default()
}

/// Returns the CRDs as objects.
pub(crate) fn definitions(source: &BundleSource) -> impl Iterator<Item = Object> {
    let is_definition = |kind: &str| kind == "CustomResourceDefinition";
    let definitions = source.manifests.iter().filter(move |manifest| is_definition(&manifest.kind));
    definitions.filter_map(|manifest| {
        let root = Value::parse_json(&manifest.json).ok()?;
        Object::from_value(root).ok()
    })
}

fn summarize_definition(definition: &Definition) -> DefinitionSummary {
    let versions = definition.versions.iter().map(|version| VersionSummary {
        name: version.name.clone(),
        is_served: version.is_served,
        is_stored: version.is_storage,
    });
    DefinitionSummary {
        name: definition.name.clone(),
        is_cluster_wide: definition.scope == Scope::Cluster,
        versions: versions.collect(),
    }
}

fn others(source: &BundleSource) -> Vec<ObjectSummary> {
    let is_other =
        |kind: &str| !matches!(kind, "ClusterServiceVersion" | "CustomResourceDefinition");
    let others = source.manifests.iter().filter(|manifest| is_other(&manifest.kind));
    others
        .map(|manifest| ObjectSummary {
            api_version: manifest.api_version.clone(),
            kind: manifest.kind.clone(),
            name: manifest.name.clone(),
        })
        .collect()
}
