//! Who needs whom.

use operon_kinds::{Phase, ServiceVersion, names};
use operon_object::known;

use super::needs::{Need, needs_of, package_of};
use crate::Objects;

/// An operator and what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorNode {
    /// The namespace.
    pub namespace: String,
    /// The name of its ClusterServiceVersion.
    pub name: String,
    /// The package, where it is known.
    pub package: String,
    /// The version.
    pub version: String,
    /// How far it has come.
    pub phase: Phase,
    /// The Subscription that it belongs to; empty for none.
    pub subscription: String,
    /// Whether that Subscription was made for an operator that needs it, and by nobody.
    pub was_generated: bool,
    /// What it needs, and who gives it.
    pub needs: Vec<(Need, Provider)>,
}

/// Who meets a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    /// An operator: its namespace and its name.
    Operator(String, String),
    /// The cluster itself: there is a CRD, but no operator that owns it.
    Cluster,
    /// Nobody.
    Nobody,
}

/// Returns the operators of a namespace, or of all, with what they need, sorted by namespace and name.
pub fn tree(objects: &Objects, namespace: Option<&str>) -> Vec<OperatorNode> {
    let all: Vec<ServiceVersion<'_>> = running(objects).collect();
    let wanted = all
        .iter()
        .filter(|operator| namespace.is_none_or(|name| operator.object.namespace() == name));
    wanted.map(|operator| node(objects, *operator, &all)).collect()
}

/// Returns every operator of a cluster that is no copy and is not going away.
pub(super) fn running(objects: &Objects) -> impl Iterator<Item = ServiceVersion<'_>> {
    objects
        .all(&known::CLUSTER_SERVICE_VERSION)
        .map(ServiceVersion::read)
        .filter(|operator| !operator.is_copied() && !operator.object.is_deleting())
}

fn node(
    objects: &Objects,
    operator: ServiceVersion<'_>,
    all: &[ServiceVersion<'_>],
) -> OperatorNode {
    let namespace = operator.object.namespace();
    let subscription = objects
        .within(&known::SUBSCRIPTION, namespace)
        .find(|object| object.status().get("installedCSV").str() == operator.name());
    let (package, _) = package_of(operator).unwrap_or_default();
    OperatorNode {
        namespace: namespace.to_owned(),
        name: operator.name().to_owned(),
        package,
        version: operator.version_text().to_owned(),
        phase: operator.phase(),
        was_generated: subscription
            .is_some_and(|object| object.annotation(names::GENERATED_BY_ANNOTATION).is_some()),
        subscription: subscription.map(|object| object.name().to_owned()).unwrap_or_default(),
        needs: needs_of(operator)
            .into_iter()
            .map(|need| {
                let provider = provider(objects, &need, operator, all);
                (need, provider)
            })
            .collect(),
    }
}

/// Finds who meets a need: an operator of the same namespace first.
fn provider(
    objects: &Objects,
    need: &Need,
    operator: ServiceVersion<'_>,
    all: &[ServiceVersion<'_>],
) -> Provider {
    let own = operator.object.namespace();
    let others = || all.iter().filter(|other| other.name() != operator.name());
    let meets = |other: &&&ServiceVersion<'_>| need.is_met_by(***other);
    let here = others().filter(|other| other.object.namespace() == own).find(|other| meets(&other));
    let found = here.or_else(|| others().find(|other| meets(&other)));
    match found {
        Some(other) => {
            Provider::Operator(other.object.namespace().to_owned(), other.name().to_owned())
        }
        None if is_served(objects, need) => Provider::Cluster,
        None => Provider::Nobody,
    }
}

fn is_served(objects: &Objects, need: &Need) -> bool {
    let Need::Api { group, version, kind } = need else { return false };
    objects.all(&known::CUSTOM_RESOURCE_DEFINITION).any(|definition| {
        let spec = definition.spec();
        let serves = |entry: &operon_object::Value| {
            entry.get("name").str() == version && entry.get("served").as_bool() == Some(true)
        };
        spec.get("group").str() == group
            && spec.at(&["names", "kind"]).str() == kind
            && spec.get("versions").elements().iter().any(serves)
    })
}
