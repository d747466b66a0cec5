//! Taking away what a scenario left.
//!
//! Whatever was not there before the first scenario goes; who made it does not matter. The controller
//! has ended by then, so nothing is made again.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use operon_driver::Cluster;
use operon_kube::KubeCluster;
use operon_lifecycle::ErrorKind;
use operon_object::{
    Kind, Object, ObjectKey, Value,
    known::{self, KnownKind},
    map,
};

/// How long everything may take to be gone; namespaces take longest.
const SWEEP_PATIENCE: Duration = Duration::from_secs(90);

const SWEEP_PAUSE: Duration = Duration::from_millis(100);

/// The namespace that nearly every scenario has. It is emptied and stays: a cluster takes its time, about
/// six seconds, to let a namespace go.
const KEPT_NAMESPACE: &str = "shop";

/// What stays.
#[derive(Debug)]
pub(crate) struct Sweep {
    kept: BTreeSet<ObjectKey>,
}

impl Sweep {
    /// Keeps everything that is there now.
    pub(crate) fn keeping(cluster: &KubeCluster) -> Result<Self, String> {
        Ok(Self { kept: listed(cluster)?.iter().map(Object::key).collect() })
    }

    /// Takes away everything else.
    pub(crate) fn run(&self, cluster: &KubeCluster) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let left: Vec<Object> =
                listed(cluster)?.into_iter().filter(|object| self.is_left(object)).collect();
            let Some(first) = left.first() else { return Ok(()) };
            if begun.elapsed() > SWEEP_PATIENCE {
                return Err(format!("{} does not go away: {}", first.key(), first.value()));
            }
            for object in &left {
                match is_kept_namespace(object) {
                    true => strip(cluster, object)?,
                    false => remove(cluster, object)?,
                }
            }
            thread::sleep(SWEEP_PAUSE);
        }
    }

    /// Tells whether an object is a scenario's, and goes by nobody else's hand.
    fn is_left(&self, object: &Object) -> bool {
        if is_kept_namespace(object) {
            return !words_of_others(object).is_empty();
        }
        let is_made_by_the_cluster = match object.kind() {
            kind if kind == known::SERVICE_ACCOUNT => object.name() == "default",
            kind if kind == known::CONFIG_MAP => object.name() == "kube-root-ca.crt",
            kind if kind == known::API_SERVICE => object.spec().get("service").is_null(),
            _ => false,
        };
        !is_made_by_the_cluster && !self.kept.contains(&object.key())
    }
}

/// Lists what a scenario can leave.
fn listed(cluster: &KubeCluster) -> Result<Vec<Object>, String> {
    let is_of_scenarios = |known: &&KnownKind| {
        ![known::LEASE, known::EVENT, known::POD, known::JOB].contains(&known.kind)
    };
    let kinds: Vec<Kind> =
        known::KNOWN_KINDS.iter().filter(is_of_scenarios).map(|known| known.kind.clone()).collect();
    cluster.list_once(&kinds).map_err(|error| error.message)
}

fn is_kept_namespace(object: &Object) -> bool {
    object.kind() == known::NAMESPACE && object.name() == KEPT_NAMESPACE && !object.is_deleting()
}

/// Returns the labels and annotations that somebody gave to a namespace.
fn words_of_others(namespace: &Object) -> Vec<(&'static str, String)> {
    let labels = namespace.labels().map(|(name, _)| ("labels", name.to_owned()));
    let annotations = namespace.annotations().map(|(name, _)| ("annotations", name.to_owned()));
    labels.chain(annotations).filter(|(_, name)| name != "kubernetes.io/metadata.name").collect()
}

fn strip(cluster: &KubeCluster, namespace: &Object) -> Result<(), String> {
    let mut patch = map! { "metadata" => map! {} };
    for (place, name) in words_of_others(namespace) {
        patch.set(&["metadata", place, &name], Value::Null);
    }
    let outcome = cluster.merge(&namespace.key(), &patch, false);
    outcome.map(|_| ()).map_err(|error| error.message)
}

fn remove(cluster: &KubeCluster, object: &Object) -> Result<(), String> {
    let key = object.key();
    let is_ours = object
        .finalizers()
        .any(|name| !name.contains("kubernetes") && name != "foregroundDeletion");
    let mut outcome = Ok(());
    if is_ours {
        let patch = map! { "metadata" => map! { "finalizers" => Value::Null } };
        outcome = cluster.merge(&key, &patch, false).map(|_| ());
    }
    if outcome.is_ok() && !object.is_deleting() {
        outcome = cluster.delete(&key, object.uid());
    }
    match outcome {
        Err(error) if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict) => {
            Err(format!("{key} cannot be taken away: {error}"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
