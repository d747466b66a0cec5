//! Events: what people are told, once for each thing, with how often it happened.

use operon_lifecycle::{ErrorKind, Event};
use operon_object::{Object, Timestamp, Value, fnv64_hex, map};

use crate::{Cluster, ClusterError};

/// Upstream: the component that events come from.
const COMPONENT: &str = "operator-lifecycle-manager";

/// Tells people something about an object.
pub(crate) fn emit(
    cluster: &impl Cluster,
    event: &Event,
    now: Timestamp,
) -> Result<(), ClusterError> {
    let new = lift(event, now);
    // Most are told for the first time.
    match cluster.create(&new) {
        Err(error) if error.kind == ErrorKind::AlreadyExists => {}
        answer => return answer.map(drop),
    }
    let Some(mut known) = cluster.get(&new.key())? else { return Ok(()) };
    let count = known.at(&["count"]).as_integer().unwrap_or(1);
    known.set(&["count"], count.saturating_add(1));
    known.set(&["lastTimestamp"], now);
    cluster.update(&known)?;
    Ok(())
}

fn lift(event: &Event, now: Timestamp) -> Object {
    let Event { about, api_version, uid, is_warning, reason, message } = event;
    // Events about what lies in no namespace lie in the default one.
    let namespace = if about.namespace.is_empty() { "default" } else { &about.namespace };
    let digits = fnv64_hex(&format!("{uid}\n{reason}\n{message}"));
    // A name is at most 253 letters, of which the hash takes up to 17.
    let stem: String = about.name.chars().take(230).collect();
    let mut object = Object::new("v1", "Event", namespace, &format!("{stem}.{digits}"));
    let mut involved = map! {
        "apiVersion" => api_version.as_str(),
        "kind" => about.kind.name(),
        "name" => about.name.as_str(),
        "uid" => uid.as_str(),
    };
    if !about.namespace.is_empty() {
        involved.set(&["namespace"], about.namespace.as_str());
    }
    let fields: [(&str, Value); 9] = [
        ("involvedObject", involved),
        ("type", if *is_warning { "Warning" } else { "Normal" }.into()),
        ("reason", reason.as_str().into()),
        ("message", message.as_str().into()),
        ("source", map! { "component" => COMPONENT }),
        ("reportingComponent", COMPONENT.into()),
        ("firstTimestamp", now.into()),
        ("lastTimestamp", now.into()),
        ("count", 1.into()),
    ];
    for (name, value) in fields {
        object.set(&[name], value);
    }
    object
}
