//! The steps that bring one operator.
//!
//! Upstream: first the operator itself, which then waits for the rest; then its CRDs, the other
//! objects of the bundle, and the roles that its permissions ask for.

use operon_install::{
    AccountRbac, COMPONENT_LABEL_PREFIX, COPIED_FROM_LABEL, GoType, OWNER_KIND_LABEL, OWNER_LABEL,
    OWNER_NAMESPACE_LABEL, component_label, properties_annotation, rbac_for, typed_value,
};
use operon_kinds::names;
use operon_object::{Object, known, map};
use operon_resolve::{NewSubscription, SourceName};

use crate::{BundleContents, PlanFault, PlannedOperator};

/// One object that a plan writes.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// The operator it is written for.
    pub resolving: String,
    /// The catalog it comes from.
    pub source: SourceName,
    /// The object.
    pub object: Object,
}

/// Returns the steps that bring an operator into a namespace.
pub(crate) fn operator_steps(
    namespace: &str,
    operator: &PlannedOperator,
    bundle: &BundleContents,
) -> Result<Vec<PlannedStep>, PlanFault> {
    let addition = &operator.addition;
    let service_version = service_version(namespace, operator, bundle);
    let (definitions, others): (Vec<Object>, Vec<Object>) = bundle
        .objects
        .iter()
        .map(without_owners)
        .partition(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION);
    let rbac = rbac_for(&service_version, namespace).map_err(|error| PlanFault::Rules {
        operator: addition.name.clone(),
        reason: error.to_string(),
    })?;
    let mut objects = vec![service_version];
    objects.extend(definitions.into_iter().chain(others));
    objects.extend(rbac.into_iter().flat_map(rbac_objects));
    let label = component_label(&addition.package, namespace);
    objects.iter_mut().for_each(|object| object.set_label(&label, ""));
    let step = |object| PlannedStep {
        resolving: addition.name.clone(),
        source: addition.source.clone(),
        object,
    };
    Ok(objects.into_iter().map(step).collect())
}

/// Returns the step that creates the Subscription of a dependency.
pub(crate) fn subscription_step(namespace: &str, new: &NewSubscription) -> PlannedStep {
    let object = subscription_object(namespace, new);
    PlannedStep { resolving: new.starting_csv.clone(), source: new.source.clone(), object }
}

/// Returns the Subscription that follows a dependency from now on.
pub fn subscription_object(namespace: &str, new: &NewSubscription) -> Object {
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", "Subscription", namespace, &new.name);
    let spec = map! {
        "name" => new.package.as_str(),
        "channel" => new.channel.as_str(),
        "source" => new.source.name.as_str(),
        "sourceNamespace" => new.source.namespace.as_str(),
        "startingCSV" => new.starting_csv.as_str(),
        "installPlanApproval" => "Automatic",
    };
    object.set(&["spec"], spec);
    object
}

fn service_version(namespace: &str, operator: &PlannedOperator, bundle: &BundleContents) -> Object {
    let mut object = without_owners(&bundle.service_version);
    object.set_namespace(namespace);
    object.value_mut().remove(&["status"]);
    // Upstream writes what it has read into its own types, and many published operators are accepted
    // by a cluster only so: with empty texts in place of missing ones, and without misspelt fields.
    if let Ok(spec) = typed_value(GoType::CsvSpec, object.spec()) {
        object.set(&["spec"], spec);
    }
    match operator.addition.replaces.as_str() {
        "" => drop(object.value_mut().remove(&["spec", "replaces"])),
        replaces => object.set(&["spec", "replaces"], replaces),
    }
    let properties = properties_annotation(&operator.properties);
    object.set_annotation(names::PROPERTIES_ANNOTATION, &properties);
    object.set_label(names::MANAGED_LABEL, "true");
    object
}

/// Returns an object of a bundle without the labels that say whose it is: a plan sets these, and a
/// bundle that brings them would claim what belongs to others.
fn without_owners(object: &Object) -> Object {
    let owner_labels = [OWNER_LABEL, OWNER_KIND_LABEL, OWNER_NAMESPACE_LABEL, COPIED_FROM_LABEL];
    let is_owner_label =
        |name: &str| name.starts_with(COMPONENT_LABEL_PREFIX) || owner_labels.contains(&name);
    let mut object = object.clone();
    let labels: Vec<String> = object.labels().map(|(name, _)| name.to_owned()).collect();
    for name in labels.iter().filter(|name| is_owner_label(name)) {
        object.value_mut().remove(&["metadata", "labels", name]);
    }
    object
}

fn rbac_objects(rbac: AccountRbac) -> impl Iterator<Item = Object> {
    rbac.service_account
        .into_iter()
        .chain(rbac.roles)
        .chain(rbac.role_bindings)
        .chain(rbac.cluster_roles)
        .chain(rbac.cluster_role_bindings)
}
