//! Restoring the accounts and roles of an operator that were deleted or changed.
//!
//! What the operator's newest completed plan granted is restored, and nothing else: an operator that
//! was created by hand, or whose ClusterServiceVersion was edited, gains nothing.

use operon_kinds::{Phase, ServiceVersion};
use operon_object::known;

use crate::{
    Action, Verdict,
    covers::covers,
    objects::component_labels,
    ownership::Claimant,
    plans::{OwnedObject, as_owned},
    records,
    scene::Scene,
};

/// Restores the accounts and roles of an operator.
pub(super) fn decide(scene: &Scene<'_>, operator: ServiceVersion<'_>, verdict: &mut Verdict) {
    let is_settled = match operator.phase() {
        Phase::Pending | Phase::Succeeded | Phase::Failed => true,
        Phase::None
        | Phase::InstallReady
        | Phase::Installing
        | Phase::Unknown
        | Phase::Replacing
        | Phase::Deleting => false,
    };
    let is_in_progress = scene
        .plans
        .iter()
        .any(|plan| !plan.is_finished() && plan.operators().any(|name| name == operator.name()));
    if !is_settled || is_in_progress {
        return;
    }
    let claimant = Claimant::new(scene, operator.object);
    let granted = records::granted(scene, operator.name()).map(|granted| granted.objects);
    for granted in granted.unwrap_or_default() {
        let OwnedObject::Ready(mut object) = as_owned(scene, operator.name(), granted) else {
            continue;
        };
        let live = scene.world.objects.find(&object.key());
        let is_whole = live.is_some_and(|live| {
            // An account has other owners and secrets; that it exists is enough.
            object.kind() == known::SERVICE_ACCOUNT
                || ["rules", "roleRef", "subjects"]
                    .iter()
                    .all(|field| covers(live.at(&[field]), object.at(&[field])))
        });
        if is_whole || live.is_some_and(|live| claimant.refusal(live).is_some()) {
            continue;
        }
        component_labels(operator.object).for_each(|label| object.set_label(label, ""));
        verdict.act(&scene.authority, &object.key(), Action::Apply(object));
    }
}
