//! Deployments: a simulated controller and kubelet.
//!
//! There are no ReplicaSets and no Pods; only what their Deployment would show of them is computed,
//! from its template, its last status and the time. What the pods do is said by an annotation of
//! the pod template, see [`WORKLOAD_ANNOTATION`].

use std::time::Duration;

use operon_object::{Object, ObjectKey, Timestamp, Value, go_json, map, quote, sha256_hex};

use super::Next;
use crate::{
    Part,
    draft::{Draft, letters},
    write::put_as_controller,
};

/// The annotation of a pod template that says what its pods do:
/// `ready` (also when it is absent), `ready-after=3s`, `never`, `crash`, or `crash-after=5s`, which
/// is ready at first and then down for good. Durations are in `ms`, `s`, `m` or `h`; since a
/// status keeps whole seconds, they count from the second the rollout began in.
pub const WORKLOAD_ANNOTATION: &str = "operon.dev/workload";

/// Upstream: how long a rollout may go without progress if the Deployment does not say.
const PROGRESS_DEADLINE_SECONDS: i64 = 600;

/// Upstream: the kubelet waits this long before it restarts a crashed container, then twice as long.
const FIRST_BACK_OFF: Duration = Duration::from_secs(10);

/// Upstream: and never longer than this.
const LONGEST_BACK_OFF: Duration = Duration::from_mins(5);

const MANAGER: &str = "kube-controller-manager";

/// What the pods of a Deployment would show, beyond what its status says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadReport {
    /// How often the container was restarted after a crash.
    pub restarts: u32,
    /// Why the container waits; empty if it does not.
    pub message: String,
}

/// What the pods of a template do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workload {
    /// They become ready so long after they start.
    ReadyAfter(Duration),
    /// They start and are never ready.
    Never,
    /// They crash again and again.
    Crash,
    /// They are ready at once and crash so long afterwards.
    CrashAfter(Duration),
}

/// Returns what the pods of a Deployment would show; nothing for pods that do not crash.
pub fn workload_report(deployment: &Object, now: Timestamp) -> Option<WorkloadReport> {
    let progress = condition(deployment.status(), "Progressing")?;
    let started = Timestamp::parse(progress.get("lastTransitionTime").str())?;
    let updated = Timestamp::parse(progress.get("lastUpdateTime").str())?;
    let crashed = match Workload::of(deployment) {
        Workload::ReadyAfter(_) | Workload::Never => return None,
        Workload::Crash => started,
        Workload::CrashAfter(delay) => updated.after(delay),
    };
    let (mut restart, mut back_off, mut restarts) = (crashed, FIRST_BACK_OFF, 0);
    // A century of restarts is far below what the counter holds.
    while now >= restart.after(back_off) && restarts < u32::MAX {
        restart = restart.after(back_off);
        back_off = (back_off * 2).min(LONGEST_BACK_OFF);
        restarts += 1;
    }
    let container = deployment.at(&["spec", "template", "spec", "containers"]).elements().first();
    let container = container.map_or("", |container| container.get("name").str());
    let (minutes, seconds) = (back_off.as_secs() / 60, back_off.as_secs() % 60);
    let back_off =
        if minutes > 0 { format!("{minutes}m{seconds}s") } else { format!("{seconds}s") };
    let message = if now < crashed {
        String::new()
    } else {
        format!("back-off {back_off} restarting failed container={container}")
    };
    Some(WorkloadReport { restarts, message })
}

/// Brings the status of a Deployment one state further.
pub(super) fn reconcile(draft: &mut Draft<'_>, key: &ObjectKey) -> Next {
    let Some(deployment) = draft.object(key).cloned() else { return Next::Done };
    if deployment.is_deleting() {
        return Next::Done;
    }
    let rollout = Rollout::new(&deployment, draft.now);
    let (status, wake) = rollout.next_status();
    if status != *deployment.status() {
        let mut after = deployment.clone();
        after.set(&["status"], status);
        // The change brings the Deployment back here.
        put_as_controller(draft, &deployment, after, MANAGER, Part::Status);
    }
    wake.map_or(Next::Done, Next::At)
}

impl Workload {
    fn of(deployment: &Object) -> Self {
        let template = ["spec", "template", "metadata", "annotations", WORKLOAD_ANNOTATION];
        let text = deployment.at(&template).str();
        let (word, delay) = text.split_once('=').unwrap_or((text, ""));
        let delay = parse_duration(delay).unwrap_or_default();
        match word {
            "never" => Self::Never,
            "crash" => Self::Crash,
            "crash-after" => Self::CrashAfter(delay),
            "ready-after" => Self::ReadyAfter(delay),
            _ => Self::ReadyAfter(Duration::ZERO),
        }
    }
}

