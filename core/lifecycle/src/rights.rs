//! Who may use what operators provide, and what operators may do beyond their namespace.

use std::collections::BTreeSet;

use operon_install::{cluster_lift, operator_group_roles, provided_api_roles};
use operon_kinds::{Phase, names};
use operon_object::{ApiKind, Object, Value, known};

use crate::{Action, Guard, Verdict, covers::covers, groups::target_namespaces, scene::Scene};

/// Grants what follows from the operators that run in a namespace.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    let Some(group) = scene.group() else { return };
    let objects = scene.world.objects;
    let apis: BTreeSet<ApiKind> =
        operon_install::parse_provided_apis(&group.provided_apis().collect::<Vec<_>>().join(","));
    for mut role in operator_group_roles(group.object, &apis) {
        let live = objects.find(&role.key());
        let rule = |role: &Object| role.at(&["aggregationRule"]).clone();
        let is_less = live.is_some_and(|live| rule(live) != rule(&role));
        if rule(&role).is_null() {
            // What was aggregated last would stay for ever.
            role.set(&["rules"], Value::list([]));
        }
        let is_written = match is_less {
            true => {
                verdict.act(&role.key(), Action::Apply(role));
                true
            }
            false => ensure(scene, role, verdict),
        };
        if is_written {
            // Roles of groups and APIs are for people: an operator that is on its way does not wait for them.
            verdict.at_rest();
        }
    }
    let is_global = target_namespaces(scene.world, group) == [""];
    for operator in scene.operators.iter().filter(|operator| !operator.object.is_deleting()) {
        let is_installed = match operator.phase() {
            Phase::InstallReady | Phase::Installing | Phase::Succeeded => true,
            Phase::None
            | Phase::Pending
            | Phase::Failed
            | Phase::Unknown
            | Phase::Replacing
            | Phase::Deleting => false,
        };
        if !is_installed {
            continue;
        }
        let find_crd = |name: &str| objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name);
        let find_service = |name: &str| objects.get(&known::API_SERVICE, "", name);
        if let Ok(roles) = provided_api_roles(operator.object, find_crd, find_service) {
            for role in roles {
                if ensure(scene, role, verdict) {
                    verdict.at_rest();
                }
            }
        }
        if is_global {
            let roles = objects.within(&known::ROLE, scene.namespace);
            let bindings = objects.within(&known::ROLE_BINDING, scene.namespace);
            for lifted in cluster_lift(operator.object, roles.chain(bindings)) {
                if ensure(scene, lifted, verdict) {
                    verdict.in_the_name_of(scene.actor());
                }
            }
        }
    }
}

/// Removes what groups and operators that are gone have left behind outside their namespace.
pub(crate) fn clean_up(scene: &Scene<'_>, verdict: &mut Verdict) {
    let outside = scene.world.objects.owned_from(scene.namespace);
    for object in outside.filter(|object| object.kind() != known::CUSTOM_RESOURCE_DEFINITION) {
        let owner = object.label(names::OWNER_LABEL);
        let kind = match object.label(names::OWNER_KIND_LABEL) {
            "OperatorGroup" => known::OPERATOR_GROUP,
            "ClusterServiceVersion" => known::CLUSTER_SERVICE_VERSION,
            _ => continue,
        };
        let owner = kind.key(scene.namespace, owner);
        if scene.world.objects.find(&owner).is_none() && !object.is_deleting() {
            let action = Action::DeleteUnchanged(object.clone());
            verdict.act_guarded(&object.key(), action, vec![Guard::Absent(owner)]);
        }
    }
}

/// Makes an object be there; tells whether something has to be done for it.
fn ensure(scene: &Scene<'_>, object: Object, verdict: &mut Verdict) -> bool {
    let live = scene.world.objects.find(&object.key());
    let is_there = live.is_some_and(|live| covers(live.value(), object.value()));
    if !is_there {
        verdict.act(&object.key(), Action::Apply(object));
    }
    !is_there
}
