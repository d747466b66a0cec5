//! `operon uninstall`: an operator goes, and what users made stays.
//!
//! It is first shown and then done, and only if it is still what was shown. What goes with an operator
//! is worked out by the engine's room.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use clap::Args;
use operon_api::read_objects;
use operon_driver::{Cluster, Interest};
use operon_kinds::names::FIELD_MANAGER;
use operon_lifecycle::views::{Extent, Removal, removal_within};
use operon_object::{Kind, ObjectKey};

use crate::{
    cluster::{
        ClusterArguments, Engine, EngineArguments, Kinds, NamespaceArguments, Reached, act,
        look_well, namespace_of_operator, now, place,
    },
    exit::Outcome,
    manifests::{files_in, read_file},
    output::{clean, print_text},
    system::{self, SelfRemoval},
};

/// Takes an operator, or Operon itself, away; without --approve or --yes it only shows what that would mean
#[derive(Debug, Args)]
#[command(after_help = "\
CRDs and what users made of them always stay.
Exit codes: 0 done, 2 shown and there is something to do, 1 refused or something is wrong

Examples:
  operon uninstall beacon
  operon uninstall --self
  operon uninstall beacon --with-leftovers --approve 90ab12cd34
  operon uninstall tide --with-dependants --yes")]
pub(crate) struct Uninstall {
    /// The operator, its package or its Subscription
    #[arg(required_unless_present = "itself")]
    name: Option<String>,
    /// Takes Operon itself away; operators go on as they are
    #[arg(long = "self", conflicts_with_all = ["name", "with_dependants", "with_leftovers"])]
    itself: bool,
    /// With --self: takes its CRDs away too, and every object of their kinds
    #[arg(long, requires = "itself", conflicts_with = "name")]
    with_crds: bool,
    /// Only shows what would go and what would stay
    #[arg(long, conflicts_with_all = ["approve", "yes"])]
    plan: bool,
    /// Takes those away too that need it
    #[arg(long)]
    with_dependants: bool,
    /// Takes those away too that came along for it and that nobody else needs
    #[arg(long)]
    with_leftovers: bool,
    /// Does it, if the plan still has this name
    #[arg(long, value_name = "PLAN", conflicts_with = "yes")]
    approve: Option<String>,
    /// Does it, whatever it is by now
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    engine: EngineArguments,
}

impl Uninstall {
    /// Returns what was typed as the operator.
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

/// A removal with what people should know about it.
struct Shown {
    namespace: String,
    removal: Removal,
    /// Why it would harm others if it went alone.
    harm: Vec<String>,
    /// How many custom resources exist of each definition that stays.
    resources: BTreeMap<Kind, usize>,
    /// Where manifests ask for what goes: a place, and the object.
    asking: Vec<(String, ObjectKey)>,
}

pub(crate) fn run(command: &Uninstall) -> anyhow::Result<Outcome> {
    if command.itself {
        return system::remove(&SelfRemoval {
            cluster: &command.cluster,
            namespace: command.namespace.namespace.as_deref(),
            with_crds: command.with_crds,
            approve: command.approve.as_deref(),
            is_sure: command.yes,
        });
    }
    command.engine.check()?;
    let cluster = command.cluster.reach_as(FIELD_MANAGER)?;
    let mut engine = command.engine.engine(cluster)?;
    look_well(&mut engine)?;
    let shown = show(command, &engine)?;
    let is_asked = command.approve.is_some() || command.yes;
    if !is_asked {
        print_text(&text::plan(command, &shown))?;
        let is_possible = shown.removal.dependants.is_empty();
        return Ok(if is_possible { Outcome::Changes } else { Outcome::Negative });
    }
    check(command, &shown)?;
    engine.remove(&shown.removal)?;
    print_text(&text::goes(&shown))?;
    let cluster = engine.cluster().clone();
    act(engine)?;
    conclude(&cluster, &shown)
}

/// Works out what would happen. What harms others is shown with them.
fn show(command: &Uninstall, engine: &Engine) -> anyhow::Result<Shown> {
    let world = engine.world(now());
    let namespace = namespace_of_operator(world.objects, command.name(), &command.namespace)?;
    let Uninstall { with_dependants, with_leftovers, .. } = *command;
    let within = |extent| removal_within(&world, &namespace, command.name(), extent);
    let mut removal = within(Extent { with_dependants, with_leftovers })?;
    let harm: Vec<String> = removal.dependants.iter().map(|(_, why)| why.clone()).collect();
    if !harm.is_empty() && !with_dependants {
        removal = within(Extent { with_dependants: true, with_leftovers })?;
    }
    let mut resources = BTreeMap::new();
    for definition in &removal.definitions {
        let listed = engine.cluster().list(&Interest::all_of([definition.kind.clone()]))?;
        resources.insert(definition.kind.clone(), listed.objects.len());
    }
    let asking = asking(engine.cluster(), &removal)?;
    Ok(Shown { namespace, removal, harm, resources, asking })
}

/// Finds the manifests of the directory that ask for what goes.
fn asking(cluster: &Reached, removal: &Removal) -> anyhow::Result<Vec<(String, ObjectKey)>> {
    let going: BTreeSet<&ObjectKey> = removal
        .operators
        .iter()
        .flat_map(|operator| {
            operator.subscriptions.iter().map(|(key, _)| key).chain([&operator.key])
        })
        .collect();
    let kinds = Kinds::of(cluster)?;
    let mut asking = Vec::new();
    // A file that cannot be read asks for nothing; `operon up` says what is wrong with it.
    let files = cluster.directory().map(|directory| files_in(directory).unwrap_or_default());
    for file in files.unwrap_or_default() {
        let Ok(text) = read_file(&file) else { continue };
        for mut located in read_objects(&file.display().to_string(), &text).objects {
            place(&mut located.object, &kinds, None);
            let key = located.object.key();
            if going.contains(&key) {
                let line = located.line.map_or_else(String::new, |line| format!(":{line}"));
                asking.push((format!("{}{line}", located.file), key));
            }
        }
    }
    Ok(asking)
}

/// Refuses what would harm others, and what is not what a person saw.
fn check(command: &Uninstall, shown: &Shown) -> anyhow::Result<()> {
    let Shown { removal, harm, .. } = shown;
    let rest = text::options(command, shown);
    if let Some((key, why)) = removal.dependants.first() {
        bail!("{why}\nhint: it is in namespace {}; take it away there first", key.namespace);
    }
    if let (Some(why), false) = (harm.first(), command.with_dependants) {
        bail!(
            "{why}; removing {} alone would break it\nhint: operon uninstall {}{rest} --plan shows what goes with it",
            command.name(),
            command.name()
        );
    }
    match &command.approve {
        Some(id) if *id != removal.name => bail!(
            "the plan is {} by now, and not {id}: something changed, or other options were given\nhint: look at it again: operon uninstall {}{rest} --plan",
            removal.name,
            command.name()
        ),
        Some(_) | None => Ok(()),
    }
}

/// Says how it ended.
fn conclude(cluster: &Reached, shown: &Shown) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    let mut text = String::new();
    for operator in &shown.removal.operators {
        let left = cluster.get(&operator.key)?;
        let is_there = left.is_some_and(|left| left.uid() == operator.uid);
        let word = match (is_there, cluster.is_idle()) {
            (false, _) => "is gone",
            (true, false) => "is going",
            (true, true) => {
                outcome = Outcome::Negative;
                "is still there: operon describe csv tells what it waits for"
            }
        };
        text += &format!("{} {word}\n", clean(&operator.key.name));
    }
    print_text(&text)?;
    Ok(outcome)
}
