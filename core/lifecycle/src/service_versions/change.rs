//! A change of an operator's phase, and how it is written.

use operon_kinds::{Phase, ServiceVersion};
use operon_object::{Timestamp, Value, map};

/// Upstream: so many entries of the history are kept.
const KEPT_HISTORY: usize = 20;

/// What is said about an operator from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The phase.
    pub(crate) phase: Phase,
    /// One word for programs.
    pub(crate) reason: &'static str,
    /// A sentence for people.
    pub(crate) message: String,
}

impl Change {
    /// Makes a change.
    pub(crate) fn new(phase: Phase, reason: &'static str, message: impl Into<String>) -> Self {
        Self { phase, reason, message: message.into() }
    }

    /// Tells whether it says what is said already.
    pub(crate) fn is_known(&self, operator: ServiceVersion<'_>) -> bool {
        let Self { phase, reason, message } = self;
        (*phase, *reason, message.as_str())
            == (operator.phase(), operator.reason(), operator.message())
    }

    /// Writes it into a status.
    pub(crate) fn write(&self, status: &mut Value, now: Timestamp) {
        let Self { phase, reason, message } = self;
        let is_new_phase = status.get("phase").str() != phase.text();
        let is_new_reason = status.get("reason").str() != *reason;
        let since = status.get("lastTransitionTime").clone();
        let since = if is_new_phase || since.is_null() { Value::from(now) } else { since };
        let said = [
            ("phase", Value::text(phase.text())),
            ("reason", Value::text(reason)),
            ("message", Value::text(message)),
            ("lastUpdateTime", Value::from(now)),
            ("lastTransitionTime", since.clone()),
        ];
        for (name, value) in said {
            status.set(&[name], value);
        }
        if is_new_phase || is_new_reason {
            let history = status.place(&["conditions"]).make_list();
            history.push(map! {
                "phase" => phase.text(),
                "reason" => *reason,
                "message" => message.as_str(),
                "lastUpdateTime" => now,
                "lastTransitionTime" => since,
            });
            let surplus = history.len().saturating_sub(KEPT_HISTORY);
            history.drain(..surplus);
        }
    }
}
