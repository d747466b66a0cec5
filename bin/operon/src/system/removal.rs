//! `operon uninstall --self`: Operon itself goes, and the operators stay as they are.
//!
//! It is first shown and then done, and only if it is still what was shown. Definitions go only when
//! that is asked for, and then everything that was made of them goes too. Namespaces always stay: what
//! else is in them is not known here.

mod text;

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use operon_driver::{Cluster, ClusterError, Interest};
use operon_kinds::{ServiceVersion, names::CSV_FINALIZER};
use operon_kube::LEASE_NAME;
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey, known};

use super::{
    install::pods_of_controller,
    manifests::{APP_LABEL, CONTROLLER_NAME, Shape, objects as all_objects},
};
use crate::{
    cluster::{ClusterArguments, DEFAULT_GLOBAL_NAMESPACE, Reached, update},
    exit::Outcome,
    output::print_text,
};

/// How long the controllers may take to take operators away, and to end: a pod has thirty seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked whether something is gone.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How many letters name a plan.
const PLAN_LETTERS: usize = 10;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct SelfRemoval<'c> {
    pub(crate) cluster: &'c ClusterArguments,
    /// Where Operon is, if it was said.
    pub(crate) namespace: Option<&'c str>,
    /// Whether the definitions go too, and all objects of theirs.
    pub(crate) with_crds: bool,
    /// The plan that was agreed to.
    pub(crate) approve: Option<&'c str>,
    /// Whether it is done, whatever it is.
    pub(crate) is_sure: bool,
}

/// What would go and what would stay.
#[derive(Debug, Default)]
struct Found {
    namespace: String,
    /// What Operon consists of, but for what is below.
    parts: Vec<Object>,
    namespaces: Vec<Object>,
    definitions: Vec<Object>,
    /// How many objects there are of each definition.
    objects: BTreeMap<Kind, usize>,
    /// How many operators there are.
    operators: usize,
}

pub(crate) fn run(asked: &SelfRemoval<'_>) -> anyhow::Result<Outcome> {
    let cluster = asked.cluster.reach()?;
    if let Some(directory) = cluster.directory() {
        let shown = directory.display();
        bail!(
            "the embedded cluster of {shown} has no controller\nhint: it ends with `operon up`; --kubeconfig names a real cluster"
        );
    }
    let found = find(asked, &cluster)?;
    if found.parts.is_empty() && (!asked.with_crds || found.definitions.is_empty()) {
        print_text("Operon is not on this cluster\n")?;
        return Ok(Outcome::Done);
    }
    let plan = name_of(asked, &found);
    if asked.approve.is_none() && !asked.is_sure {
        print_text(&text::plan(asked, &found, &plan))?;
        return Ok(Outcome::Changes);
    }
    check(asked, &found, &plan)?;
    print_text(&text::goes(asked, &found))?;
    remove(asked, &cluster, &found)
}

/// Looks for what there is of Operon.
fn find(asked: &SelfRemoval<'_>, cluster: &Reached) -> anyhow::Result<Found> {
    let interest = Interest::labelled(known::DEPLOYMENT, APP_LABEL, CONTROLLER_NAME);
    let deployments = cluster.list(&[interest].into())?.objects;
    let own = deployments.iter().find(|deployment| deployment.name() == CONTROLLER_NAME);
    let namespace = asked.namespace.unwrap_or_else(|| {
        own.map_or(DEFAULT_GLOBAL_NAMESPACE, |deployment| deployment.namespace())
    });
    let mut found = Found { namespace: namespace.to_owned(), ..Found::default() };
    let mut keys: Vec<ObjectKey> =
        all_objects(&Shape::in_namespace(namespace))?.iter().map(Object::key).collect();
    keys.push(known::LEASE.key(namespace, LEASE_NAME));
    keys.extend(tenant_keys(cluster)?);
    for key in keys {
        let Some(object) = cluster.get(&key)? else { continue };
        if key.kind == known::NAMESPACE {
            found.namespaces.push(object);
        } else if key.kind == known::CUSTOM_RESOURCE_DEFINITION {
            found.definitions.push(object);
        } else {
            found.parts.push(object);
        }
    }
    for definition in &found.definitions {
        let spec = definition.spec();
        let kind = Kind::new(spec.get("group").str(), spec.at(&["names", "kind"]).str());
        let objects = cluster.list(&Interest::all_of([kind.clone()]))?.objects;
        if kind == known::CLUSTER_SERVICE_VERSION {
            let is_copy = |object: &&Object| ServiceVersion::read(object).is_copied();
            found.operators = objects.len() - objects.iter().filter(is_copy).count();
        }
        found.objects.insert(kind, objects.len());
    }
    Ok(found)
}

