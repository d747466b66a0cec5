//! OperatorGroups: the namespaces they target, and what is said about them.
//!
//! Which operators fit into a group is decided where operators are looked at.

use std::collections::BTreeSet;

use operon_kinds::{
    Condition, OperatorGroup, Phase, Targets, condition, names, provided_apis, remove_condition,
    set_condition,
};
use operon_object::{Object, Selector, Value, known};

use crate::{Action, Authority, Event, Timing, Verdict, World, authority, scene::Scene};

/// The condition of a group whose namespace has no known authority, and its reason.
pub(crate) const AUTHORITY_UNKNOWN: &str = "AuthorityUnknown";

/// Decides about the OperatorGroups of a namespace.
pub(crate) fn decide(scene: &Scene<'_>, verdict: &mut Verdict) {
    for group in &scene.groups {
        let status = status(scene, *group);
        let reported = |status| condition(status, AUTHORITY_UNKNOWN).get("message").str();
        let message = reported(&status).to_owned();
        let is_news = !message.is_empty() && message != reported(group.object.status());
        if verdict.write_status(group.object, status) {
            if is_news {
                let event = Event::about(group.object, true, AUTHORITY_UNKNOWN, &message);
                verdict.emit(&group.object.key(), event, Timing::InOrder);
            }
            continue;
        }
        if scene.groups.len() == 1 {
            keep_provided_apis(scene, *group, verdict);
        }
    }
}

/// Labels a namespace with the groups that name it as a target.
pub(crate) fn label_namespace(world: &World<'_>, namespace: &Object, verdict: &mut Verdict) {
    if namespace.is_deleting() {
        return;
    }
    let targeting = world.objects.groups_covering(namespace.name()).filter(|object| {
        let group = OperatorGroup::read(object);
        !object.is_deleting() && group.status_namespaces().contains(&namespace.name())
    });
    let found: BTreeSet<String> = namespace
        .labels()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with(names::GROUP_UID_LABEL))
        .map(str::to_owned)
        .collect();
    // A group of a namespace whose authority is unknown keeps its label, and gets no new one.
    let is_labelled = |group: &Object| {
        let authority = authority::of_namespace(world, group.namespace());
        let label = format!("{}{}", names::GROUP_UID_LABEL, group.uid());
        (found.contains(&label) || authority.unknown_reason().is_none()).then_some(label)
    };
    let wanted: BTreeSet<String> = targeting.filter_map(is_labelled).collect();
    if wanted == found {
        return;
    }
    let mut changed = namespace.clone();
    let labels = changed.value_mut().place(&["metadata", "labels"]).make_map();
    labels.retain(|name, _| !name.starts_with(names::GROUP_UID_LABEL) || wanted.contains(name));
    for name in wanted {
        labels.insert(name, "");
    }
    verdict.act(&Authority::Controller, &namespace.key(), Action::Update(changed));
}

/// Returns the namespaces that a group targets now, sorted; one empty text for all.
pub(crate) fn target_namespaces(world: &World<'_>, group: OperatorGroup<'_>) -> Vec<String> {
    match group.targets() {
        Targets::All => vec![String::new()],
        Targets::Named(names) => names.into_iter().map(str::to_owned).collect(),
        Targets::Selected(selector) => {
            // One that cannot be read selects nothing: too little is the safe side.
            let Ok(selector) = Selector::read(selector) else { return Vec::new() };
            let namespaces = world.objects.all(&known::NAMESPACE);
            let selected = namespaces.filter(|namespace| selector.matches(namespace));
            selected.map(|namespace| namespace.name().to_owned()).collect()
        }
    }
}

