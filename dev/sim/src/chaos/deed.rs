//! What people do.
//!
//! A deed names what it is about in words that mean the same in every run of a seed: plans, whose names
//! depend on what happened before, are meant by their operators.

use std::fmt;

use operon_apiserver::{DeleteOptions, Part, Request, Target};
use operon_driver::Cluster;
use operon_kinds::names;
use operon_object::{Object, ObjectKey, Value, known, map};
use operon_resolve::SourceName;

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
        }
    }
}

/// Does a deed. What cannot be done is left: people, too, meet a world that has changed.
pub(super) fn perform(deed: &Deed, cluster: &SimCluster, catalogs: &SimCatalogs) {
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
