//! What can go wrong when an older operator takes the place of a newer one.

use operon_constraint::{Constraint, Requirement};
use operon_kinds::{ServiceVersion, provided_apis};
use operon_object::known;
use operon_plan::{BundleContents, Draft};

use crate::{
    World,
    dependencies::{
        Operator, OperatorSet, limited_budget, requests, running_operators, served_apis,
    },
};

/// Lists what can go wrong when a draft brings the contents of a bundle in the place of an operator.
pub(super) fn dangers(
    world: &World<'_>,
    newer: ServiceVersion<'_>,
    contents: &BundleContents,
    draft: &Draft,
) -> Vec<String> {
    let mut dangers = requirements(world, newer, draft);
    let (newer, old) = (newer.name(), contents.service_version.name());
    definitions(world, contents, old, &mut dangers);
    dangers.push(format!(
        "{old} never said that it can take over from {newer}: what the newer one wrote may be strange to it"
    ));
    dangers
}

/// Names the requirements that would not be met any more, and those of the older operator that would not be.
fn requirements(world: &World<'_>, newer: ServiceVersion<'_>, draft: &Draft) -> Vec<String> {
    let namespace = draft.namespace.as_str();
    let subscriptions = requests(world.objects, namespace);
    let planned: Vec<Operator<'_>> = draft
        .steps
        .iter()
        .filter(|step| step.object.kind() == known::CLUSTER_SERVICE_VERSION)
        .map(|step| Operator::read_limited(ServiceVersion::read(&step.object), &subscriptions))
        .collect();
    let running = running_operators(world.objects);
    let goes = |operator: &&Operator<'_>| {
        operator.namespace() == namespace
            && (operator.name() == newer.name()
                || planned.iter().any(|planned| planned.name() == operator.name()))
    };
    let native = || world.settings.native_apis.iter().flatten().cloned();
    let staying: Vec<&Operator<'_>> = running.iter().filter(|operator| !goes(operator)).collect();
    let before = OperatorSet::new(&running, native());
    let after = OperatorSet::new(staying.iter().copied().chain(&planned), native());
    let losses = before.losses(&after);
    let is_planned = |operator: &Operator<'_>| {
        planned.iter().any(|planned| std::ptr::addr_eq(planned, operator))
    };
    let olds = planned.iter().map(Operator::name).collect::<Vec<_>>().join(" and ");
    let mut dangers = Vec::new();
    for (operator, requirement) in losses.lost {
        if !is_planned(operator) {
            let lost = match requirement.requirement {
                Requirement::Gvk(_) | Requirement::Package { .. } | Requirement::Label(_) => {
                    format!("{olds} does not provide")
                }
                Requirement::Cel(_)
                | Requirement::All(_)
                | Requirement::Any(_)
                | Requirement::Not(_) => format!("no longer holds with {olds}"),
            };
            let place = place(operator, namespace);
            dangers.push(format!("{}{place} needs {requirement}, which {lost}", operator.name()));
        }
    }
    // For the older operator a CRD will do that no operator owns.
    let served = world.objects.all(&known::CUSTOM_RESOURCE_DEFINITION).flat_map(served_apis);
    let after = OperatorSet::new(staying.iter().copied().chain(&planned), native().chain(served));
    for operator in &planned {
        match after.unmet(operator, &mut limited_budget()) {
            Ok(unmet) => dangers.extend(unmet.into_iter().map(|requirement: &Constraint| {
                format!("{} needs {requirement}, which is not there", operator.name())
            })),
            Err(_) => dangers.push(undecided(operator, namespace)),
        }
    }
    let others = losses.undecided.iter().filter(|operator| !is_planned(operator));
    dangers.extend(others.map(|operator| undecided(operator, namespace)));
    let all = staying.iter().copied().chain(&planned);
    dangers.extend(all.flat_map(|operator| operator.unreadable.iter().cloned()));
    dangers
}

fn undecided(operator: &Operator<'_>, namespace: &str) -> String {
    format!(
        "what {}{} requires is too expensive to evaluate",
        operator.name(),
        place(operator, namespace)
    )
}

fn place(operator: &Operator<'_>, namespace: &str) -> String {
    match operator.namespace() {
        own if own == namespace => String::new(),
        other => format!(" in namespace {other}"),
    }
}

/// Names what the older operator does not know of the CRDs that stay, and what they do not serve any more.
fn definitions(world: &World<'_>, contents: &BundleContents, old: &str, dangers: &mut Vec<String>) {
    for definition in
        contents.objects.iter().filter(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION)
    {
        let live = world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", definition.name());
        let Some(live) = live else { continue };
        let versions = definition.spec().get("versions").elements();
        let knows = |name: &str| versions.iter().any(|version| version.get("name").str() == name);
        for stored in live.status().get("storedVersions").iter_texts().filter(|name| !knows(name)) {
            dangers.push(format!(
                "objects of {} may be stored as {stored}, which {old} does not know; the newer CRD is kept",
                definition.name()
            ));
        }
    }
    let owned = provided_apis(contents.service_version.spec()).unwrap_or_default();
    for api in owned {
        let name = format!("{}.{}", api.plural, api.api.group);
        let live = world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", &name);
        let serves = live.is_some_and(|live| served_apis(live).contains(&api.api));
        if live.is_some() && !serves {
            dangers.push(format!(
                "{old} needs version {} of {name}, which is not served any more: it will wait for it",
                api.api.version
            ));
        }
    }
}
