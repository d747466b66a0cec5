//! What a cluster has come to, without what may differ between two runs.
//!
//! Times, identities, versions of content, and the names and numbers of plans are left out; operators,
//! their phases, the states of Subscriptions, plans by operator, and everything else that was made are
//! compared.

use std::collections::BTreeMap;

use operon_kinds::names;
use operon_object::{Object, Value, known};

use super::{Objects, phase};

/// What a plan says of an object that another operator brought first.
pub(in crate::chaos) const RACE: &str = " belongs to ClusterServiceVersion ";

/// Returns what is there, in lines that can be compared.
pub(in crate::chaos) fn normal_form(objects: &Objects) -> BTreeMap<String, String> {
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, object) in objects {
        let is_history = [known::EVENT, known::CONTROLLER_REVISION].contains(&key.kind);
        if is_history || key.kind == known::SECRET || is_granted_by_the_way(objects, object) {
            continue;
        }
        if key.kind == known::INSTALL_PLAN {
            note_plan(object, &mut lines);
        } else {
            lines.entry(key.to_string()).or_default().push(of_kind(object));
        }
    }
    let sorted = lines.into_iter().map(|(name, mut said)| {
        said.sort();
        // How often something was planned before is history.
        said.dedup();
        (name, said.join(" and "))
    });
    sorted.collect()
}

/// Returns the lines that differ.
pub(in crate::chaos) fn differences(
    wanted: &BTreeMap<String, String>,
    found: &BTreeMap<String, String>,
) -> Vec<String> {
    let nothing = "absent".to_owned();
    let lines: std::collections::BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let pairs = lines.into_iter().map(|name| {
        (name, wanted.get(name).unwrap_or(&nothing), found.get(name).unwrap_or(&nothing))
    });
    pairs
        .filter(|(_, wanted, found)| wanted != found)
        .map(|(name, wanted, found)| {
            let (wanted, found) = part_that_differs(wanted, found);
            format!("{name}: {found} instead of {wanted}")
        })
        .collect()
}

/// How much is shown of two long texts around the first letter that differs.
const SHOWN_BEFORE: usize = 60;
const SHOWN: usize = 200;

fn part_that_differs<'t>(one: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let cut = |text: &'t str| {
        let from = text.floor_char_boundary(same.saturating_sub(SHOWN_BEFORE));
        &text[from..text.floor_char_boundary(from + SHOWN)]
    };
    (cut(one), cut(other))
}

/// Tells whether a role grants the use of an API, or was made for an operator that does not run: which of
/// them exist depends on the versions that an operator went through, and for how long.
fn is_granted_by_the_way(objects: &Objects, object: &Object) -> bool {
    if ![known::CLUSTER_ROLE, known::CLUSTER_ROLE_BINDING].contains(&object.kind()) {
        return false;
    }
    let ends = ["-admin", "-edit", "-view", "-crdview"];
    let name = object.name();
    let owner = known::CLUSTER_SERVICE_VERSION
        .key(object.label(names::OWNER_NAMESPACE_LABEL), object.label(names::OWNER_LABEL));
    name.starts_with("olm.og.")
        || ends.iter().any(|end| name.ends_with(end))
        || objects.get(&owner).is_some_and(|owner| phase(owner) != "Succeeded")
}

fn of_kind(object: &Object) -> String {
    let kind = object.kind();
    let status = object.status();
    if kind == known::CLUSTER_SERVICE_VERSION {
        return format!(
            "{} {} replaces {}",
            status.get("phase").str(),
            status.get("reason").str(),
            object.spec().get("replaces").str()
        );
    }
    if kind == known::SUBSCRIPTION {
        return format!(
            "{} at {} to {} {}",
            status.get("state").str(),
            status.get("installedCSV").str(),
            status.get("currentCSV").str(),
            conditions(status)
        );
    }
    if kind == known::CUSTOM_RESOURCE_DEFINITION
        || kind == known::DEPLOYMENT
        || kind == known::ROLE
        || kind == known::CLUSTER_ROLE
        || kind == known::ROLE_BINDING
        || kind == known::CLUSTER_ROLE_BINDING
        || kind == known::SERVICE_ACCOUNT
        || known::known_kind(&kind).is_none()
    {
        return content(object);
    }
    "present".to_owned()
}

/// Notes what became of each operator of a plan that is not done: what is done is history.
fn note_plan(plan: &Object, lines: &mut BTreeMap<String, Vec<String>>) {
    let operators: Vec<&str> = plan.spec().get("clusterServiceVersionNames").iter_texts().collect();
    let phase = phase(plan);
    let is_approved = plan.spec().get("approved").as_bool() == Some(true);
    let together = operators.join("+");
    if phase == "Complete" {
        return;
    }
    for operator in operators {
        let name = format!("InstallPlan {}/{operator}", plan.namespace());
        let is_race = plan.status().get("message").str().contains(RACE);
        let race = if is_race { RACE } else { "" };
        let said = format!("{phase} approved={is_approved} with {together}{race}");
        lines.entry(name).or_default().push(said);
    }
}

/// Returns the conditions that are true, with their reasons.
fn conditions(status: &Value) -> String {
    let conditions = status.get("conditions").elements().iter();
    // A plan goes with the Subscriptions that own it, and who owns one depends on what was in sight.
    let is_true = |condition: &&Value| {
        condition.get("status").str() == "True"
            && condition.get("type").str() != "InstallPlanMissing"
    };
    let mut named: Vec<String> = conditions
        .filter(is_true)
        .map(|condition| {
            format!("{}/{}", condition.get("type").str(), condition.get("reason").str())
        })
        .collect();
    named.sort();
    named.join(" ")
}

/// Returns everything but metadata and status.
fn content(object: &Object) -> String {
    let mut value = object.value().clone();
    for name in ["metadata", "status", "apiVersion", "kind"] {
        value.remove(&[name]);
    }
    // Upstream: what a person does to the number of replicas stays until the operator is installed again,
    // and that may be at once if it is seen while the new pods are not ready.
    if !value.at(&["spec", "replicas"]).is_null() {
        value.remove(&["spec", "replicas"]);
    }
    // Certificates carry the time at which they were made.
    let pods = ["spec", "template", "metadata", "annotations"];
    if !value.at(&pods).is_null() {
        value.remove(&["spec", "template", "metadata", "annotations", "olmcahash"]);
    }
    value.to_string()
}
