//! How far the controller's Deployment is, and what keeps its pods from running.
//!
//! Everything follows from objects; nothing is asked here.

use std::fmt;

use operon_kinds::condition;
use operon_object::{Object, Value};

/// How far a Deployment is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rollout {
    /// How many pods there should be.
    pub(super) wanted: i64,
    /// How many there are of the newest kind.
    pub(super) updated: i64,
    /// How many of all are ready.
    pub(super) ready: i64,
    /// Whether the newest kind is all there is, and all of it is at work.
    pub(super) is_complete: bool,
}

impl Rollout {
    /// Looks at a Deployment.
    pub(super) fn of(deployment: &Object) -> Self {
        let status = deployment.status();
        let count = |name: &str| status.get(name).as_integer().unwrap_or(0);
        let wanted = deployment.spec().get("replicas").as_integer().unwrap_or(1);
        let (updated, ready) = (count("updatedReplicas"), count("readyReplicas"));
        let is_complete = count("observedGeneration") >= deployment.generation()
            && updated == wanted
            && count("replicas") == wanted
            && count("availableReplicas") == wanted;
        Self { wanted, updated, ready, is_complete }
    }
}

/// Says how far it is, such as `2 of 2 controllers run`.
impl fmt::Display for Rollout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, updated, ready, is_complete } = self;
        match (is_complete, ready < wanted) {
            (true, _) | (false, true) => write!(formatter, "{ready} of {wanted} controllers run"),
            (false, false) => {
                write!(
                    formatter,
                    "{updated} of {wanted} controllers are new, and old ones still run"
                )
            }
        }
    }
}

/// Says what keeps pods from running, a sentence for each.
pub(super) fn troubles(pods: &[Object]) -> Vec<String> {
    let mut troubles: Vec<String> = pods.iter().filter_map(trouble).collect();
    troubles.sort();
    troubles.dedup();
    troubles
}

/// Tells whether a pod is ready.
pub(super) fn is_ready(pod: &Object) -> bool {
    condition(pod.status(), "Ready").get("status").str() == "True"
}

/// Counts how often the containers of a pod were started again.
pub(super) fn restarts(pod: &Object) -> i64 {
    let containers = pod.status().get("containerStatuses").elements();
    containers.iter().filter_map(|container| container.get("restartCount").as_integer()).sum()
}

fn trouble(pod: &Object) -> Option<String> {
    if is_ready(pod) || pod.is_deleting() {
        return None;
    }
    let name = pod.name();
    let said = |value: &Value| match (value.get("reason").str(), value.get("message").str()) {
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {}", message.trim()),
    };
    let scheduled = condition(pod.status(), "PodScheduled");
    if scheduled.get("status").str() == "False" {
        return Some(format!("pod {name} has no node: {}", said(scheduled)));
    }
    for container in pod.status().get("containerStatuses").elements() {
        let waiting = container.at(&["state", "waiting"]);
        let reason = waiting.get("reason").str();
        if !matches!(reason, "" | "ContainerCreating" | "PodInitializing") {
            let last = container.at(&["lastState", "terminated", "message"]).str().trim();
            let last = last.lines().last().map_or_else(String::new, |last| format!("; {last}"));
            return Some(format!("pod {name} does not run: {}{last}", said(waiting)));
        }
        let ended = container.at(&["state", "terminated"]);
        if !ended.is_null() {
            return Some(format!("pod {name} has ended: {}", said(ended)));
        }
    }
    Some(format!("pod {name} is not ready yet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(status: &str) -> Object {
        let mut pod = Object::new("v1", "Pod", "olm", "controller-1");
        pod.set(&["status"], Value::parse_json(status).expect("JSON"));
        pod
    }

    #[test]
    fn what_keeps_pods_from_running_is_said() {
        for (status, expected) in [
            (r#"{"conditions":[{"type":"Ready","status":"True"}]}"#, None),
            (r#"{}"#, Some("pod controller-1 is not ready yet")),
            (
                r#"{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes"}]}"#,
                Some("pod controller-1 has no node: Unschedulable: 0/1 nodes"),
            ),
            (
                r#"{"containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}"#,
                Some("pod controller-1 does not run: ImagePullBackOff: no such image"),
            ),
            (
                r#"{"containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"message":"a\nerror: b"}}}]}"#,
                Some("pod controller-1 does not run: CrashLoopBackOff; error: b"),
            ),
        ] {
            assert_eq!(trouble(&pod(status)).as_deref(), expected, "{status}");
        }
    }

    #[test]
    fn a_rollout_is_complete_when_nothing_else_is_there() {
        let mut deployment = Object::new("apps/v1", "Deployment", "olm", "controller");
        deployment.set(&["spec", "replicas"], 2);
        deployment.set(&["metadata", "generation"], 3);
        let status = |observed: i64, replicas: i64, updated: i64, available: i64| {
            let mut deployment = deployment.clone();
            deployment.set(&["status", "observedGeneration"], observed);
            deployment.set(&["status", "replicas"], replicas);
            deployment.set(&["status", "updatedReplicas"], updated);
            deployment.set(&["status", "availableReplicas"], available);
            Rollout::of(&deployment).is_complete
        };
        assert!(status(3, 2, 2, 2));
        assert!(!status(2, 2, 2, 2), "the Deployment was not looked at");
        assert!(!status(3, 3, 2, 2), "an old pod is there");
        assert!(!status(3, 2, 1, 2), "a pod is old");
        assert!(!status(3, 2, 2, 1), "a pod does not run");
        assert!(!Rollout::of(&deployment).is_complete);
    }
}
