//! Upstream's texts of facts, as its tools and their users know them.

use operon_constraint::upstream_predicate_text;

use crate::conflict::{Conflict, Fact, Missing, Operator};

/// Returns upstream's texts of a conflict's facts, sorted.
pub fn upstream_texts(conflict: &Conflict, namespace: &str) -> Vec<String> {
    let mut texts: Vec<String> =
        conflict.facts.iter().map(|fact| upstream_text(fact, namespace)).collect();
    texts.sort();
    texts
}

fn upstream_text(fact: &Fact, namespace: &str) -> String {
    let id = |operator: &Operator| upstream_id(operator, namespace);
    match fact {
        Fact::Wanted { request } => format!("subscription {request} exists"),
        Fact::Options { request, options, .. } => match options.as_slice() {
            [] => format!("no operators found matching the criteria of subscription {request}"),
            [only] => format!("subscription {request} requires {}", id(only)),
            _ => {
                let ids: Vec<String> = options.iter().map(id).collect();
                format!("subscription {request} requires at least one of {}", joined(&ids, "or"))
            }
        },
        Fact::NotFound { request, missing } => missing_text(request, missing),
        Fact::Freestanding { operator } => format!(
            "clusterserviceversion {} exists and is not referenced by a subscription",
            operator.name
        ),
        Fact::Deprecated { operator } => format!("bundle {} is deprecated", id(operator)),
        Fact::Malformed { operator, error } => {
            format!("bundle {} is malformed: {error}", id(operator))
        }
        Fact::Needs { operator, constraint, .. } => format!(
            "bundle {} requires an operator {}",
            operator.name,
            upstream_predicate_text(constraint)
        ),
        Fact::Excludes { operator, constraint, .. } => format!(
            "bundle {} requires no operator {}",
            operator.name,
            upstream_predicate_text(constraint)
        ),
        Fact::Updates { operator, current } => {
            format!("{} conflicts with {}", id(operator), id(current))
        }
        Fact::OneProvider { api, providers } => format!(
            "{} provide {} ({}/{})",
            sorted_ids(providers, namespace),
            api.kind,
            api.group,
            api.version
        ),
        Fact::OnePerPackage { package, members } => {
            format!("{} originate from package {package}", sorted_ids(members, namespace))
        }
    }
}

/// Returns upstream's id of an operator, such as `community/olm/stable/etcd.v1`.
pub fn upstream_id(operator: &Operator, namespace: &str) -> String {
    match &operator.source {
        Some(source) => {
            format!("{}/{}/{}/{}", source.name, source.namespace, operator.channel, operator.name)
        }
        None => format!("@existing/{namespace}//{}", operator.name),
    }
}

fn sorted_ids(operators: &[Operator], namespace: &str) -> String {
    let mut ids: Vec<String> =
        operators.iter().map(|operator| upstream_id(operator, namespace)).collect();
    ids.sort();
    joined(&ids, "and")
}

fn joined(ids: &[String], last: &str) -> String {
    match ids {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

fn missing_text(request: &str, missing: &Missing) -> String {
    match missing {
        Missing::Catalog { source } | Missing::Unavailable { source, .. } => format!(
            "no operators found from catalog {} in namespace {} referenced by subscription {request}",
            source.name, source.namespace
        ),
        Missing::Package { package } => format!(
            "no operators found in package {package} in the catalog referenced by subscription {request}"
        ),
        Missing::Channel { package, channel } => format!(
            "no operators found in channel {channel} of package {package} in the catalog referenced \
             by subscription {request}"
        ),
        Missing::Start { package, channel, starting_csv } => format!(
            "no operators found with name {starting_csv} in channel {channel} of package {package} \
             in the catalog referenced by subscription {request}"
        ),
        Missing::Allowed { package, because } => format!(
            "no operators found in package {package} that subscription {request} may move to: {because}"
        ),
    }
}
