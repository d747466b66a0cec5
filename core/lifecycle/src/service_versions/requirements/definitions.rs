//! The CRDs that an operator owns or requires.

use std::collections::BTreeMap;

use operon_kinds::{ServiceVersion, condition};
use operon_object::{Object, Value, known};
use operon_schema::INSTALLED_ALONGSIDE_PREFIX;

use super::Requirement;
use crate::{scene::Scene, service_versions::chain};

/// Looks at the CRDs that an operator owns or requires, sorted by name; owning goes before requiring.
pub(super) fn requirements(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Vec<Requirement> {
    let mut wanted: BTreeMap<&str, (&Value, bool)> = BTreeMap::new();
    for crd in operator.required_crds() {
        wanted.insert(crd.get("name").str(), (crd, false));
    }
    for crd in operator.owned_crds() {
        wanted.insert(crd.get("name").str(), (crd, true));
    }
    wanted.into_values().map(|(crd, owned)| requirement(scene, operator, crd, owned)).collect()
}

/// Tells whether a CRD serves a version.
pub(super) fn serves_version(definition: &Object, version: &str) -> bool {
    definition.spec().get("versions").elements().iter().any(|served| {
        served.get("name").str() == version && served.get("served").as_bool() == Some(true)
    })
}

fn requirement(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    crd: &Value,
    is_owned: bool,
) -> Requirement {
    let name = crd.get("name").str();
    let kind = ("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let requirement = |is_met| Requirement::new(kind, name, is_met);
    let live = scene.world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name);
    let Some(live) = live else { return requirement(false).say("CRD is not present") };
    let others = if is_owned { others_alongside(scene, operator, live) } else { Vec::new() };
    if !others.is_empty() {
        let message = format!("CRD installed alongside other CSV(s): {}", others.join(", "));
        return requirement(false).with_status("PresentNotSatisfied").say(message);
    }
    if !serves_version(live, crd.get("version").str()) {
        return requirement(false).say("CRD version not served");
    }
    let holds = |kind| condition(live.status(), kind).get("status").str() == "True";
    let mut found = if holds("Established") && holds("NamesAccepted") {
        requirement(true).say("CRD is present and Established condition is true")
    } else {
        requirement(false)
            .with_status("PresentNotAvailable")
            .say("CRD is present but the Established condition is False (not available)")
    };
    live.uid().clone_into(&mut found.uid);
    found
}

/// Returns the operators before this one that brought a CRD that this one did not bring: its own form
/// of the CRD is still to come.
fn others_alongside(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    definition: &Object,
) -> Vec<String> {
    let mut ancestors = chain::ancestors(scene, operator);
    ancestors.remove(operator.name());
    let mut others = Vec::new();
    for (key, value) in definition.annotations() {
        if !key.starts_with(INSTALLED_ALONGSIDE_PREFIX) {
            continue;
        }
        let Some((namespace, name)) = value.split_once('/') else { continue };
        if namespace != scene.namespace {
            continue;
        }
        if name == operator.name() {
            return Vec::new();
        }
        if ancestors.contains(name) {
            others.push(name.to_owned());
        }
    }
    others.sort_unstable();
    others
}
