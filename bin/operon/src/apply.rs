//! `operon apply`: manifests into the embedded cluster.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cluster::{ClusterArguments, Kinds, PERSON, apply, in_order, long_name, place, short_name},
    exit::Outcome,
    manifests::read_all_objects,
    output::{clean, print_text, stderr_line},
};

/// Makes objects of the cluster be as manifests say
///
/// Fields that were applied before and are not in the manifests any more are taken away; what others
/// set stays.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 a manifest was refused; the others are applied

Examples:
  operon apply -f subscription.yaml
  kubectl get sub etcd -o yaml | operon apply -f - --dir ./harbour")]
pub(crate) struct Apply {
    /// A file of manifests, a directory of such files, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE", required = true)]
    filename: Vec<PathBuf>,
    /// The namespace of manifests that name none [default: default]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn run(command: &Apply) -> anyhow::Result<Outcome> {
    let objects = in_order(read_all_objects(&command.filename)?);
    let cluster = command.cluster.reach()?;
    let mut outcome = Outcome::Done;
    for mut located in objects {
        // A definition that was applied just now counts.
        let kinds = Kinds::of(&cluster)?;
        place(&mut located.object, &kinds, command.namespace.as_deref());
        let object = &located.object;
        match apply(&cluster, object, PERSON) {
            Ok((object, applied)) => {
                print_text(&format!("{} {}\n", clean(&short_name(&object)), applied.text()))?;
            }
            Err(error) => {
                let line = located.line.map_or_else(String::new, |line| format!(":{line}"));
                let place = format!("{}{line}: {}", located.file, long_name(object));
                stderr_line!("error: {place}: {error}");
                outcome = Outcome::Negative;
            }
        }
    }
    cluster.hint_at_up();
    Ok(outcome)
}
