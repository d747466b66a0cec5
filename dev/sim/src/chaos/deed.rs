//! What people do.
//!
//! A deed names what it is about in words that mean the same in every run of a seed: plans, whose names
//! depend on what happened before, are meant by their operators.

use std::fmt;

use operon_apiserver::{DeleteOptions, Part, Request, Target};
use operon_driver::{Cluster, Driver};
use operon_kinds::names;
use operon_lifecycle::views::removal;
use operon_object::{Object, ObjectKey, Timestamp, Value, known, map};
use operon_resolve::SourceName;

use super::theatre::settings;
use crate::{Publication, SimCatalogs, SimCluster};

/// Something that a person does.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// Publishes a catalog.
    Publish(SourceName, Box<Publication>),
    /// Makes a catalog unreadable for a reason, or readable again with an empty one.
    Hinder(SourceName, &'static str),
    /// Applies an object.
    Apply(Object),
    /// Changes an object by a merge patch.
    Patch(ObjectKey, Value),
    /// Deletes an object.
    Delete(ObjectKey),
    /// Answers, deletes or leaves the plan that brings some operators.
    Plan(String, Vec<String>, Answer),
    /// Uninstalls an operator with the operators of its namespace that depend on it.
    Uninstall(ObjectKey),
    /// Rolls an operator back to its previous version, or to an earlier one.
    RollBack(ObjectKey, Option<String>),
}

/// What a person does with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Approve,
    Reject,
    Delete,
}

impl fmt::Display for Deed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publish(source, publication) => {
                let bundles: Vec<String> =
                    publication.bundles.iter().map(|bundle| bundle.name()).collect();
                write!(formatter, "publish {source}: {}", bundles.join(" "))
            }
            Self::Hinder(source, "") => write!(formatter, "mend {source}"),
            Self::Hinder(source, _) => write!(formatter, "break {source}"),
            Self::Apply(object) => write!(formatter, "apply {} {}", object.key(), object.spec()),
            Self::Patch(key, patch) => write!(formatter, "edit {key} {patch}"),
            Self::Delete(key) => write!(formatter, "delete {key}"),
            Self::Plan(namespace, operators, answer) => {
                write!(formatter, "{answer:?} the plan of {} in {namespace}", operators.join(" "))
            }
            Self::Uninstall(operator) => write!(formatter, "uninstall {operator}"),
            Self::RollBack(operator, None) => write!(formatter, "rollback {operator}"),
            Self::RollBack(operator, Some(version)) => {
                write!(formatter, "rollback {operator} to {version}")
            }
        }
    }
}

/// Does a deed. What cannot be done is left: people, too, meet a world that has changed.
pub(super) fn perform(deed: &Deed, cluster: &SimCluster, catalogs: &SimCatalogs, now: Timestamp) {
    match deed {
        Deed::Publish(source, publication) => catalogs.publish(source, (**publication).clone()),
        Deed::Hinder(source, reason) => catalogs.hinder(source, reason),
        Deed::Apply(object) => {
            let object = object.clone();
            let (manager, part) = ("person".to_owned(), Part::Whole);
            ask(cluster, &Request::Apply { object, manager, force: true, part });
        }
        Deed::Patch(key, patch) => edit(cluster, key, patch),
        Deed::Delete(key) => delete(cluster, key),
        Deed::Plan(namespace, operators, answer) => {
            let Some(key) = find_plan(cluster, namespace, operators, *answer) else { return };
            match answer {
                Answer::Approve => {
                    edit(cluster, &key, &map! { "spec" => map! { "approved" => true } });
                }
                Answer::Reject => {
                    let annotations = map! { names::REJECTED_ANNOTATION => "true" };
                    let metadata = map! { "annotations" => annotations };
                    edit(cluster, &key, &map! { "metadata" => metadata });
                }
                Answer::Delete => delete(cluster, &key),
            }
        }
        Deed::Uninstall(operator) => uninstall(cluster, catalogs, operator, now),
        Deed::RollBack(operator, to) => roll_back(cluster, catalogs, operator, to.as_deref(), now),
    }
}

/// Returns the driver of a command: it knows what is on the cluster, and no faults.
fn command(
    cluster: &SimCluster,
    catalogs: &SimCatalogs,
    now: Timestamp,
) -> Driver<SimCluster, SimCatalogs> {
    let mut driver = Driver::new(cluster.by_person(), catalogs.clone(), settings());
    driver.look(now).expect("bug: a cluster without faults can be read");
    driver
}

fn uninstall(cluster: &SimCluster, catalogs: &SimCatalogs, operator: &ObjectKey, now: Timestamp) {
    let mut driver = command(cluster, catalogs, now);
    let removal = removal(&driver.world(now), &operator.namespace, &operator.name, true);
    // The command refuses to break operators of other namespaces.
    if let Ok(removal) = removal
        && removal.dependants.is_empty()
    {
        drop(driver.remove(&removal));
    }
}

fn roll_back(
    cluster: &SimCluster,
    catalogs: &SimCatalogs,
    operator: &ObjectKey,
    to: Option<&str>,
    now: Timestamp,
) {
    let mut driver = command(cluster, catalogs, now);
    if let Ok(rollback) = driver.show_rollback(&operator.namespace, &operator.name, to, now) {
        drop(driver.roll_back(&rollback));
    }
}

fn find_plan(
    cluster: &SimCluster,
    namespace: &str,
    operators: &[String],
    answer: Answer,
) -> Option<ObjectKey> {
    let is_it = |plan: &&Object| {
        let brings = plan.at(&["spec", "clusterServiceVersionNames"]);
        let phase = plan.status().get("phase").str();
        plan.kind() == known::INSTALL_PLAN
            && plan.namespace() == namespace
            && brings.iter_texts().eq(operators.iter().map(String::as_str))
            && (phase == "RequiresApproval" || answer == Answer::Delete)
    };
    let generation = |plan: &&Object| plan.at(&["spec", "generation"]).as_integer();
    cluster.objects().iter().filter(is_it).max_by_key(generation).map(Object::key)
}

fn edit(cluster: &SimCluster, key: &ObjectKey, patch: &Value) {
    if let Some(target) = target(cluster, key) {
        let (manager, part) = ("person".to_owned(), Part::Whole);
        ask(cluster, &Request::MergePatch { target, patch: patch.clone(), manager, part });
    }
}

fn delete(cluster: &SimCluster, key: &ObjectKey) {
    if let Some(target) = target(cluster, key) {
        ask(cluster, &Request::Delete { target, options: DeleteOptions::default() });
    }
}

fn target(cluster: &SimCluster, key: &ObjectKey) -> Option<Target> {
    let found = Cluster::get(cluster, key).ok().flatten();
    found.map(|object| Target::of(&object))
}

fn ask(cluster: &SimCluster, request: &Request) {
    // A person who is refused goes on with something else.
    drop(cluster.request(request));
}
