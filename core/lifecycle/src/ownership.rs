//! Whose an object is.
//!
//! An object that exists is written, adopted and later deleted only by the operator it belongs to, or
//! by that operator's successor. Owner references and owner labels of the live object decide: whoever
//! could set them could as well write the object itself.

use std::collections::BTreeSet;

use operon_install::COMPONENT_LABEL_PREFIX;
use operon_kinds::{InstallPlan, Step, names};
use operon_object::{Kind, Object, known};

use crate::{objects::component_labels, scene::Scene};

/// The owner that an object is about to be written for: an operator, or a CatalogSource.
#[derive(Debug, Clone)]
pub struct Claimant {
    kind: Kind,
    namespace: String,
    name: String,
    /// Component labels that name this namespace, each after the operator's package.
    components: BTreeSet<String>,
    /// The operator itself, and those whose objects it takes over.
    family: BTreeSet<String>,
    /// The operator's ClusterServiceVersion, where the plan holds it.
    pub(crate) operator: Option<Object>,
}

impl Claimant {
    /// Returns the claim of an operator that exists, or that a plan is about to create.
    pub(crate) fn new(scene: &Scene<'_>, operator: &Object) -> Self {
        let mut claimant = Self {
            kind: known::CLUSTER_SERVICE_VERSION,
            namespace: scene.namespace.to_owned(),
            name: operator.name().to_owned(),
            components: component_labels(operator)
                .filter(|label| label.ends_with(&format!(".{}", scene.namespace)))
                .map(str::to_owned)
                .collect(),
            family: BTreeSet::from([operator.name().to_owned()]),
            operator: None,
        };
        // Operators without a package are related by `spec.replaces` alone.
        let mut replaced = scene.replaced_by(operator);
        while let Some(found) = replaced.filter(|found| claimant.family.insert(found.name().into()))
        {
            replaced = scene.replaced_by(found.object);
        }
        // Versions of one package follow each other in other ways too: a rollback goes backwards.
        let same_package =
            scene.operators.iter().filter(|other| shares_package(other.object, operator));
        claimant.family.extend(same_package.map(|other| other.name().to_owned()));
        claimant
    }

    /// Returns the claim of a CatalogSource on the objects of its pod.
    pub(crate) fn of_catalog(source: &Object) -> Self {
        Self {
            kind: known::CATALOG_SOURCE,
            namespace: source.namespace().to_owned(),
            name: source.name().to_owned(),
            components: BTreeSet::new(),
            family: BTreeSet::from([source.name().to_owned()]),
            operator: None,
        }
    }

