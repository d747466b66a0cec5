//! Taking an operator away.
//!
//! What lies in its namespace goes by its owner references; what lies outside is removed here before
//! the operator may go. CRDs and the objects of users are never removed.

use operon_install::{has_owner_labels, is_converted_by, unconverted_crd};
use operon_kinds::{ServiceVersion, names};
use operon_object::{Object, known};

use crate::{
    Action, Verdict, generations,
    ownership::Claimant,
    plans::{may_end_conversion, next_generation},
    rights::removal_authority,
    scene::Scene,
};

/// Removes what an operator leaves behind outside its namespace, and then lets it go.
pub(super) fn decide(scene: &Scene<'_>, operator: ServiceVersion<'_>, verdict: &mut Verdict) {
    let object = operator.object;
    if !object.finalizers().any(|name| name == names::CSV_FINALIZER) {
        return;
    }
    let key = object.key();
    if let Some(reason) = scene.authority.unknown_reason() {
        let mut status = object.status().clone();
        status.set(&["reason"], "AuthorityUnknown");
        status.set(&["message"], format!("cannot be removed: {reason}"));
        verdict.write_status(object, status);
        return;
    }
    let left: Vec<&Object> = left_behind(scene, operator).collect();
    if !left.is_empty() {
        for left in left.into_iter().filter(|left| !left.is_deleting()) {
            let (target, uid) = (left.key(), left.uid().to_owned());
            let authority = removal_authority(scene, left);
            verdict.act(authority, &key, Action::Delete { key: target, uid });
        }
        return;
    }
    stop_conversion(scene, operator, verdict);
    generations::note_removal(scene, operator, next_generation(scene), verdict);
    let mut changed = object.clone();
    let finalizers = changed.metadata_mut().place("finalizers").make_list();
    finalizers.retain(|name| name.as_text() != Some(names::CSV_FINALIZER));
    verdict.act(&scene.own, &key, Action::Update(changed));
}

/// Removes an operator's Deployments.
pub(super) fn deployments(scene: &Scene<'_>, operator: ServiceVersion<'_>, verdict: &mut Verdict) {
    let deployments = scene.world.objects.within(&known::DEPLOYMENT, scene.namespace);
    for deployment in deployments.filter(|object| has_owner_labels(object, operator.object)) {
        let (key, uid) = (deployment.key(), deployment.uid().to_owned());
        verdict.act(&scene.authority, &operator.object.key(), Action::Delete { key, uid });
    }
}

fn left_behind<'w>(
    scene: &Scene<'w>,
    operator: ServiceVersion<'w>,
) -> impl Iterator<Item = &'w Object> {
    // Bundles bring cluster-wide objects of any kind; a CRD is never removed.
    scene
        .world
        .objects
        .owned_from(scene.namespace)
        .filter(|object| object.kind() != known::CUSTOM_RESOURCE_DEFINITION)
        .filter(move |object| has_owner_labels(object, operator.object))
}

/// Lets the API server store CRDs without asking an operator that is going away, unless another one
/// takes its place.
fn stop_conversion(scene: &Scene<'_>, operator: ServiceVersion<'_>, verdict: &mut Verdict) {
    if scene.replacing(operator.name()).next().is_some() {
        return;
    }
    let claimant = Claimant::new(scene, operator.object);
    let converting = operator
        .webhooks()
        .iter()
        .filter(|webhook| webhook.get("type").str() == "ConversionWebhook")
        .flat_map(|webhook| {
            webhook.get("conversionCRDs").iter_texts().map(move |name| (webhook, name))
        });
    for (webhook, name) in converting {
        let live = scene.world.objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name);
        let Some(live) = live else { continue };
        // An operator may list the CRD, and even the Service, of another one.
        let is_own = is_converted_by(operator.object, webhook, live);
        if is_own && may_end_conversion(&claimant, live) {
            let action = Action::Update(unconverted_crd(live));
            let authority = scene.authority_for(operator, &action);
            verdict.act(authority, &operator.object.key(), action);
        }
    }
}