/// Returns the keys of objects that only installations with tenants have.
fn tenant_keys(cluster: &Reached) -> Result<Vec<ObjectKey>, ClusterError> {
    let kinds =
        [known::CLUSTER_ROLE, known::CLUSTER_ROLE_BINDING, known::ROLE, known::ROLE_BINDING];
    let interests = kinds.map(|kind| Interest::labelled(kind, APP_LABEL, CONTROLLER_NAME));
    Ok(cluster.list(&interests.into())?.objects.iter().map(Object::key).collect())
}

/// Names what would be done by its content.
fn name_of(asked: &SelfRemoval<'_>, found: &Found) -> String {
    let mut hasher = blake3::Hasher::new();
    let definitions = found.definitions.iter().filter(|_| asked.with_crds);
    for object in found.parts.iter().chain(definitions) {
        hasher.update(format!("{} {}\n", object.key(), object.uid()).as_bytes());
    }
    hasher.finalize().to_hex()[..PLAN_LETTERS].to_owned()
}

/// Refuses what is not what a person saw, and what would take away more than a person may think.
fn check(asked: &SelfRemoval<'_>, found: &Found, plan: &str) -> anyhow::Result<()> {
    if let Some(agreed) = asked.approve.filter(|agreed| *agreed != plan) {
        let options = text::options(asked);
        bail!(
            "the plan is {plan} by now, and not {agreed}: something changed, or other options were given\nhint: look at it again: operon uninstall --self{options}"
        );
    }
    let objects: usize = found.objects.values().sum();
    if asked.with_crds && objects > 0 && !asked.is_sure {
        bail!(
            "{objects} objects of Operon's kinds are there, and would go with their CRDs; {} operators would stop\nhint: operon uninstall NAME takes an operator away; --yes in place of --approve does it all the same",
            found.operators
        );
    }
    Ok(())
}

/// Takes everything away in an order in which nothing hangs.
fn remove(asked: &SelfRemoval<'_>, cluster: &Reached, found: &Found) -> anyhow::Result<Outcome> {
    if asked.with_crds {
        // The controllers tidy up behind operators as long as they run.
        delete_all(cluster, &known::SUBSCRIPTION)?;
        delete_all(cluster, &known::CLUSTER_SERVICE_VERSION)?;
        let operators = Interest::all_of([known::CLUSTER_SERVICE_VERSION]);
        wait_until(|| Ok(cluster.list(&operators)?.objects.is_empty()))?;
    }
    let is_lease = |object: &&Object| object.kind() == known::LEASE;
    let is_deployment = |object: &&Object| object.kind() == known::DEPLOYMENT;
    for object in found.parts.iter().filter(is_deployment) {
        delete(cluster, object)?;
    }
    let has_ended = wait_until(|| {
        let pods = pods_of_controller(cluster)?;
        Ok(!pods.iter().any(|pod| pod.namespace() == found.namespace))
    })?;
    // Whoever ends gives the lease back, and needs his rights for it.
    for object in found.parts.iter().filter(|part| !is_deployment(part) && !is_lease(part)) {
        delete(cluster, object)?;
    }
    for object in found.parts.iter().filter(is_lease) {
        delete(cluster, object)?;
    }
    let mut are_gone = true;
    if asked.with_crds {
        release(cluster)?;
        for definition in &found.definitions {
            delete(cluster, definition)?;
        }
        are_gone = wait_until(|| {
            for definition in &found.definitions {
                if cluster.get(&definition.key())?.is_some() {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
    }
    print_text(&text::end(found, has_ended, are_gone))?;
    Ok(if has_ended && are_gone { Outcome::Done } else { Outcome::Negative })
}

/// Lets operators go that wait for a controller which is not there any more.
fn release(cluster: &Reached) -> anyhow::Result<()> {
    let operators = Interest::all_of([known::CLUSTER_SERVICE_VERSION]);
    for operator in cluster.list(&operators)?.objects {
        if operator.finalizers().any(|name| name == CSV_FINALIZER) {
            update(cluster, operator, |operator| {
                let finalizers = operator.metadata_mut().place("finalizers").make_list();
                finalizers.retain(|name| name.as_text() != Some(CSV_FINALIZER));
            })?;
        }
    }
    Ok(())
}

fn delete_all(cluster: &Reached, kind: &Kind) -> Result<(), ClusterError> {
    for object in cluster.list(&Interest::all_of([kind.clone()]))?.objects {
        delete(cluster, &object)?;
    }
    Ok(())
}

/// Deletes an object; one that is gone, or that somebody made anew meanwhile, is not.
fn delete(cluster: &Reached, object: &Object) -> Result<(), ClusterError> {
    match cluster.delete(&object.key(), object.uid()) {
        Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict) => Ok(()),
        outcome => outcome,
    }
}

/// Waits until something is so; tells whether it is.
fn wait_until(is_so: impl Fn() -> Result<bool, ClusterError>) -> Result<bool, ClusterError> {
    let begun = Instant::now();
    loop {
        if is_so()? {
            return Ok(true);
        }
        if begun.elapsed() > PATIENCE {
            return Ok(false);
        }
        thread::sleep(LOOK_EVERY);
    }
}
