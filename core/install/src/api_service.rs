//! The APIServices that a ClusterServiceVersion owns.
//!
//! Whether an APIService answers is told by its own status, which is not read here.

use std::fmt;

use operon_object::{Object, Value, known, map};

use crate::{
    names::service_name,
    ownership::{
        OWNER_KIND_LABEL, OWNER_LABEL, OWNER_NAMESPACE_LABEL, has_owner_labels, label_owner,
        mark_managed,
    },
    serving::served_port,
};

/// An APIService that belongs to somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAdoptable {
    /// The APIService's name.
    pub name: String,
}

impl fmt::Display for NotAdoptable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "pre-existing APIService {} is not adoptable", self.name)
    }
}

impl std::error::Error for NotAdoptable {}

/// Returns the name of the APIService of an entry of `apiservicedefinitions`.
pub fn api_service_name(description: &Value) -> String {
    format!("{}.{}", description.get("version").str(), description.get("group").str())
}

/// Returns the APIService for an entry of `apiservicedefinitions.owned`.
///
/// `ca_bundle` is the CA certificate's PEM text in base64, as the object holds it. An installed
/// APIService keeps all else that it says; `annotations` of the Subscription's configuration are put
/// on a new one only. `find_csv` finds a ClusterServiceVersion by namespace and name.
pub fn api_service<'a>(
    csv: &Object,
    description: &Value,
    ca_bundle: &str,
    annotations: &Value,
    live: Option<&Object>,
    find_csv: impl Fn(&str, &str) -> Option<&'a Object>,
) -> Result<Object, NotAdoptable> {
    let name = api_service_name(description);
    let mut object = match live {
        Some(live) if is_api_service_adoptable(csv, live, find_csv) => live.clone(),
        Some(_) => return Err(NotAdoptable { name }),
        None => new_api_service(&name, description, annotations),
    };
    label_owner(&mut object, csv);
    mark_managed(&mut object);
    let service = map! {
        "namespace" => csv.namespace(),
        "name" => service_name(description.get("deploymentName").str()),
        "port" => served_port(description),
    };
    object.set(&["spec", "service"], service);
    object.set(&["spec", "caBundle"], ca_bundle);
    Ok(object)
}

/// Tells whether an installed APIService may be taken over by a ClusterServiceVersion: it is its own,
/// or that of the one it replaces, or that of one that is going away from its namespace.
pub fn is_api_service_adoptable<'a>(
    csv: &Object,
    api_service: &Object,
    find_csv: impl Fn(&str, &str) -> Option<&'a Object>,
) -> bool {
    let owner_name = api_service.label(OWNER_LABEL);
    let owner_namespace = api_service.label(OWNER_NAMESPACE_LABEL);
    let is_named = !owner_name.is_empty() && !owner_namespace.is_empty();
    let kind = api_service.label(OWNER_KIND_LABEL);
    if !is_named || kind != known::CLUSTER_SERVICE_VERSION.name() {
        return false;
    }
    let replaced = find_csv(csv.namespace(), csv.at(&["spec", "replaces"]).str());
    // One of another namespace belongs to other people, who may bring its successor at any time.
    let neighbour = (owner_namespace == csv.namespace()).then_some(owner_name);
    let leaving = neighbour
        .and_then(|name| find_csv(owner_namespace, name))
        .filter(|owner| matches!(owner.at(&["status", "phase"]).str(), "Replacing" | "Deleting"));
    [Some(csv), replaced, leaving]
        .into_iter()
        .flatten()
        .any(|owner| has_owner_labels(api_service, owner))
}

fn new_api_service(name: &str, description: &Value, annotations: &Value) -> Object {
    let mut object = Object::new("apiregistration.k8s.io/v1", "APIService", "", name);
    for (annotation, value) in annotations.entries() {
        object.set_annotation(annotation, value.str());
    }
    let spec = map! {
        "group" => description.get("group").str(),
        "version" => description.get("version").str(),
        "groupPriorityMinimum" => 2000_i64,
        "versionPriority" => 15_i64,
    };
    object.set(&["spec"], spec);
    object
}