/// A Deployment at a point in time.
struct Rollout<'a> {
    deployment: &'a Object,
    now: Timestamp,
    workload: Workload,
    /// The name of the ReplicaSet that the template would have.
    replica_set: String,
    replicas: i64,
    /// How many pods must be available for the Deployment to be.
    least_available: i64,
    /// How many old pods stay while the new ones are not ready.
    most_old: i64,
    /// How many pods there may be during a rollout.
    most_total: i64,
    deadline: Duration,
}

/// How many pods there are.
struct Counts {
    total: i64,
    updated: i64,
    available: i64,
}

impl<'a> Rollout<'a> {
    fn new(deployment: &'a Object, now: Timestamp) -> Self {
        let spec = deployment.spec();
        let hash = sha256_hex(go_json(spec.get("template")));
        let replicas = spec.get("replicas").as_integer().unwrap_or(1).max(0);
        let is_recreate = spec.at(&["strategy", "type"]).str() == "Recreate";
        let rolling = spec.at(&["strategy", "rollingUpdate"]);
        let surge = share(rolling.get("maxSurge"), replicas, true);
        let mut unavailable = share(rolling.get("maxUnavailable"), replicas, false);
        if surge == 0 && unavailable == 0 {
            unavailable = 1;
        }
        if is_recreate {
            unavailable = 0;
        }
        let least_available = (replicas - unavailable).max(0);
        let deadline = spec.get("progressDeadlineSeconds").as_integer();
        let deadline = deadline.unwrap_or(PROGRESS_DEADLINE_SECONDS).max(0);
        Self {
            deployment,
            now,
            workload: Workload::of(deployment),
            replica_set: format!("{}-{}", deployment.name(), letters(&hash, 10)),
            replicas,
            least_available,
            most_old: if is_recreate { 0 } else { least_available },
            most_total: if is_recreate { replicas } else { replicas + surge },
            deadline: Duration::from_secs(u64::try_from(deadline).unwrap_or(0)),
        }
    }

    /// Returns the next status, and when to look again.
    fn next_status(&self) -> (Value, Option<Timestamp>) {
        let status = self.deployment.status();
        if self.deployment.spec().get("paused").as_bool() == Some(true) {
            let mut status = status.clone();
            status.set(&["observedGeneration"], self.deployment.generation());
            return (status, None);
        }
        let progress = condition(status, "Progressing").unwrap_or_default();
        let is_current = progress.get("message").str().contains(&quote(&self.replica_set));
        if !is_current {
            return (self.created(), None);
        }
        let updated = Timestamp::parse(progress.get("lastUpdateTime").str()).unwrap_or(self.now);
        match progress.get("reason").str() {
            "NewReplicaSetCreated" => (self.rolling("ReplicaSetUpdated"), None),
            "NewReplicaSetAvailable" => self.complete(updated),
            "ProgressDeadlineExceeded" => {
                // The condition was last updated when the deadline passed.
                let before = i64::try_from(self.deadline.as_millis()).unwrap_or(i64::MAX);
                let began = updated.milliseconds().saturating_sub(before);
                self.pending(Timestamp::from_milliseconds(began), None)
            }
            _ => self.pending(updated, Some(updated.after(self.deadline))),
        }
    }

    fn created(&self) -> Value {
        let mut status = self.deployment.status().clone();
        let message = format!("Created new replica set {}", quote(&self.replica_set));
        self.set_progress(&mut status, "True", "NewReplicaSetCreated", &message);
        status
    }

    /// The new pods exist and are not ready; the old ones are there as far as they must be.
    fn rolling(&self, reason: &str) -> Value {
        let old = self.deployment.status().get("availableReplicas").as_integer().unwrap_or(0);
        let old = old.clamp(0, self.most_old);
        let updated = self.replicas.min(self.most_total - old).max(0);
        let counts = Counts { total: old + updated, updated, available: old };
        let mut status = self.counted(&counts);
        let replica_set = quote(&self.replica_set);
        if reason == "ProgressDeadlineExceeded" {
            let message = format!("ReplicaSet {replica_set} has timed out progressing.");
            self.set_progress(&mut status, "False", reason, &message);
        } else {
            let message = format!("ReplicaSet {replica_set} is progressing.");
            self.set_progress(&mut status, "True", reason, &message);
        }
        status
    }

