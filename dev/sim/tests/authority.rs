//! Decisions about namespaces whose OperatorGroup names a ServiceAccount.

use std::collections::{BTreeMap, BTreeSet};

use operon_kinds::condition;
use operon_lifecycle::{Action, Authority, Failures, Objects, Settings, Verdict, World, decide};
use operon_object::{Object, Value, known, list, map};
use operon_sim::BEGINNING;

/// Returns an OperatorGroup as an engine leaves it.
fn group() -> Object {
    let mut group = Object::new("operators.coreos.com/v1", "OperatorGroup", "shop", "group");
    group.metadata_mut().insert("uid", "group-1");
    group.set(
        &["spec"],
        map! { "targetNamespaces" => list!["shop"], "serviceAccountName" => "installer" },
    );
    group.set(
        &["status"],
        map! { "namespaces" => list!["shop"], "lastUpdated" => "2026-01-01T00:00:00Z" },
    );
    group
}

fn account() -> Object {
    let mut account = Object::new("v1", "ServiceAccount", "shop", "installer");
    account.metadata_mut().insert("uid", "account-1");
    account
}

/// Decides about a namespace with an operator that no engine has seen.
fn verdict(group: Object, account: Object) -> Verdict {
    let mut operator =
        Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "shop", "calm.v1");
    operator.metadata_mut().insert("uid", "operator-1");
    let mode = map! { "type" => "OwnNamespace", "supported" => true };
    operator.set(&["spec"], map! { "version" => "1.0.0", "installModes" => list![mode] });
    let mut objects = Objects::default();
    for object in [Object::new("v1", "Namespace", "", "shop"), group, account, operator] {
        objects.insert(object);
    }
    let (catalogs, bundles) = (BTreeMap::new(), BTreeMap::new());
    let (failures, seen) = (Failures::default(), BTreeSet::new());
    let settings = Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() };
    let world = World {
        now: BEGINNING,
        objects: &objects,
        catalogs: &catalogs,
        bundles: &bundles,
        failures: &failures,
        seen: &seen,
        settings: &settings,
    };
    decide(&world)
}

/// Lists the writes that need an authority.
fn writes(verdict: &Verdict) -> Vec<String> {
    let effects = verdict.effects().iter();
    assert!(effects.clone().all(|effect| !matches!(effect.authority(), Authority::Unknown(_))));
    let reports = |action: &Action| {
        matches!(action, Action::UpdateStatus(_) | Action::Emit(_) | Action::Watch(_))
    };
    let writes = effects.filter(|effect| !reports(effect.action()));
    writes
        .filter_map(|effect| effect.action().target().map(|key| (effect.action().verb(), key)))
        .map(|(verb, key)| format!("{verb} {key}"))
        .collect()
}

/// Lists what is reported of OperatorGroups, by conditions and by events.
fn reports(verdict: &Verdict) -> Vec<String> {
    let effects = verdict.effects().iter();
    let reports = effects.filter_map(|effect| match effect.action() {
        Action::UpdateStatus(object) if object.kind() == known::OPERATOR_GROUP => {
            let unknown = condition(object.status(), "AuthorityUnknown");
            (!unknown.is_null()).then(|| unknown.get("message").str().to_owned())
        }
        Action::Emit(event) if event.about.kind == known::OPERATOR_GROUP => {
            Some(event.message.clone())
        }
        _ => None,
    });
    reports.collect()
}

#[test]
fn unknown_authority_writes_statuses_and_events_only() {
    let known = verdict(group(), account());
    assert!(!writes(&known).is_empty(), "with a known authority something is written");
    assert_eq!(reports(&known), [""; 0]);
    let mut without_status = group();
    without_status.value_mut().remove(&["status"]);
    assert_eq!(writes(&verdict(without_status, account())), [""; 0], "a group without a status");
    let mut going = account();
    going.metadata_mut().insert("deletionTimestamp", "2026-01-01T00:00:00Z");
    going.metadata_mut().insert("finalizers", Value::texts(["example.com/slow"]));
    let mut other = group();
    other.set(&["spec", "serviceAccountName"], "missing");
    for (group, account, name) in [(group(), going, "installer"), (other, account(), "missing")] {
        let verdict = verdict(group, account);
        assert_eq!(writes(&verdict), [""; 0], "{name}");
        let reports = reports(&verdict);
        assert_eq!(reports.len(), 2, "a condition and an event: {reports:?}");
        assert!(reports.iter().all(|message| message.contains(&format!("sa={name} "))));
    }
}
