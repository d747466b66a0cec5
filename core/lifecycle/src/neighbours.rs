//! What other namespaces need of this one.
//!
//! CRDs are there for the whole cluster, while a namespace is resolved alone: an update that takes an
//! API away, or stops to serve a version of it, is held while an operator elsewhere needs it.

use std::collections::BTreeSet;

use operon_constraint::GroupVersionKind;
use operon_kinds::{ServiceVersion, provided_apis, required_apis};
use operon_object::{Object, known};
use operon_plan::Draft;

use crate::{outlook::Hold, scene::Scene};

/// Holds a draft that takes away what an operator of another namespace needs.
pub(crate) fn hold(scene: &Scene<'_>, draft: &Draft) -> Option<Hold> {
    let lost = lost_apis(scene, draft);
    if lost.is_empty() {
        return None;
    }
    let mut harmed = Vec::new();
    let elsewhere = scene
        .world
        .objects
        .all(&known::CLUSTER_SERVICE_VERSION)
        .filter(|object| object.namespace() != scene.namespace)
        .map(ServiceVersion::read)
        .filter(|operator| !operator.is_copied());
    let elsewhere: Vec<ServiceVersion<'_>> = elsewhere.collect();
    for operator in &elsewhere {
        for api in apis(required_apis(operator.object.spec())) {
            let is_harmed =
                lost.contains(&api) && !elsewhere.iter().any(|other| provides(*other, &api));
            if is_harmed {
                harmed.push(format!(
                    "{} in namespace {} needs API {}.{} ({})",
                    operator.name(),
                    operator.object.namespace(),
                    api.kind,
                    api.version,
                    api.group
                ));
            }
        }
    }
    if harmed.is_empty() {
        return None;
    }
    let operators: Vec<&str> =
        draft.operators.iter().map(|operator| operator.addition.name.as_str()).collect();
    Some(Hold {
        reason: "NeededElsewhere",
        message: format!(
            "{} would take away what runs elsewhere: {}",
            operators.join(" and "),
            harmed.join("; ")
        ),
    })
}

/// Returns the APIs that are provided or served now and would not be any more.
fn lost_apis(scene: &Scene<'_>, draft: &Draft) -> BTreeSet<GroupVersionKind> {
    let written = draft.steps.iter().map(|step| &step.object);
    let operators =
        written.clone().filter(|object| object.kind() == known::CLUSTER_SERVICE_VERSION);
    let gained: BTreeSet<GroupVersionKind> =
        operators.flat_map(|object| apis(provided_apis(object.spec()))).collect();
    let replaced =
        draft.operators.iter().filter_map(|operator| scene.operator(&operator.addition.updates));
    let mut lost: BTreeSet<GroupVersionKind> = replaced
        .flat_map(|operator| apis(provided_apis(operator.object.spec())))
        .filter(|api| !gained.contains(api))
        .collect();
    for definition in written.filter(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION) {
        let live =
            scene.world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", definition.name());
        let Some(live) = live else { continue };
        let served = served_versions(definition);
        lost.extend(served_versions(live).into_iter().filter(|api| !served.contains(api)));
    }
    lost
}

fn served_versions(definition: &Object) -> BTreeSet<GroupVersionKind> {
    let spec = definition.spec();
    let is_served = |version: &&operon_object::Value| version.get("served").as_bool() == Some(true);
    let api = |version: &operon_object::Value| GroupVersionKind {
        group: spec.get("group").str().to_owned(),
        version: version.get("name").str().to_owned(),
        kind: spec.at(&["names", "kind"]).str().to_owned(),
    };
    spec.get("versions").elements().iter().filter(is_served).map(api).collect()
}

fn provides(operator: ServiceVersion<'_>, api: &GroupVersionKind) -> bool {
    apis(provided_apis(operator.object.spec())).any(|provided| provided == *api)
}

fn apis(
    definitions: Result<BTreeSet<operon_kinds::ApiDefinition>, String>,
) -> impl Iterator<Item = GroupVersionKind> {
    definitions.unwrap_or_default().into_iter().map(|definition| definition.api)
}