    /// A rollout that began at a time and may be given up at another.
    fn pending(&self, began: Timestamp, deadline: Option<Timestamp>) -> (Value, Option<Timestamp>) {
        let ready = match self.workload {
            _ if self.replicas == 0 => Some(began),
            Workload::ReadyAfter(delay) => Some(began.after(delay)),
            Workload::CrashAfter(_) => Some(began),
            Workload::Never | Workload::Crash => None,
        };
        if ready.is_some_and(|ready| ready <= self.now) {
            return (self.succeeded(), None);
        }
        match deadline {
            Some(deadline) if deadline <= self.now => {
                (self.rolling("ProgressDeadlineExceeded"), ready)
            }
            Some(deadline) => {
                (self.rolling("ReplicaSetUpdated"), Some(ready.unwrap_or(deadline).min(deadline)))
            }
            None => (self.rolling("ProgressDeadlineExceeded"), ready),
        }
    }

    fn succeeded(&self) -> Value {
        let replicas = self.replicas;
        let counts = Counts { total: replicas, updated: replicas, available: replicas };
        let mut status = self.counted(&counts);
        let replica_set = quote(&self.replica_set);
        let message = format!("ReplicaSet {replica_set} has successfully progressed.");
        self.set_progress(&mut status, "True", "NewReplicaSetAvailable", &message);
        status
    }

    /// A rollout that was completed at a time. Pods added later are ready as soon as they exist.
    fn complete(&self, completed: Timestamp) -> (Value, Option<Timestamp>) {
        let crash = match self.workload {
            Workload::CrashAfter(delay) => Some(completed.after(delay)),
            Workload::ReadyAfter(_) | Workload::Never | Workload::Crash => None,
        };
        let is_down = crash.is_some_and(|crash| crash <= self.now);
        let replicas = self.replicas;
        let available = if is_down { 0 } else { replicas };
        let counts = Counts { total: replicas, updated: replicas, available };
        (self.counted(&counts), crash.filter(|_| !is_down))
    }

    fn counted(&self, counts: &Counts) -> Value {
        let mut status = self.deployment.status().clone();
        status.set(&["observedGeneration"], self.deployment.generation());
        let numbers = [
            ("replicas", counts.total),
            ("updatedReplicas", counts.updated),
            ("readyReplicas", counts.available),
            ("availableReplicas", counts.available),
            ("unavailableReplicas", (counts.total - counts.available).max(0)),
        ];
        for (name, number) in numbers {
            // Upstream: a count of none is not written.
            if number == 0 {
                status.remove(&[name]);
            } else {
                status.set(&[name], number);
            }
        }
        let (value, reason, message) = if counts.available >= self.least_available {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            (
                "False",
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            )
        };
        self.set_condition(&mut status, ["Available", value, reason, message]);
        status
    }

    fn set_progress(&self, status: &mut Value, value: &str, reason: &str, message: &str) {
        self.set_condition(status, ["Progressing", value, reason, message]);
    }

    /// Upstream: a condition that changes moves to the end of the list.
    fn set_condition(&self, status: &mut Value, [name, value, reason, message]: [&str; 4]) {
        let found = condition(status, name).unwrap_or_default();
        let is_same = found.get("status").str() == value;
        if is_same && found.get("reason").str() == reason && found.get("message").str() == message {
            return;
        }
        let transition = match found.get("lastTransitionTime") {
            time if is_same && !time.is_null() => time.clone(),
            _ => Value::from(self.now),
        };
        let conditions = status.place(&["conditions"]).make_list();
        conditions.retain(|condition| condition.get("type").str() != name);
        conditions.push(map! {
            "type" => name,
            "status" => value,
            "reason" => reason,
            "message" => message,
            "lastUpdateTime" => self.now,
            "lastTransitionTime" => transition,
        });
    }
}

fn condition(status: &Value, wanted: &str) -> Option<Value> {
    let mut conditions = status.get("conditions").elements().iter();
    conditions.find(|condition| condition.get("type").str() == wanted).cloned()
}

/// Reads a number of pods, or a share of them such as `25%`, which is also the default.
fn share(value: &Value, replicas: i64, rounds_up: bool) -> i64 {
    if let Some(number) = value.as_integer() {
        return number.max(0);
    }
    let percent = value.str().strip_suffix('%').and_then(|digits| digits.parse::<i64>().ok());
    let parts = percent.unwrap_or(25).clamp(0, 100) * replicas.min(1_000_000);
    if rounds_up { (parts + 99) / 100 } else { parts / 100 }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let milliseconds = match text.strip_prefix(digits)? {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.saturating_mul(milliseconds)))
}
