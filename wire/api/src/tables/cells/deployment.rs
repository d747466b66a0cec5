//! The cells of Deployments.
//!
//! Pods are not looked at: the Deployment says itself how many are ready.

use operon_object::{Object, Timestamp, Value};

use super::{NONE, count, joined, labels};

/// Upstream: a Deployment that does not say how many pods it wants, wants one.
pub(in crate::tables) fn ready(object: &Object, _: Timestamp) -> String {
    let wanted = object.spec().get("replicas").as_integer().unwrap_or(1);
    format!("{}/{wanted}", count(object.status().get("readyReplicas")))
}

pub(in crate::tables) fn up_to_date(object: &Object, _: Timestamp) -> String {
    count(object.status().get("updatedReplicas"))
}

pub(in crate::tables) fn available(object: &Object, _: Timestamp) -> String {
    count(object.status().get("availableReplicas"))
}

pub(in crate::tables) fn containers(object: &Object, _: Timestamp) -> String {
    of_containers(object, "name")
}

pub(in crate::tables) fn images(object: &Object, _: Timestamp) -> String {
    of_containers(object, "image")
}

pub(in crate::tables) fn selector(object: &Object, _: Timestamp) -> String {
    let selector = object.spec().get("selector");
    let equal = selector.get("matchLabels");
    let mut demands = if equal.is_empty() { Vec::new() } else { vec![labels(equal)] };
    demands.extend(selector.get("matchExpressions").elements().iter().map(demand));
    if demands.is_empty() { NONE.to_owned() } else { demands.join(",") }
}

fn of_containers(object: &Object, field: &str) -> String {
    let containers = object.at(&["spec", "template", "spec", "containers"]).elements();
    joined(containers.iter().map(|container| container.get(field).str()))
}

fn demand(expression: &Value) -> String {
    let key = expression.get("key").str();
    let values = expression.get("values").iter_texts().collect::<Vec<_>>().join(",");
    match expression.get("operator").str() {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "DoesNotExist" => format!("!{key}"),
        _ => key.to_owned(),
    }
}
