//! `operon pin` and `operon pause`: what keeps a Subscription from moving on.
//!
//! Both are annotations, so that manifests can say the same.

use anyhow::bail;
use clap::Args;
use operon_kinds::{Pin as Versions, names};

use crate::{
    cluster::{ClusterArguments, NamespaceArguments, find_operator, long_name, update},
    exit::Outcome,
    output::{clean, print_text},
};

/// Keeps an operator at a version, or within a range of versions
///
/// A pin narrows what the channel offers; it never makes a version reachable that the channel does
/// not lead to, and never moves an operator back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon pin beacon 1.0.0
  operon pin beacon '>=1.0.0 <2.0.0'
  operon pin beacon --off")]
pub(crate) struct Pin {
    /// The Subscription, or its operator or package
    subscription: String,
    /// A version such as `1.0.0`, or a range such as `>=1.0.0 <2.0.0`
    #[arg(value_name = "VERSION|RANGE", required_unless_present = "off")]
    versions: Option<String>,
    /// Takes the pin away
    #[arg(long, conflicts_with = "versions")]
    off: bool,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

/// Keeps everything about an operator as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  operon pause beacon\n  operon pause beacon --off")]
pub(crate) struct Pause {
    /// The Subscription, or its operator or package
    subscription: String,
    /// Lets it go on
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn pin(command: &Pin) -> anyhow::Result<Outcome> {
    let versions = match &command.versions {
        Some(text) => Some(Versions::parse(text)?.to_string()),
        None => None,
    };
    let told = match &versions {
        Some(versions) => format!("pinned to {versions}"),
        None => "no longer pinned".to_owned(),
    };
    let value = versions.as_deref();
    let Pin { subscription, namespace, cluster, .. } = command;
    annotate(subscription, namespace, cluster, names::PIN_ANNOTATION, value, &told)
}

pub(crate) fn pause(command: &Pause) -> anyhow::Result<Outcome> {
    let (value, told) =
        if command.off { (None, "no longer paused") } else { (Some("true"), "paused") };
    let Pause { subscription, namespace, cluster, .. } = command;
    annotate(subscription, namespace, cluster, names::PAUSE_ANNOTATION, value, told)
}

fn annotate(
    name: &str,
    namespace: &NamespaceArguments,
    arguments: &ClusterArguments,
    annotation: &str,
    value: Option<&str>,
    told: &str,
) -> anyhow::Result<Outcome> {
    if name.is_empty() {
        bail!("the name is empty");
    }
    let cluster = arguments.reach()?;
    let subscription = find_operator(&cluster, name, namespace)?;
    let text = long_name(&subscription);
    let has_changed = update(&cluster, subscription, |object| match value {
        Some(value) => object.set_annotation(annotation, value),
        None => object.remove_annotation(annotation),
    })?;
    let before = if has_changed { "" } else { " already" };
    print_text(&format!("{} is{before} {told}\n", clean(&text)))?;
    if has_changed {
        cluster.hint_at_up();
    }
    Ok(Outcome::Done)
}