    /// Returns the claim of the operator that a step belongs to.
    pub(crate) fn of_step(scene: &Scene<'_>, plan: InstallPlan<'_>, step: Step<'_>) -> Self {
        let is_operator = |other: &Step<'_>| {
            other.name() == step.resolving()
                && other.api_kind().kind == known::CLUSTER_SERVICE_VERSION
        };
        let planned = plan.steps().find(is_operator).and_then(|step| step.manifest().ok());
        match planned.and_then(|manifest| Object::from_value(manifest).ok()) {
            Some(operator) => {
                Self { operator: Some(operator.clone()), ..Self::new(scene, &operator) }
            }
            None => {
                let kind = "ClusterServiceVersion";
                let version = "operators.coreos.com/v1alpha1";
                Self::new(scene, &Object::new(version, kind, scene.namespace, step.resolving()))
            }
        }
    }

    /// Returns `true` if an owner of the claimant's kind is the claimant or a predecessor.
    pub(crate) fn is_family(&self, namespace: &str, name: &str) -> bool {
        namespace == self.namespace && self.family.contains(name)
    }

    /// Returns why an object that exists must be left alone; nothing if it may be written.
    pub fn refusal(&self, live: &Object) -> Option<String> {
        let owner = match owner_of(live, &self.kind) {
            Owner::Peers(owners) => {
                if owners.iter().any(|(namespace, name)| self.is_family(namespace, name)) {
                    return None;
                }
                let (namespace, name) = owners.first()?;
                format!("belongs to {} {namespace}/{name}", self.kind.name())
            }
            Owner::Other(owner) => format!("belongs to {owner}"),
            Owner::None => "is not managed by Operon".to_owned(),
        };
        if self.is_handed_over(live) {
            return None;
        }
        let package = self.package();
        let mut message = format!(
            "{} already exists and {owner}: {} must not overwrite it; delete or rename it",
            live.key(),
            self.name
        );
        if !package.is_empty() {
            message.push_str(&format!(
                ", or annotate it with {}={package} to hand it over",
                names::ADOPT_ANNOTATION
            ));
        }
        Some(message)
    }

    /// Returns `true` if an object's labels name the claimant's package, in this namespace.
    pub(crate) fn is_labelled(&self, live: &Object) -> bool {
        component_labels(live).any(|label| self.components.contains(label))
    }

    /// Returns `true` if an object's labels name the claimant's package, in any namespace.
    pub(crate) fn is_of_package(&self, live: &Object) -> bool {
        let package = self.package();
        // A namespace has no dots in its name.
        let mut packages = component_labels(live).filter_map(|label| {
            label.strip_prefix(COMPONENT_LABEL_PREFIX)?.rsplit_once('.').map(|(name, _)| name)
        });
        self.is_labelled(live) || (!package.is_empty() && packages.any(|name| name == package))
    }

    /// Returns `true` if an administrator handed an object over to the claimant's package.
    pub(crate) fn is_handed_over(&self, live: &Object) -> bool {
        let package = self.package();
        !package.is_empty() && live.annotation(names::ADOPT_ANNOTATION) == Some(package)
    }

    pub(crate) fn package(&self) -> &str {
        let suffix = format!(".{}", self.namespace);
        let mut components = self.components.iter();
        let label = components.next().map_or("", String::as_str);
        let name = label.strip_prefix(COMPONENT_LABEL_PREFIX).unwrap_or_default();
        name.strip_suffix(suffix.as_str()).unwrap_or_default()
    }
}

/// Returns `true` if two operators are versions of one package, so that one may replace the other.
///
/// The component labels decide, which plans set and bundles cannot. `spec.replaces` proves nothing: a
/// bundle may name the operator of any other package there. Two operators that users created, and that
/// are of no package, may replace each other.
pub(crate) fn is_same_package(one: &Object, other: &Object) -> bool {
    let is_of_none = |operator: &Object| component_labels(operator).next().is_none();
    shares_package(one, other) || (is_of_none(one) && is_of_none(other))
}

fn shares_package(one: &Object, other: &Object) -> bool {
    component_labels(one).any(|label| component_labels(other).any(|known| known == label))
}

enum Owner {
    /// Owners of the claimant's kind, by namespace and name.
    Peers(Vec<(String, String)>),
    /// Something else, for people.
    Other(String),
    None,
}

fn owner_of(live: &Object, kind: &Kind) -> Owner {
    let mut peers: Vec<(String, String)> = live
        .owners()
        .filter(|owner| owner.kind == kind.name())
        .map(|owner| (live.namespace().to_owned(), owner.name))
        .collect();
    let labelled = live.label(names::OWNER_KIND_LABEL);
    let (namespace, name) =
        (live.label(names::OWNER_NAMESPACE_LABEL), live.label(names::OWNER_LABEL));
    if labelled == kind.name() {
        peers.push((namespace.to_owned(), name.to_owned()));
    }
    if !peers.is_empty() {
        return Owner::Peers(peers);
    }
    match live.owners().next() {
        Some(owner) => Owner::Other(format!("{} {}", owner.kind, owner.name)),
        None if !labelled.is_empty() => Owner::Other(format!("{labelled} {namespace}/{name}")),
        None => Owner::None,
    }
}
