//! `operon delete`: objects out of the embedded cluster.

use clap::Args;
use operon_driver::Cluster;

use crate::{
    cluster::{ClusterArguments, Kinds, NamespaceArguments, find_one, short_name},
    exit::Outcome,
    output::{clean, print_text},
};

/// Deletes an object of the cluster, and what it owns
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon delete subscription beacon
  operon delete csv beacon.v1.0.0 -n harbour --dir ./harbour")]
pub(crate) struct Delete {
    /// The kind, such as `csv` or `deployments.apps`
    kind: String,
    /// The names
    #[arg(required = true)]
    name: Vec<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn run(command: &Delete) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let kind = Kinds::of(&cluster)?.find(&command.kind)?.kind;
    // All names are found before anything is deleted.
    let find = |name: &String| find_one(&cluster, &kind, name, &command.namespace, &|_| Vec::new());
    let objects = command.name.iter().map(find).collect::<anyhow::Result<Vec<_>>>()?;
    for object in objects {
        cluster.delete(&object.key(), object.uid())?;
        let waits = cluster.get(&object.key())?.is_some_and(|left| left.uid() == object.uid());
        let word = if waits { "is being deleted" } else { "deleted" };
        print_text(&format!("{} {word}\n", clean(&short_name(&object))))?;
    }
    cluster.hint_at_up();
    Ok(Outcome::Done)
}
