//! Making whole what somebody took away from an operator.
//!
//! Only for operators that a plan brought: whoever made an operator by hand also made its accounts and
//! roles, and may have meant to take them away.

use operon_install::rbac_for;
use operon_kinds::{Phase, ServiceVersion, names};
use operon_object::{Object, known};

use crate::{Action, Verdict, covers::covers, objects::component_labels, scene::Scene};

/// Makes the accounts and roles of an operator again that are missing or were changed.
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
    let is_planned = operator.object.label(names::MANAGED_LABEL) == "true";
    let is_under_way = scene
        .plans
        .iter()
        .any(|plan| !plan.is_finished() && plan.operators().any(|name| name == operator.name()));
    if !is_settled || !is_planned || is_under_way {
        return;
    }
    let Ok(accounts) = rbac_for(operator.object, scene.namespace) else { return };
    for account in accounts {
        let roles = account.roles.into_iter().chain(account.role_bindings);
        let cluster_roles = account.cluster_roles.into_iter().chain(account.cluster_role_bindings);
        for object in account.service_account.into_iter().chain(roles).chain(cluster_roles) {
            ensure(scene, operator, object, verdict);
        }
    }
}

fn ensure(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    mut object: Object,
    verdict: &mut Verdict,
) {
    let live = scene.world.objects.find(&object.key());
    let is_whole = live.is_some_and(|live| {
        // An account has other owners and secrets; that it is there is enough.
        object.kind() == known::SERVICE_ACCOUNT
            || ["rules", "roleRef", "subjects"]
                .iter()
                .all(|field| covers(live.at(&[field]), object.at(&[field])))
    });
    if is_whole {
        return;
    }
    object.set_label(names::MANAGED_LABEL, "true");
    component_labels(operator.object).for_each(|label| object.set_label(label, ""));
    verdict.act(&object.key(), Action::Apply(object));
    verdict.in_the_name_of(scene.actor());
}
