//! Whether an installed Deployment does what its ClusterServiceVersion asks.
//!
//! How long one may wait is decided by the caller: nothing here knows the time.

use operon_object::{Object, Value, quote};

use crate::{deployment::DEPLOYMENT_HASH_LABEL, ownership::has_owner_labels};

/// The state of an installed Deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeploymentHealth {
    /// It is not there, or belongs to another operator.
    Missing {
        /// The Deployment's name.
        name: String,
    },
    /// It is rolled out, or its pods are not available yet.
    Waiting {
        /// Says what is waited for.
        message: String,
    },
    /// It did not get ready in its own time.
    DeadlineExceeded {
        /// Says so.
        message: String,
    },
    /// Its pods lack annotations of the ClusterServiceVersion, such as `olm.targetNamespaces`.
    AnnotationsMissing {
        /// Says which one.
        message: String,
    },
    /// It was installed from another spec.
    Updated {
        /// The hash it carries, if any.
        old: Option<String>,
        /// The hash it should carry.
        new: String,
    },
    /// It is installed and available.
    Healthy,
}

impl DeploymentHealth {
    /// Returns what a status shows of it, in upstream's words.
    pub fn message(&self) -> String {
        match self {
            Self::Missing { name } => format!("missing deployment with name={name}"),
            Self::Waiting { message }
            | Self::DeadlineExceeded { message }
            | Self::AnnotationsMissing { message } => message.clone(),
            Self::Updated { old: None, .. } => {
                "deployment doesn't have a spec hash, update it".to_owned()
            }
            Self::Updated { old: Some(old), new } => {
                format!("deployment changed old hash={old}, new hash={new}")
            }
            Self::Healthy => String::new(),
        }
    }
}

/// Compares an installed Deployment with the wanted one (see [`crate::deployment_for`]).
///
/// The rollout is looked at first, then the annotations, then the hash of the spec; a spec that was
/// changed behind its hash is not noticed.
pub fn deployment_health(wanted: &Object, live: Option<&Object>, csv: &Object) -> DeploymentHealth {
    let Some(live) = live.filter(|live| has_owner_labels(live, csv)) else {
        return DeploymentHealth::Missing { name: wanted.name().to_owned() };
    };
    if let Some(unhealthy) = rollout(live).or_else(|| missing_annotation(live, csv)) {
        return unhealthy;
    }
    let new = wanted.label(DEPLOYMENT_HASH_LABEL).to_owned();
    let old = live.metadata("labels").get(DEPLOYMENT_HASH_LABEL).as_text();
    if old == Some(&new) {
        return DeploymentHealth::Healthy;
    }
    DeploymentHealth::Updated { old: old.map(str::to_owned), new }
}

fn rollout(live: &Object) -> Option<DeploymentHealth> {
    let name = live.name();
    let quoted = quote(name);
    let waiting = |reason: String| {
        let message = format!("waiting for deployment {name} to become ready: {reason}");
        Some(DeploymentHealth::Waiting { message })
    };
    let count = |field| live.status().get(field).as_integer().unwrap_or(0);
    if live.generation() > count("observedGeneration") {
        return waiting(format!(
            "waiting for spec update of deployment {quoted} to be observed..."
        ));
    }
    if condition(live, "Progressing").get("reason").str() == "ProgressDeadlineExceeded" {
        let message = format!(
            "deployment {name} not ready before timeout: \
             deployment {quoted} exceeded its progress deadline"
        );
        return Some(DeploymentHealth::DeadlineExceeded { message });
    }
    let outdated = count("replicas").saturating_sub(count("updatedReplicas"));
    if outdated > 0 {
        return waiting(format!(
            "deployment {quoted} waiting for {outdated} outdated replica(s) to be terminated"
        ));
    }
    let available = condition(live, "Available");
    if available.get("status").str() == "True" {
        return None;
    }
    let reason = match available {
        Value::Null => "missing condition \"Available\"",
        available => available.get("message").str(),
    };
    waiting(format!("deployment {quoted} not available: {reason}"))
}

fn condition<'a>(live: &'a Object, kind: &str) -> &'a Value {
    let conditions = live.status().get("conditions").elements();
    conditions.iter().find(|condition| condition.get("type").str() == kind).unwrap_or(&Value::Null)
}

fn missing_annotation(live: &Object, csv: &Object) -> Option<DeploymentHealth> {
    let annotations = live.at(&["spec", "template", "metadata", "annotations"]);
    let message = csv.annotations().find_map(|(name, value)| {
        if annotations.is_null() {
            return Some("no annotations found on deployment".to_owned());
        }
        match annotations.get(name).as_text() {
            None => {
                Some(format!("annotations on deployment does not contain expected key: {name}"))
            }
            Some(found) if found != value => Some(format!(
                "unexpected annotation on deployment. Expected {name}:{value}, found {name}:{found}"
            )),
            Some(_) => None,
        }
    });
    message.map(|message| DeploymentHealth::AnnotationsMissing { message })
}
