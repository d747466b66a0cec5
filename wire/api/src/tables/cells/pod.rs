//! The cells of Pods.
//!
//! Of the many words that `kubectl` has for containers in trouble, the reason of the first one that
//! waits or ended is shown; init containers are not told apart.

use operon_object::{Object, Timestamp};

use super::NONE;

pub(in crate::tables) fn ready(object: &Object, _: Timestamp) -> String {
    let all = object.spec().get("containers").elements().len();
    let statuses = object.status().get("containerStatuses").elements().iter();
    let ready = statuses.filter(|status| status.get("ready").as_bool() == Some(true)).count();
    format!("{ready}/{all}")
}

pub(in crate::tables) fn status(object: &Object, _: Timestamp) -> String {
    if object.is_deleting() {
        return "Terminating".to_owned();
    }
    let status = object.status();
    let statuses = status.get("containerStatuses").elements().iter();
    let mut reasons = statuses.flat_map(|it| {
        ["waiting", "terminated"].map(|state| it.at(&["state", state, "reason"]).str())
    });
    let trouble = reasons.find(|reason| !reason.is_empty());
    let whole = [status.get("reason").str(), status.get("phase").str()];
    let said = trouble.into_iter().chain(whole).find(|word| !word.is_empty());
    said.unwrap_or("Unknown").to_owned()
}

pub(in crate::tables) fn restarts(object: &Object, _: Timestamp) -> String {
    let statuses = object.status().get("containerStatuses").elements().iter();
    let restarts = statuses.map(|status| status.get("restartCount").as_integer().unwrap_or(0));
    restarts.fold(0, i64::saturating_add).to_string()
}

pub(in crate::tables) fn address(object: &Object, _: Timestamp) -> String {
    or_none(object.status().get("podIP").str())
}

pub(in crate::tables) fn node(object: &Object, _: Timestamp) -> String {
    or_none(object.spec().get("nodeName").str())
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE.to_owned() } else { text.to_owned() }
}
