//! `operon rollback`: back to the operator before, with its dangers listed first.
//!
//! It is first shown and then done, and only if it is still what was shown. What going back means is
//! worked out by the engine's room.

use std::{collections::BTreeMap, thread, time::Instant};

use anyhow::{anyhow, bail};
use clap::Args;
use operon_driver::Cluster;
use operon_kinds::{InstallPlan, Phase, ServiceVersion, names::FIELD_MANAGER};
use operon_lifecycle::views::{self, RollbackError};
use operon_object::{Kind, known};

use crate::{
    cluster::{
        ClusterArguments, EngineArguments, FETCH_LOOK, LONGEST_FETCH, NamespaceArguments, Reached,
        act, kind_words, look_well, namespace_of_operator, now,
    },
    exit::Outcome,
    output::{clean, print_text, terminal},
};

/// Roll an operator back to its previous version; without --approve or --yes it only shows what that means
#[derive(Debug, Args)]
#[command(after_help = "\
The Subscription is pinned, so that the operator is not updated again at once. CRDs stay as they are.
Exit codes: 0 done, 2 shown and there is something to do, 1 there is no way back or something is wrong

Examples:
  operon rollback beacon
  operon rollback beacon --approve install-90ab12cd34
  operon rollback beacon --to 1.0.0 --yes")]
pub(crate) struct Rollback {
    /// The operator, its package or its Subscription
    name: String,
    /// Only shows what would happen
    #[arg(long, conflicts_with = "approve")]
    plan: bool,
    /// Does it, if the plan still has this name
    #[arg(long, value_name = "PLAN")]
    approve: Option<String>,
    /// Version to roll back to [default: the previous version]
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
    /// Roll back without a preview
    #[arg(short, long, conflicts_with_all = ["plan", "approve"])]
    yes: bool,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    engine: EngineArguments,
}

pub(crate) fn run(command: &Rollback) -> anyhow::Result<Outcome> {
    command.engine.check()?;
    let cluster = command.cluster.reach_as(FIELD_MANAGER)?;
    let mut engine = command.engine.engine(cluster)?;
    look_well(&mut engine)?;
    let namespace = namespace_of_operator(engine.objects(), &command.name, &command.namespace)?;
    let start = Instant::now();
    let rollback = loop {
        match engine.show_rollback(&namespace, &command.name, command.to.as_deref(), now()) {
            Err(RollbackError::Wanted(_)) if start.elapsed() < LONGEST_FETCH => {
                thread::sleep(FETCH_LOOK);
            }
            shown => break shown.map_err(|error| told(&error))?,
        }
    };
    let id = command.approve.as_deref().or(command.yes.then(|| rollback.plan.name()));
    let Some(id) = id else {
        let key = known::CLUSTER_SERVICE_VERSION.key(&namespace, &rollback.from);
        let running = engine.objects().find(&key).map(ServiceVersion::read);
        let version = running.map(|running| running.version_text()).unwrap_or_default();
        print_text(&text(command, &rollback, version))?;
        return Ok(Outcome::Changes);
    };
    if id != rollback.plan.name() {
        bail!(
            "the plan is {} by now, and not {id}: something changed\nhint: look at it again: operon rollback {}{} --plan",
            rollback.plan.name(),
            command.name,
            options(command)
        );
    }
    engine.roll_back(&rollback)?;
    let cluster = engine.cluster().clone();
    act(engine)?;
    conclude(&cluster, &namespace, &rollback)
}

/// Says why there is no way back, and what can be done instead.
fn told(error: &RollbackError) -> anyhow::Error {
    let hint = match error {
        RollbackError::Unknown(_) => "operon tree shows what is here",
        RollbackError::Freestanding(_) => "a Subscription to its package takes it over",
        RollbackError::UnderWay(_) | RollbackError::InProgress { .. } => "operon up lets it settle",
        RollbackError::First(_) | RollbackError::NeverRan { .. } => {
            "operon history shows what went before"
        }
        RollbackError::NotOffered { .. } => "publish it in the catalog again",
        RollbackError::Wanted(_) | RollbackError::Fault(_) => {
            "operon catalog validate tells what is wrong with a catalog"
        }
    };
    anyhow!("{error}\nhint: {hint}")
}

fn text(command: &Rollback, rollback: &views::Rollback, version: &str) -> String {
    let [down, arrow] = if terminal::has_unicode() { ["↓", "→"] } else { ["v", "->"] };
    let subscription = &rollback.subscription;
    let namespace = rollback.plan.namespace();
    let mut plan = rollback.plan.clone();
    plan.set(&["status"], rollback.status.clone());
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for step in InstallPlan::read(&plan).steps() {
        *counts.entry(step.api_kind().kind).or_insert(0) += 1;
    }
    let id = plan.name();
    let mut lines = vec![
        format!("{down} {} {version} {arrow} {}", rollback.from, rollback.version),
        format!("  writes {}", kind_words(&counts)),
        format!(
            "  pins Subscription {namespace}/{subscription} to {}; operon pin {subscription} --off lets it move on again",
            rollback.version
        ),
        String::new(),
        "What can go wrong:".to_owned(),
    ];
    let dangers = rollback.dangers.iter().enumerate();
    lines.extend(dangers.map(|(index, danger)| format!("  {}. {danger}", index + 1)));
    lines.push(String::new());
    lines.push(format!(
        "Plan {id}: 1 to roll back. To do it: operon rollback {}{} --approve {id}",
        command.name,
        options(command)
    ));
    lines.iter().map(|line| format!("  {}", clean(line)).trim_end().to_owned() + "\n").collect()
}

/// Returns the options that a command needs to mean the same, each with a blank before it.
fn options(command: &Rollback) -> String {
    let namespace = command.namespace.namespace.as_ref();
    let namespace = namespace.map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let to = command.to.as_ref().map_or_else(String::new, |version| format!(" --to {version}"));
    namespace + &to + &command.cluster.option()
}

/// Says how it ended.
fn conclude(
    cluster: &Reached,
    namespace: &str,
    rollback: &views::Rollback,
) -> anyhow::Result<Outcome> {
    let key = known::CLUSTER_SERVICE_VERSION.key(namespace, &rollback.to);
    let operator = cluster.get(&key)?;
    let phase = operator.as_ref().map(|operator| ServiceVersion::read(operator).phase());
    let (word, outcome) = match (phase, cluster.is_idle()) {
        (Some(Phase::Succeeded), _) => ("runs again", Outcome::Done),
        (_, false) => ("is on its way", Outcome::Done),
        (_, true) => ("does not run: operon describe csv tells why", Outcome::Negative),
    };
    print_text(&format!(
        "{} {word}; Subscription {namespace}/{} is pinned to {}\n",
        clean(&rollback.to),
        clean(&rollback.subscription),
        clean(&rollback.version)
    ))?;
    Ok(outcome)
}
