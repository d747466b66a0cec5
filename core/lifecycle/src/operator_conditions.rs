//! OperatorConditions: the place where an operator can say that it must not be replaced now.

use operon_install::Strategy;
use operon_kinds::ServiceVersion;
use operon_object::{Object, Value, list, map};

use crate::{Action, Verdict, covers::covers, objects::component_labels, records, scene::Scene};

const RBAC: &str = "rbac.authorization.k8s.io";

/// Makes an OperatorCondition for every operator, with the right to write it, and shows what the
/// operator says there.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    for operator in scene.operators.iter().filter(|operator| !operator.object.is_deleting()) {
        let Ok(strategy) = Strategy::read(operator.object) else { continue };
        let wanted = condition(*operator, &strategy);
        let live = scene.world.objects.find(&wanted.key());
        let Some(live) = live else {
            verdict.act(&scene.own, &wanted.key(), Action::Apply(wanted));
            continue;
        };
        if !covers(live.value(), wanted.value()) {
            verdict.act(&scene.own, &wanted.key(), Action::Apply(wanted));
            continue;
        }
        // Permissions follow from the plan, not from edits of the operator.
        let planned = records::planned_operator(scene, operator.name());
        if let Some(planned) = planned.and_then(|planned| Strategy::read(&planned).ok()) {
            grant(scene, live, &planned, verdict);
        }
        show(live, verdict);
    }
}

fn accounts(strategy: &Strategy) -> Vec<&str> {
    let permissions = strategy.cluster_permissions.iter().chain(&strategy.permissions);
    let mut accounts: Vec<&str> = Vec::new();
    for permission in permissions {
        if !accounts.contains(&permission.account.as_str()) {
            accounts.push(&permission.account);
        }
    }
    if accounts.is_empty() { vec!["default"] } else { accounts }
}

fn condition(operator: ServiceVersion<'_>, strategy: &Strategy) -> Object {
    let object = operator.object;
    let mut condition = Object::new(
        "operators.coreos.com/v2",
        "OperatorCondition",
        object.namespace(),
        operator.name(),
    );
    let mut owner = object.owner_reference();
    owner.controller = Some(true);
    owner.block_owner_deletion = Some(false);
    condition.add_owner(&owner);
    component_labels(object).for_each(|label| condition.set_label(label, ""));
    condition.set(&["spec", "serviceAccounts"], Value::texts(accounts(strategy)));
    let deployments = strategy.deployments.iter().map(|template| &template.name);
    condition.set(&["spec", "deployments"], Value::texts(deployments));
    condition
}

/// Lets the operator's accounts write its condition.
fn grant(scene: &Scene<'_>, live: &Object, strategy: &Strategy, verdict: &mut Verdict) {
    let (namespace, name) = (live.namespace(), live.name());
    let owner = {
        let mut owner = live.owner_reference();
        owner.controller = Some(true);
        owner
    };
    let mut role = Object::new(&format!("{RBAC}/v1"), "Role", namespace, name);
    role.add_owner(&owner);
    role.set_label(operon_kinds::names::MANAGED_LABEL, "true");
    let rule = map! {
        "apiGroups" => list!["operators.coreos.com"],
        "resources" => list!["operatorconditions"],
        "resourceNames" => list![name],
        "verbs" => list!["get", "update", "patch"],
    };
    role.set(&["rules"], list![rule]);
    let mut binding = Object::new(&format!("{RBAC}/v1"), "RoleBinding", namespace, name);
    binding.add_owner(&owner);
    binding.set_label(operon_kinds::names::MANAGED_LABEL, "true");
    binding.set(&["roleRef"], map! { "apiGroup" => RBAC, "kind" => "Role", "name" => name });
    let subjects = accounts(strategy).into_iter().map(|account| {
        map! { "kind" => "ServiceAccount", "name" => account, "namespace" => namespace }
    });
    binding.set(&["subjects"], Value::list(subjects));
    // What has the same name and another owner is left alone, and a Role of others is not bound.
    let is_foreign = |wanted: &Object| {
        scene.world.objects.find(&wanted.key()).is_some_and(|found| {
            !found.owners().any(|owner| owner.kind == live.kind().name() && owner.name == name)
        })
    };
    if is_foreign(&role) || is_foreign(&binding) {
        return;
    }
    for wanted in [role, binding] {
        let found = scene.world.objects.find(&wanted.key());
        if !found.is_some_and(|found| covers(found.value(), wanted.value())) {
            // No program asks for it before its pod runs.
            verdict.act_at_rest(&scene.own, &wanted.key(), Action::Apply(wanted));
        }
    }
}

/// Copies what the operator says into the status, with the generation it is about.
fn show(live: &Object, verdict: &mut Verdict) {
    let said = live.at(&["spec", "conditions"]).elements();
    if said.is_empty() && live.status().get("conditions").is_null() {
        return;
    }
    let generation = live.generation();
    let shown = said.iter().map(|condition| {
        let mut condition = condition.clone();
        condition.set(&["observedGeneration"], generation);
        condition
    });
    let mut status = live.status().clone();
    status.set(&["conditions"], Value::list(shown));
    verdict.write_status(live, status);
}
