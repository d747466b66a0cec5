//! The cells of Events.
//!
//! Events of a series are one row; nothing is sorted by time.

use operon_object::{Object, Timestamp};

use crate::tables::age::age;

pub(in crate::tables) fn last_seen(object: &Object, now: Timestamp) -> String {
    let series = time(object, &["series", "lastObservedTime"]);
    let last = series.or_else(|| time(object, &["lastTimestamp"]));
    age(last.or_else(|| first_time(object)), now)
}

pub(in crate::tables) fn first_seen(object: &Object, now: Timestamp) -> String {
    age(first_time(object), now)
}

pub(in crate::tables) fn event_type(object: &Object, _: Timestamp) -> String {
    object.at(&["type"]).str().to_owned()
}

pub(in crate::tables) fn reason(object: &Object, _: Timestamp) -> String {
    object.at(&["reason"]).str().to_owned()
}

/// Shows the object that it is about as `deployment/etcd-operator`.
pub(in crate::tables) fn object(object: &Object, _: Timestamp) -> String {
    let [kind, name] = ["kind", "name"].map(|field| object.at(&["involvedObject", field]).str());
    let kind = kind.to_lowercase();
    if name.is_empty() { kind } else { format!("{kind}/{name}") }
}

pub(in crate::tables) fn message(object: &Object, _: Timestamp) -> String {
    object.at(&["message"]).str().trim().to_owned()
}

pub(in crate::tables) fn count(object: &Object, _: Timestamp) -> String {
    let series = object.at(&["series", "count"]).as_integer();
    let count = series.or_else(|| object.at(&["count"]).as_integer());
    count.filter(|count| *count != 0).unwrap_or(1).to_string()
}

fn first_time(object: &Object) -> Option<Timestamp> {
    time(object, &["firstTimestamp"]).or_else(|| time(object, &["eventTime"]))
}

fn time(object: &Object, path: &[&str]) -> Option<Timestamp> {
    Timestamp::parse(object.at(path).str())
}
