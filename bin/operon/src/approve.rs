//! `operon approve` and `operon reject`: what a person says about InstallPlans.
//!
//! A plan is named by its content, so that what was approved is what is done.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use clap::Args;
use operon_catalog::nearest;
use operon_driver::Cluster;
use operon_kinds::{InstallPlan, PlanPhase, Subscription, names};
use operon_object::{Object, known};

use crate::{
    cluster::{ClusterArguments, NamespaceArguments, Reached, update},
    exit::Outcome,
    output::{clean, print_text},
};

/// Says yes to an InstallPlan that waits for approval
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon approve beacon
  operon approve install-7c41d -n harbour
  operon approve --all --dir ./harbour")]
pub(crate) struct Approve {
    #[command(flatten)]
    plans: PlanArguments,
}

/// Says no to an InstallPlan that waits for approval; it is not made again until something changes
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  operon reject beacon")]
pub(crate) struct Reject {
    #[command(flatten)]
    plans: PlanArguments,
}

#[derive(Debug, Args)]
struct PlanArguments {
    /// The name of the plan, or of an operator, package or Subscription that it is for
    #[arg(value_name = "PLAN|OPERATOR", required_unless_present = "all")]
    name: Option<String>,
    /// Every plan that waits for approval
    #[arg(long, conflicts_with = "name")]
    all: bool,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
}

pub(crate) fn approve(command: &Approve) -> anyhow::Result<Outcome> {
    say(&command.plans, "approved", |plan| {
        plan.set(&["spec", "approved"], true);
        plan.remove_annotation(names::REJECTED_ANNOTATION);
    })
}

pub(crate) fn reject(command: &Reject) -> anyhow::Result<Outcome> {
    say(&command.plans, "rejected", |plan| {
        plan.set_annotation(names::REJECTED_ANNOTATION, "true");
    })
}

fn say(
    arguments: &PlanArguments,
    word: &str,
    change: impl Fn(&mut Object),
) -> anyhow::Result<Outcome> {
    let cluster = arguments.cluster.reach()?;
    let plans = find(&cluster, arguments)?;
    for plan in plans {
        let operators: Vec<&str> = InstallPlan::read(&plan).operators().collect();
        let text = format!("{}/{} {word}: {}", plan.namespace(), plan.name(), operators.join(", "));
        update(&cluster, plan.clone(), &change)?;
        print_text(&format!("InstallPlan {}\n", clean(&text)))?;
    }
    cluster.hint_at_up();
    Ok(Outcome::Done)
}

/// Finds the plans that are meant; each waits for a word.
fn find(cluster: &Reached, arguments: &PlanArguments) -> anyhow::Result<Vec<Object>> {
    let kinds = [known::INSTALL_PLAN, known::SUBSCRIPTION];
    let interests = kinds.map(|kind| arguments.namespace.interest(kind)).into();
    let objects = cluster.list(&interests)?.objects;
    let (plans, subscriptions): (Vec<Object>, Vec<Object>) =
        objects.into_iter().partition(|object| object.kind() == known::INSTALL_PLAN);
    let waits = |plan: &Object| InstallPlan::read(plan).phase() == PlanPhase::RequiresApproval;
    let Some(name) = &arguments.name else {
        let waiting: Vec<Object> = plans.into_iter().filter(waits).collect();
        if waiting.is_empty() {
            bail!("no InstallPlan waits for approval");
        }
        return Ok(waiting);
    };
    let named: Vec<&Object> =
        plans.iter().filter(|plan| words(plan, &subscriptions).contains(name)).collect();
    let waiting: Vec<&&Object> = named.iter().filter(|plan| waits(plan)).collect();
    match (&waiting[..], &named[..]) {
        ([plan], _) => Ok(vec![(**plan).clone()]),
        ([], []) => {
            let known: BTreeSet<String> =
                plans.iter().flat_map(|plan| words(plan, &subscriptions)).collect();
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "operon get installplans lists them".to_owned(),
            };
            Err(anyhow!("no InstallPlan is called, or is for, `{name}`\nhint: {hint}"))
        }
        ([], [.., last]) => {
            let phase = match InstallPlan::read(last).phase() {
                PlanPhase::None => "being made",
                PlanPhase::RequiresApproval => "waiting",
                PlanPhase::Installing => "being carried out",
                PlanPhase::Complete => "complete",
                PlanPhase::Failed => "failed",
            };
            bail!("no InstallPlan for `{name}` waits for approval: {} is {phase}", last.name())
        }
        (several, _) => {
            let names: Vec<String> = several
                .iter()
                .map(|plan| format!("`{}/{}`", plan.namespace(), plan.name()))
                .collect();
            bail!(
                "`{name}` is in {}\nhint: name the plan, or its namespace with -n",
                names.join(" and ")
            )
        }
    }
}

/// Returns the names that a plan goes by.
fn words(plan: &Object, subscriptions: &[Object]) -> BTreeSet<String> {
    let read = InstallPlan::read(plan);
    let targets = read.targets();
    let mut words = BTreeSet::from([plan.name().to_owned()]);
    words.extend(read.operators().map(str::to_owned));
    for object in subscriptions.iter().filter(|object| object.namespace() == plan.namespace()) {
        if targets.contains_key(object.name()) {
            words.insert(Subscription::read(object).package().to_owned());
        }
    }
    words.extend(targets.into_keys());
    words
}
