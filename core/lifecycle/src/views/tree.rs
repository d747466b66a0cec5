//! Which operator depends on which.

use operon_constraint::{Constraint, Requirement};
use operon_kinds::{Phase, names};
use operon_object::known;
use operon_resolve::{Budget, Spent};

use crate::{
    Objects,
    dependencies::{
        Operator, OperatorSet, Providers, limited_budget, running_operators, served_apis,
    },
};

/// An operator and what it needs.
#[derive(Debug, Clone, PartialEq)]
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
    /// What it needs: APIs, then packages, then everything else.
    pub needs: Vec<OperatorNeed>,
}

/// A requirement of an operator.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorNeed {
    /// What is required, as part of a sentence.
    pub text: String,
    /// What is required; `None` if it cannot be read.
    pub constraint: Option<Constraint>,
    /// Whether it is met.
    pub state: NeedState,
}

/// Whether a requirement is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedState {
    /// These take part in meeting it; none where it only excludes.
    Met(Vec<Provider>),
    /// It is not met.
    Unmet,
    /// This cannot be said, for this reason.
    Unknown(String),
}

/// What takes part in meeting a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    /// An operator: its namespace and its name.
    Operator(String, String),
    /// The cluster itself: there is a CRD, but no operator that owns it.
    Cluster,
}

impl OperatorNeed {
    /// Returns what takes part in meeting it.
    pub fn providers(&self) -> &[Provider] {
        match &self.state {
            NeedState::Met(providers) => providers,
            NeedState::Unmet | NeedState::Unknown(_) => &[],
        }
    }
}

/// Returns the operators of a namespace, or of all, with what they need, sorted by namespace and name.
pub fn tree(objects: &Objects, namespace: Option<&str>) -> Vec<OperatorNode> {
    let operators = running_operators(objects);
    let served = objects.all(&known::CUSTOM_RESOURCE_DEFINITION).flat_map(served_apis);
    let running = OperatorSet::new(&operators, []);
    let with_definitions = OperatorSet::new(&operators, served);
    let sets = [&running, &with_definitions];
    let wanted = operators
        .iter()
        .filter(|operator| namespace.is_none_or(|name| operator.namespace() == name));
    wanted.map(|operator| node(objects, operator, sets)).collect()
}

fn node(objects: &Objects, operator: &Operator<'_>, sets: [&OperatorSet<'_>; 2]) -> OperatorNode {
    let subscription = objects
        .within(&known::SUBSCRIPTION, operator.namespace())
        .find(|object| object.status().get("installedCSV").str() == operator.name());
    OperatorNode {
        namespace: operator.namespace().to_owned(),
        name: operator.name().to_owned(),
        package: operator.running.package().unwrap_or_default().to_owned(),
        version: operator.service_version.version_text().to_owned(),
        phase: operator.service_version.phase(),
        was_generated: subscription
            .is_some_and(|object| object.annotation(names::GENERATED_BY_ANNOTATION).is_some()),
        subscription: subscription.map(|object| object.name().to_owned()).unwrap_or_default(),
        needs: needs(operator, sets),
    }
}

fn needs(operator: &Operator<'_>, sets: [&OperatorSet<'_>; 2]) -> Vec<OperatorNeed> {
    let mut budget = limited_budget();
    let mut needs: Vec<OperatorNeed> = operator
        .running
        .requirements()
        .iter()
        .map(|requirement| OperatorNeed {
            text: requirement.to_string(),
            state: state(operator, requirement, sets, &mut budget).unwrap_or_else(|_| {
                NeedState::Unknown("it is too expensive to evaluate".to_owned())
            }),
            constraint: Some(requirement.clone()),
        })
        .collect();
    needs.sort_by_cached_key(order);
    needs.extend(operator.unreadable.iter().map(|unreadable| OperatorNeed {
        text: unreadable.clone(),
        constraint: None,
        state: NeedState::Unknown("it cannot be read".to_owned()),
    }));
    needs
}

fn state(
    operator: &Operator<'_>,
    requirement: &Constraint,
    sets: [&OperatorSet<'_>; 2],
    budget: &mut Budget,
) -> Result<NeedState, Spent> {
    for set in sets {
        if let Some(Providers { operators, is_cluster }) =
            set.providers(operator, requirement, budget)?
        {
            let operators = operators.iter().map(|provider| {
                Provider::Operator(provider.namespace().to_owned(), provider.name().to_owned())
            });
            let cluster = is_cluster.then_some(Provider::Cluster);
            return Ok(NeedState::Met(operators.chain(cluster).collect()));
        }
    }
    Ok(NeedState::Unmet)
}

/// APIs come in the order of their groups.
fn order(need: &OperatorNeed) -> (usize, String, String) {
    match need.constraint.as_ref().map(|constraint| &constraint.requirement) {
        Some(Requirement::Gvk(api)) => {
            (0, api.group.clone(), format!("{} {}", api.version, api.kind))
        }
        Some(Requirement::Package { .. }) => (1, String::new(), need.text.clone()),
        Some(_) | None => (2, String::new(), need.text.clone()),
    }
}
