//! What an operator requires of the cluster, and whether it is there.
//!
//! The result is shown in the operator's status, so every requirement has an entry, met or not.

mod definitions;
mod kube_version;
mod permissions;

use operon_constraint::GroupVersionKind;
use operon_kinds::ServiceVersion;
use operon_object::{Value, known, map};

use crate::scene::Scene;

/// What an operator requires.
#[derive(Debug, Default)]
pub(super) struct Requirements {
    /// Whether everything is there.
    pub(super) are_met: bool,
    /// The entries of the operator's status.
    pub(super) status: Vec<Value>,
}

/// One entry of an operator's requirement status.
#[derive(Debug)]
struct Requirement {
    group: String,
    version: String,
    kind: String,
    name: String,
    status: &'static str,
    message: String,
    uid: String,
    dependents: Vec<Value>,
    is_met: bool,
}

/// Looks at everything that an operator requires, or says what is wrong with what it says.
pub(super) fn look_at(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
) -> Result<Requirements, String> {
    let mut found = Vec::new();
    found.extend(kube_version::requirement(scene, operator));
    found.extend(definitions::requirements(scene, operator));
    found.extend(api_services(scene, operator));
    found.extend(native_apis(scene, operator));
    found.extend(permissions::requirements(scene, operator)?);
    Ok(Requirements {
        are_met: found.iter().all(|requirement| requirement.is_met),
        status: found.into_iter().map(Requirement::lift).collect(),
    })
}

/// Lists the requirements on the cluster that it does not meet: its version, and its native APIs. No plan can
/// change these. What is unknown about the cluster counts as met.
pub(super) fn lacking(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Vec<String> {
    let settings = scene.world.settings;
    let version = Some(()).filter(|()| !settings.kube_version.is_empty());
    let version = version.and_then(|()| kube_version::requirement(scene, operator));
    let native = match settings.native_apis {
        Some(_) => native_apis(scene, operator),
        None => Vec::new(),
    };
    let lacking = version.into_iter().chain(native).filter(|requirement| !requirement.is_met);
    lacking
        .map(|Requirement { group, version, kind, message, .. }| match kind.as_str() {
            "ClusterServiceVersion" => message,
            _ => format!("{message}: {kind}.{version} ({group})"),
        })
        .collect()
}

impl Requirement {
    fn new(kind: (&str, &str, &str), name: &str, is_met: bool) -> Self {
        let (group, version, kind) = kind;
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            status: if is_met { "Present" } else { "NotPresent" },
            message: String::new(),
            uid: String::new(),
            dependents: Vec::new(),
            is_met,
        }
    }

    fn say(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    fn with_status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    fn lift(self) -> Value {
        let mut entry = map! {
            "group" => self.group,
            "version" => self.version,
            "kind" => self.kind,
            "name" => self.name,
            "status" => self.status,
            "message" => self.message,
        };
        if !self.uid.is_empty() {
            entry.set(&["uuid"], self.uid);
        }
        if !self.dependents.is_empty() {
            entry.set(&["dependents"], self.dependents);
        }
        entry
    }
}

fn api_services(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Vec<Requirement> {
    let lists = operator.object.spec().get("apiservicedefinitions");
    let mut found = Vec::new();
    let kind = ("apiregistration.k8s.io", "v1", "APIService");
    let name_of = |entry: &Value| operon_install::api_service_name(entry);
    let owned: Vec<String> = lists.get("owned").elements().iter().map(name_of).collect();
    for entry in lists.get("required").elements() {
        let name = name_of(entry);
        if owned.contains(&name) {
            continue;
        }
        let is_served = serves(scene, &api_of(entry));
        let live = scene.world.objects.get(&known::API_SERVICE, "", &name);
        let is_available = live.is_some_and(|live| {
            let available = operon_kinds::condition(live.status(), "Available");
            available.get("status").str() == "True"
        });
        found.push(Requirement::new(kind, &name, is_served || is_available));
    }
    for entry in lists.get("owned").elements() {
        let deployment = entry.get("deploymentName").str();
        let is_known =
            operator.deployments().iter().any(|known| known.get("name").str() == deployment);
        let status = if is_known { "DeploymentFound" } else { "DeploymentNotFound" };
        found.push(Requirement::new(kind, &name_of(entry), is_known).with_status(status));
    }
    found
}

fn native_apis(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Vec<Requirement> {
    let listed = operator.object.spec().get("nativeAPIs").elements().iter();
    listed
        .map(|entry| {
            let api = api_of(entry);
            let is_served = serves(scene, &api);
            let message = if is_served { "Native API exists" } else { "Native API does not exist" };
            let kind = (api.group.as_str(), api.version.as_str(), api.kind.as_str());
            let name = entry.get("name").str();
            Requirement::new(kind, name, is_served).say(message)
        })
        .collect()
}

fn api_of(entry: &Value) -> GroupVersionKind {
    let text = |name| entry.get(name).str().to_owned();
    GroupVersionKind { group: text("group"), version: text("version"), kind: text("kind") }
}

/// Tells whether the cluster serves an API, by itself or through a CRD.
fn serves(scene: &Scene<'_>, api: &GroupVersionKind) -> bool {
    if scene.world.settings.native_apis.as_ref().is_some_and(|native| native.contains(api)) {
        return true;
    }
    let definitions = scene.world.objects.all(&known::CUSTOM_RESOURCE_DEFINITION);
    definitions.into_iter().any(|definition| {
        let spec = definition.spec();
        spec.get("group").str() == api.group
            && spec.at(&["names", "kind"]).str() == api.kind
            && definitions::serves_version(definition, &api.version)
    })
}
