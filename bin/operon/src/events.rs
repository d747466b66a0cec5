//! `operon events`: what the engine told about objects.

use clap::Args;
use operon_api::{TableOptions, render_table, table_for};
use operon_driver::{Cluster, Interest};
use operon_object::{Object, known};

use crate::{
    cluster::{ClusterArguments, NamespaceArguments, now},
    exit::Outcome,
    output::{print_text, stderr_line},
};

/// Shows what happened in the cluster, oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon events
  operon events --for beacon.v1.0.0 -n harbour")]
pub(crate) struct Events {
    /// Only what was told about the object of this name
    #[arg(long = "for", value_name = "NAME")]
    about: Option<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn run(command: &Events) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let is_meant = |event: &Object| {
        command.about.as_ref().is_none_or(|name| event.at(ABOUT_NAME).str() == name)
    };
    let events = sorted(&cluster, command.namespace.interest(known::EVENT), is_meant)?;
    if events.is_empty() {
        stderr_line!("nothing was told");
        return Ok(Outcome::Done);
    }
    let options = TableOptions {
        wide: false,
        now: now(),
        with_namespace: command.namespace.namespace.is_none(),
        crd: None,
    };
    print_text(&render_table(&table_for(&known::EVENT, &events, options)))?;
    Ok(Outcome::Done)
}

/// Where an event names the object that it is about.
pub(crate) const ABOUT_NAME: &[&str] = &["involvedObject", "name"];

/// Returns those of some events that are meant, oldest first.
pub(crate) fn sorted(
    cluster: &impl Cluster,
    interest: Interest,
    is_meant: impl Fn(&Object) -> bool,
) -> anyhow::Result<Vec<Object>> {
    let mut events = cluster.list(&[interest].into())?.objects;
    events.retain(|event| is_meant(event));
    // Times have whole seconds; what was written first comes first within one.
    events.sort_by_key(|event| {
        let version: u64 = event.resource_version().parse().unwrap_or(0);
        (event.at(&["lastTimestamp"]).str().to_owned(), version)
    });
    Ok(events)
}
