//! Conditions: what an object says about itself, by type.
//!
//! A condition that says the same as before is not touched, so that nothing is written twice.

use operon_object::{Timestamp, Value, map};

/// One condition, without its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it is about, such as `ResolutionFailed`.
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

impl Condition {
    /// Makes a condition that holds, or does not.
    pub fn new(kind: &str, holds: bool, reason: &str, message: impl Into<String>) -> Self {
        let status = if holds { "True" } else { "False" };
        Self {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.into(),
        }
    }
}

/// Returns the condition of a type; `null` where there is none.
pub fn condition<'v>(status: &'v Value, kind: &str) -> &'v Value {
    static NONE: Value = Value::Null;
    let conditions = status.get("conditions").elements();
    conditions.iter().find(|condition| condition.get("type").str() == kind).unwrap_or(&NONE)
}

/// Puts a condition into a status; tells whether that changed it.
pub fn set_condition(status: &mut Value, condition: &Condition, now: Timestamp) -> bool {
    let Condition { kind, status: holds, reason, message } = condition;
    let old = self::condition(status, kind);
    let is_same = |name: &str, text: &str| old.get(name).str() == text;
    let is_known = is_same("type", kind);
    if is_known
        && is_same("status", holds)
        && is_same("reason", reason)
        && is_same("message", message)
    {
        return false;
    }
    let keeps_time = is_known && is_same("status", holds);
    let time = if keeps_time { old.get("lastTransitionTime").clone() } else { Value::from(now) };
    let mut new = map! {
        "type" => kind.as_str(), "status" => holds.as_str(), "lastTransitionTime" => time,
    };
    for (name, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            new.set(&[name], text.as_str());
        }
    }
    let list = status.place(&["conditions"]).make_list();
    match list.iter_mut().find(|other| other.get("type").str() == kind) {
        Some(other) => *other = new,
        None => list.push(new),
    }
    true
}

/// Takes the condition of a type out of a status; tells whether there was one.
pub fn remove_condition(status: &mut Value, kind: &str) -> bool {
    if condition(status, kind).is_null() {
        return false;
    }
    let list = status.place(&["conditions"]).make_list();
    list.retain(|condition| condition.get("type").str() != kind);
    if list.is_empty() {
        status.remove(&["conditions"]);
    }
    true
}

#[cfg(test)]
mod tests {
    use operon_object::{Timestamp, Value};

    use super::{Condition, condition, remove_condition, set_condition};

    #[test]
    fn times_tell_when_the_status_changed_and_nothing_else() {
        let at = |seconds: i64| Timestamp::from_milliseconds(seconds * 1000);
        let mut status = Value::default();
        let since =
            |status: &Value| condition(status, "Held").get("lastTransitionTime").str().to_owned();
        assert!(set_condition(&mut status, &Condition::new("Held", true, "Paused", "a"), at(1)));
        assert!(!set_condition(&mut status, &Condition::new("Held", true, "Paused", "a"), at(2)));
        assert_eq!(since(&status), at(1).to_string());
        assert!(set_condition(&mut status, &Condition::new("Held", true, "Paused", "b"), at(3)));
        assert_eq!(since(&status), at(1).to_string());
        assert!(set_condition(&mut status, &Condition::new("Held", false, "", "b"), at(4)));
        assert_eq!(since(&status), at(4).to_string());
        assert!(remove_condition(&mut status, "Held"));
        assert!(!remove_condition(&mut status, "Held"));
        assert!(status.get("conditions").is_null());
    }
}
