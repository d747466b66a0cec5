//! `operon describe`: one object in words, with what was told about it.
//!
//! Conditions and messages are shown as the engine wrote them; nothing is concluded here.

mod operator;
mod page;
mod plan;
mod subscription;

use clap::Args;
use operon_driver::{Cluster, Interest};
use operon_kinds::Subscription;
use operon_object::{Kind, Object, known};

use self::page::Page;
use crate::{
    cluster::{ClusterArguments, Kinds, NamespaceArguments, Reached, find_one, now},
    events,
    exit::Outcome,
    output::print_text,
};

/// Describes an object of the cluster: what it is, how it stands, and why
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon describe subscription beacon
  operon describe csv beacon.v1.0.0 -n harbour --dir ./harbour")]
pub(crate) struct Describe {
    /// The kind, such as `sub` or `csv`
    kind: String,
    /// The name
    name: String,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn run(command: &Describe) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let kind = Kinds::of(&cluster)?.find(&command.kind)?.kind;
    let names_of = |object: &Object| names(&kind, object);
    let object = find_one(&cluster, &kind, &command.name, &command.namespace, &names_of)?;
    print_text(&describe(&cluster, &object)?)?;
    Ok(Outcome::Done)
}

/// Returns other names that an object goes by.
fn names(kind: &Kind, object: &Object) -> Vec<String> {
    if *kind == known::SUBSCRIPTION {
        return vec![Subscription::read(object).package().to_owned()];
    }
    Vec::new()
}

fn describe(cluster: &Reached, object: &Object) -> anyhow::Result<String> {
    let mut page = Page::default();
    page.line("Name", object.name());
    page.line("Namespace", object.namespace());
    let kind = object.kind();
    page.line("Kind", &format!("{} ({})", kind.name(), object.api_version()));
    page.line("Created", object.metadata("creationTimestamp").str());
    if object.is_deleting() {
        let waits: Vec<&str> = object.finalizers().collect();
        let since = object.metadata("deletionTimestamp").str();
        page.line("Deleting", &format!("since {since}, waits for {}", waits.join(", ")));
    }
    page.entries("Labels", object.labels());
    page.entries("Annotations", object.annotations().filter(|(_, value)| is_short(value)));
    let owners = object.owners().map(|owner| format!("{} {}", owner.kind, owner.name));
    page.line("Owned by", &owners.collect::<Vec<_>>().join(", "));
    if kind == known::SUBSCRIPTION {
        subscription::describe(cluster, object, &mut page)?;
    } else if kind == known::CLUSTER_SERVICE_VERSION {
        operator::describe(cluster, object, now(), &mut page)?;
    } else if kind == known::INSTALL_PLAN {
        plan::describe(object, &mut page);
    } else {
        page.tree("Spec", object.spec());
        let mut status = object.status().clone();
        status.remove(&["conditions"]);
        page.tree("Status", &status);
    }
    page.conditions(object.status());
    // Events of what lies in no namespace lie anywhere.
    let near = match object.namespace() {
        "" => Interest::all(known::EVENT),
        namespace => Interest::within(known::EVENT, namespace),
    };
    let told = events::sorted(cluster, near, |event| {
        let about = event.at(&["involvedObject"]);
        about.get("uid").str() == object.uid() || is_same(about, object)
    })?;
    page.events(&told);
    Ok(page.finish())
}

fn is_same(about: &operon_object::Value, object: &Object) -> bool {
    about.get("uid").is_empty()
        && about.get("name").str() == object.name()
        && about.get("namespace").str() == object.namespace()
        && about.get("kind").str() == object.kind().name()
}

/// Long annotations are for programs.
fn is_short(value: &str) -> bool {
    value.len() <= 100 && !value.contains('\n')
}

/// Returns an object that another one refers to.
fn find(
    cluster: &Reached,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> anyhow::Result<Option<Object>> {
    if name.is_empty() {
        return Ok(None);
    }
    Ok(cluster.get(&kind.key(namespace, name))?)
}
