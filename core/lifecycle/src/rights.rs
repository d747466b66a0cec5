//! Who may use what operators provide, and what operators may do beyond their namespace.

use std::collections::BTreeSet;

use operon_install::{
    AGGREGATION_LABEL_PREFIX, cluster_lift, has_owner_labels, is_reserved_group,
    operator_group_roles, provided_api_roles,
};
use operon_kinds::{Phase, ServiceVersion, names};
use operon_object::{ApiKind, Object, OwnerReference, Value, known};

use crate::{
    Action, Authority, Guard, Verdict, covers::covers, groups::target_namespaces,
    ownership::Claimant, plans::is_for_users, records, scene::Scene,
};

/// Grants what follows from the operators that run in a namespace.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    let Some(group) = scene.group() else { return };
    let objects = scene.world.objects;
    let apis: BTreeSet<ApiKind> =
        operon_install::parse_provided_apis(&group.provided_apis().collect::<Vec<_>>().join(","));
    // Where the controller may not write ClusterRoles, users get their permissions from an administrator.
    let writes_user_roles = !scene.world.settings.requires_service_account;
    let group_roles = operator_group_roles(group.object, &apis);
    for mut role in group_roles.into_iter().filter(|_| writes_user_roles) {
        let live = objects.find(&role.key());
        let rule = |role: &Object| role.at(&["aggregationRule"]).clone();
        let is_less = live.is_some_and(|live| rule(live) != rule(&role));
        if rule(&role).is_null() {
            // What was aggregated last would stay for ever.
            role.set(&["rules"], Value::list([]));
        }
        // Roles of groups and APIs are for users: an operator that is on its way does not wait for them.
        if is_less || !is_there(scene, &role) {
            verdict.act_at_rest(&scene.own, &role.key(), Action::Apply(role));
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
        // Nothing is granted for an operator that no plan brought.
        let Some(granted) = records::granted(scene, operator.name()) else { continue };
        let claimant = Claimant::new(scene, operator.object);
        let is_foreign = |object: &Object| {
            let live = objects.find(&object.key());
            live.is_some_and(|live| claimant.refusal(live).is_some())
        };
        let is_missing = |object: &Object| !is_foreign(object) && !is_there(scene, object);
        if writes_user_roles {
            open_apis(scene, *operator, &granted.operator, &claimant, verdict);
        }
        if is_global {
            let lifted = cluster_lift(operator.object, &granted.objects);
            // A binding whose role belongs to others would grant what no plan shows.
            let foreign: BTreeSet<String> = lifted
                .iter()
                .filter(|object| object.kind() == known::CLUSTER_ROLE && is_foreign(object))
                .map(|role| role.name().to_owned())
                .collect();
            let binds_foreign =
                |object: &Object| foreign.contains(object.at(&["roleRef", "name"]).str());
            let lifted = lifted.into_iter().filter(|object| !binds_foreign(object));
            for lifted in lifted.filter(is_missing) {
                verdict.act(&scene.authority, &lifted.key(), Action::Apply(lifted));
            }
        }
    }
}

/// Lets users reach the APIs that an operator provides.
fn open_apis(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    planned: &Object,
    claimant: &Claimant,
    verdict: &mut Verdict,
) {
    let objects = scene.world.objects;
    let find_crd = |name: &str| objects.get(&known::CUSTOM_RESOURCE_DEFINITION, "", name);
    let find_service = |name: &str| {
        let service = objects.get(&known::API_SERVICE, "", name);
        service.filter(|service| has_owner_labels(service, operator.object))
    };
    // The plan counts, not the live object: an edit must not grant access to other APIs.
    let Ok(roles) = provided_api_roles(planned, find_crd, find_service) else { return };
    // Such a role belongs to its CRD or APIService. That an operator lists an API does not make it the
    // operator's: its users would reach what belongs to others, or to the cluster.
    let is_provided = |owner: &OwnerReference| {
        if owner.kind == known::API_SERVICE.name() {
            let group = find_service(&owner.name).map(|service| service.spec().get("group").str());
            return group.is_some_and(|group| group.contains('.') && !is_reserved_group(group));
        }
        find_crd(&owner.name).is_some_and(|live| is_for_users(scene, claimant, live))
    };
    let is_anothers = |role: &Object| {
        let live = objects.find(&role.key());
        live.is_some_and(|live| {
            !role.owners().any(|wanted| {
                live.owners().any(|owner| {
                    (owner.kind, owner.name) == (wanted.kind.clone(), wanted.name.clone())
                })
            })
        })
    };
    let wanted = roles.into_iter().filter(|role| role.owners().all(|owner| is_provided(&owner)));
    let wanted = wanted.filter(|role| !is_anothers(role) && !is_there(scene, role));
    for role in wanted {
        verdict.act_at_rest(&scene.own, &role.key(), Action::Apply(role));
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
            let authority = removal_authority(scene, object);
            verdict.act_guarded(authority, &object.key(), action, vec![Guard::Absent(owner)]);
        }
    }
}

/// Returns the authority to delete what an operator or a group leaves behind: the controller's for the
/// roles that it creates itself for users of APIs, otherwise that of the one who installs.
pub(crate) fn removal_authority<'s>(scene: &'s Scene<'_>, object: &Object) -> &'s Authority {
    let is_user_role = object.kind() == known::CLUSTER_ROLE
        && (object.label(names::OWNER_KIND_LABEL) == known::OPERATOR_GROUP.name()
            || object.labels().any(|(name, _)| name.starts_with(AGGREGATION_LABEL_PREFIX)));
    if is_user_role { &scene.own } else { &scene.authority }
}

/// Returns `true` if an object exists as it should be.
fn is_there(scene: &Scene<'_>, object: &Object) -> bool {
    let live = scene.world.objects.find(&object.key());
    live.is_some_and(|live| covers(live.value(), object.value()))
}