fn status(scene: &Scene<'_>, group: OperatorGroup<'_>) -> Value {
    let world = scene.world;
    let mut status = group.object.status().clone();
    let several = Condition::new(
        "MultipleOperatorGroup",
        true,
        "MultipleOperatorGroupsFound",
        "Multiple OperatorGroup found in the same namespace",
    );
    if scene.groups.len() > 1 {
        set_condition(&mut status, &several, world.now);
    } else {
        remove_condition(&mut status, &several.kind);
    }
    note_service_account(scene, group, &mut status);
    note_authority(scene, group, &mut status);
    let targets = target_namespaces(world, group);
    if !status.get("namespaces").iter_texts().eq(targets.iter().map(String::as_str))
        || status.get("lastUpdated").is_null()
    {
        status.set(&["namespaces"], Value::texts(&targets));
        status.set(&["lastUpdated"], world.now);
    }
    status
}

/// Reports why nothing is installed, repaired or removed here. Operators that run say nothing of it.
fn note_authority(scene: &Scene<'_>, group: OperatorGroup<'_>, status: &mut Value) {
    // A group without a status is about to get one.
    let unknown = scene.authority.unknown_reason().filter(|_| group.has_status());
    let Some(reason) = unknown else {
        remove_condition(status, AUTHORITY_UNKNOWN);
        return;
    };
    let message = format!("operators are not installed, repaired or removed: {reason}");
    let condition = Condition::new(AUTHORITY_UNKNOWN, true, AUTHORITY_UNKNOWN, message);
    set_condition(status, &condition, scene.world.now);
}

fn note_service_account(scene: &Scene<'_>, group: OperatorGroup<'_>, status: &mut Value) {
    let name = group.service_account();
    let condition = Condition::new(
        "OperatorGroupServiceAccount",
        true,
        "ServiceAccountNotFound",
        format!("ServiceAccount {name} not found"),
    );
    let account = scene.world.objects.get(&known::SERVICE_ACCOUNT, scene.namespace, name);
    match (name, account) {
        ("", _) => {
            status.remove(&["serviceAccountRef"]);
            remove_condition(status, &condition.kind);
        }
        (_, None) => {
            status.remove(&["serviceAccountRef"]);
            set_condition(status, &condition, scene.world.now);
        }
        (_, Some(account)) => {
            let reference = operon_object::map! {
                "kind" => "ServiceAccount",
                "name" => account.name(),
                "namespace" => account.namespace(),
                "uid" => account.uid(),
            };
            status.set(&["serviceAccountRef"], reference);
            remove_condition(status, &condition.kind);
        }
    }
}

/// Takes APIs that no operator provides any more off the group's list. New ones are added where
/// operators are looked at, because there it shows whether they clash.
fn keep_provided_apis(scene: &Scene<'_>, group: OperatorGroup<'_>, verdict: &mut Verdict) {
    let is_undecided = |phase| matches!(phase, Phase::None | Phase::Pending);
    if group.is_static() || scene.operators.iter().any(|operator| is_undecided(operator.phase())) {
        return;
    }
    let provided: BTreeSet<String> =
        scene.operators.iter().flat_map(|operator| provided_names(operator.object)).collect();
    let listed: BTreeSet<String> = group.provided_apis().collect();
    let kept: BTreeSet<String> = listed.intersection(&provided).cloned().collect();
    if kept != listed {
        verdict.act(
            &scene.own,
            &group.object.key(),
            Action::Update(with_provided_apis(group, &kept)),
        );
    }
}

/// Returns a group with another list of provided APIs.
pub(crate) fn with_provided_apis(group: OperatorGroup<'_>, apis: &BTreeSet<String>) -> Object {
    let mut changed = group.object.clone();
    let list: Vec<&str> = apis.iter().map(String::as_str).collect();
    changed.set_annotation(names::PROVIDED_APIS_ANNOTATION, &list.join(","));
    changed
}

/// Returns the APIs that an operator provides, as `Kind.version.group`.
pub(crate) fn provided_names(operator: &Object) -> impl Iterator<Item = String> {
    let definitions = provided_apis(operator.spec()).unwrap_or_default();
    definitions
        .into_iter()
        .map(|definition| definition.api)
        .map(|api| format!("{}.{}.{}", api.kind, api.version, api.group))
}
