//! The cells of Jobs.
//!
//! Pods are not looked at: the Job says itself how far it is.

use operon_object::{Object, Timestamp};

use super::count;
use crate::tables::age;

pub(in crate::tables) fn status(object: &Object, _: Timestamp) -> String {
    let conditions = object.status().get("conditions").elements();
    let holds = |wanted: &str| {
        conditions.iter().any(|condition| {
            condition.get("type").str() == wanted && condition.get("status").str() == "True"
        })
    };
    let known = ["Complete", "Failed", "Suspended"].into_iter().find(|wanted| holds(wanted));
    known.unwrap_or("Running").to_owned()
}

pub(in crate::tables) fn completions(object: &Object, _: Timestamp) -> String {
    let wanted = object.spec().get("completions").as_integer().unwrap_or(1);
    format!("{}/{wanted}", count(object.status().get("succeeded")))
}

pub(in crate::tables) fn duration(object: &Object, now: Timestamp) -> String {
    let time = |name| Timestamp::parse(object.status().get(name).str());
    let Some(start) = time("startTime") else { return String::new() };
    age::age(Some(start), time("completionTime").unwrap_or(now))
}
