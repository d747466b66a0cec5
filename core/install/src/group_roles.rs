//! ClusterRoles for the people who use an operator's APIs.
//!
//! Each provided API has its own roles; the roles of an OperatorGroup collect those of its APIs by
//! their labels, which a cluster does by itself.

use std::{collections::BTreeSet, fmt};

use operon_object::{ApiKind, Kind, Object, OwnerReference, Value, list, map};

use crate::{
    api_service::api_service_name,
    names::{aggregation_label, operator_group_role_name},
    ownership::{label_owner, mark_managed},
    rbac::RBAC_VERSION,
    serving::owned_apis,
};

/// The three levels of access and their verbs.
const LEVELS: [(&str, &[&str]); 3] = [
    ("admin", &["*"]),
    ("edit", &["create", "update", "patch", "delete"]),
    ("view", &["get", "list", "watch"]),
];

/// Reasons why the roles of a provided API cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvidedApiFault {
    /// An owned CRD is not installed.
    CrdNotFound(String),
    /// An owned APIService is not installed.
    ApiServiceNotFound(String),
    /// The name of an owned CRD has no dot.
    CrdName(String),
}

impl fmt::Display for ProvidedApiFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CrdNotFound(name) => write!(formatter, "crd \"{name}\" not found"),
            Self::ApiServiceNotFound(name) => write!(formatter, "apiservice \"{name}\" not found"),
            Self::CrdName(name) => {
                write!(formatter, "invalid parsing of name '{name}', got [{name}]")
            }
        }
    }
}

impl std::error::Error for ProvidedApiFault {}

/// Returns the APIs that a ClusterServiceVersion provides: its owned CRDs and APIServices. CRDs whose
/// names have no dot are left out.
pub fn provided_apis(csv: &Object) -> BTreeSet<ApiKind> {
    let crds = owned_crds(csv).filter_map(|crd| {
        let (_, group) = crd.get("name").str().split_once('.')?;
        Some(api_kind(group, crd))
    });
    let apis = owned_apis(csv).map(|api| api_kind(api.get("group").str(), api));
    crds.chain(apis).collect()
}

/// Returns the three ClusterRoles of an OperatorGroup that provides some APIs.
pub fn operator_group_roles(group: &Object, apis: &BTreeSet<ApiKind>) -> [Object; 3] {
    LEVELS.map(|(suffix, _)| {
        let name = operator_group_role_name(group.namespace(), group.name(), suffix);
        let mut role = Object::new(RBAC_VERSION, "ClusterRole", "", &name);
        label_owner(&mut role, group);
        mark_managed(&mut role);
        let labels: BTreeSet<String> =
            apis.iter().map(|api| aggregation_label(api, suffix)).collect();
        let selectors =
            labels.iter().map(|label| map! { "matchLabels" => map! { label.as_str() => "true" } });
        if !labels.is_empty() {
            role.set(&["aggregationRule", "clusterRoleSelectors"], Value::list(selectors));
        }
        role
    })
}

/// Returns the ClusterRoles of the APIs that a ClusterServiceVersion provides.
///
/// They belong to the CRD or the APIService, so that they outlive an update of the operator.
/// `find_crd` and `find_api_service` find installed objects by their names.
pub fn provided_api_roles<'a>(
    csv: &Object,
    find_crd: impl Fn(&str) -> Option<&'a Object>,
    find_api_service: impl Fn(&str) -> Option<&'a Object>,
) -> Result<Vec<Object>, ProvidedApiFault> {
    let mut roles = Vec::new();
    for crd in owned_crds(csv) {
        let name = crd.get("name").str();
        let owner = find_crd(name).ok_or_else(|| ProvidedApiFault::CrdNotFound(name.to_owned()))?;
        let (plural, group) =
            name.split_once('.').ok_or_else(|| ProvidedApiFault::CrdName(name.to_owned()))?;
        let provided = ProvidedApi {
            prefix: format!("{name}-{}-", crd.get("version").str()),
            api: api_kind(group, crd),
            owner: owner.owner_reference(),
        };
        roles.extend(provided.roles(plural));
        roles.push(provided.crd_role(name));
    }
    for api in owned_apis(csv) {
        let name = api_service_name(api);
        let owner = find_api_service(&name).ok_or(ProvidedApiFault::ApiServiceNotFound(name))?;
        let plural = api.get("name").str();
        let provided = ProvidedApi {
            prefix: format!("{plural}-{}-", api.get("version").str()),
            api: api_kind(api.get("group").str(), api),
            owner: owner.owner_reference(),
        };
        roles.extend(provided.roles(plural));
    }
    Ok(roles)
}

/// An API that roles are made for.
struct ProvidedApi {
    prefix: String,
    api: ApiKind,
    owner: OwnerReference,
}

impl ProvidedApi {
    fn roles(&self, plural: &str) -> [Object; 3] {
        LEVELS.map(|(suffix, verbs)| {
            let rule = map! {
                "verbs" => Value::texts(verbs),
                "apiGroups" => list![self.api.kind.group()],
                "resources" => list![plural],
            };
            self.role(&format!("{}{suffix}", self.prefix), suffix, rule)
        })
    }

    /// Returns the role to read the CRD itself.
    fn crd_role(&self, crd: &str) -> Object {
        let rule = map! {
            "verbs" => list!["get"],
            "apiGroups" => list!["apiextensions.k8s.io"],
            "resources" => list!["customresourcedefinitions"],
            "resourceNames" => list![crd],
        };
        self.role(&format!("{}crdview", self.prefix), "view", rule)
    }

    fn role(&self, name: &str, suffix: &str, rule: Value) -> Object {
        let mut role = Object::new(RBAC_VERSION, "ClusterRole", "", name);
        role.set_label(&format!("rbac.authorization.k8s.io/aggregate-to-{suffix}"), "true");
        role.set_label(&aggregation_label(&self.api, suffix), "true");
        mark_managed(&mut role);
        role.add_owner(&self.owner);
        role.set(&["rules"], list![rule]);
        role
    }
}

fn owned_crds(csv: &Object) -> impl Iterator<Item = &Value> {
    csv.at(&["spec", "customresourcedefinitions", "owned"]).elements().iter()
}

fn api_kind(group: &str, description: &Value) -> ApiKind {
    ApiKind {
        kind: Kind::new(group, description.get("kind").str()),
        version: description.get("version").str().to_owned(),
    }
}
