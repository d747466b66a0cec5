//! `operon up`: a directory of manifests and catalogs, brought to life without a cluster.
//!
//! The engine is the one that works on a real cluster; only the cluster is embedded. The state lies in
//! the directory, so that it can be stopped at any moment and started again.

mod calm;
mod directory;
mod display;
mod ending;

mod row;
mod session;
mod status;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::{Context, bail};
use clap::Args;
use operon_kinds::names::FIELD_MANAGER;
use operon_local::{Access, LocalCluster, SOCKET_FILE, Service, connect_or_open, serve};
use operon_object::Timestamp;

use self::{directory::ManifestDirectory, display::Display, session::Session};
use crate::{
    cluster::{
        ClusterArguments, Engine, EngineArguments, Reached, Scratch, make_state_directory, options,
        state_directory, stop_wish,
    },
    exit::Outcome,
    output::stdout_is_terminal,
};

/// Installs and updates the operators of a directory, with no cluster at all
///
/// Applies the manifests that lie in the directory (CatalogSources, OperatorGroups, Subscriptions and
/// whatever else), and keeps them so: what changes in the manifests or in the catalogs is acted on at
/// once. The image of a CatalogSource is the path of a directory, such as `./catalog`.
#[derive(Debug, Args)]
#[command(after_help = "\
It ends when everything is settled if standard output is no terminal, or with --once.
Exit codes: 0 every Subscription has its operator running, 1 not so, with the reasons

Examples:
  operon up examples/quickstart
  operon up --once ./harbour && echo ready")]
pub(crate) struct Up {
    /// The directory
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Ends when everything is settled
    #[arg(long, conflicts_with = "follow")]
    once: bool,
    /// Goes on following changes, also when standard output is no terminal
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    engine: EngineArguments,
}

pub(crate) fn run(command: &Up) -> anyhow::Result<Outcome> {
    let is_terminal = stdout_is_terminal();
    let follows = command.follow || (is_terminal && !command.once);
    let directory = &command.directory;
    check(directory)?;
    command.engine.check()?;
    let stop = stop_wish()?;
    let (cluster, service) = open(directory)?;
    let access = Access::Local(Arc::clone(&cluster));
    let mut session = Session::new(
        cluster,
        command.engine.engine(Reached::Embedded { access, directory: directory.clone() })?,
        ManifestDirectory::new(directory),
        Display::new(is_terminal, directory, follows),
    );
    let outcome = if follows { session.follow(&stop) } else { session.run_once(&stop) };
    // Whoever still talks to the cluster is sent away before the file is closed.
    drop(service);
    outcome
}

/// Lets the engine act until everything is settled, and shows it; the manifests of the directory are
/// not applied.
pub(crate) fn settle(
    cluster: Arc<LocalCluster>,
    engine: Engine,
    directory: &Path,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let is_terminal = stdout_is_terminal();
    let manifests = ManifestDirectory::left_alone(directory);
    let display = Display::new(is_terminal, directory, false);
    Session::new(cluster, engine, manifests, display).settle(stop)
}

/// Does to a copy of the cluster of a directory what `operon up` begins with: its manifests are applied.
/// Returns the copy, and what is wrong with the manifests.
pub(crate) fn rehearse(directory: &Path, now: Timestamp) -> anyhow::Result<(Scratch, Vec<String>)> {
    check(directory)?;
    let scratch = if state_directory(directory).is_dir() {
        Scratch::copy_of(&ClusterArguments::of_directory(directory).reach()?, now)?
    } else {
        Scratch::of_nothing(now)?
    };
    let mut manifests = ManifestDirectory::new(directory);
    manifests.refresh(&scratch)?;
    let problems = manifests.problems();
    Ok((scratch, problems))
}

fn check(directory: &Path) -> anyhow::Result<()> {
    let display = directory.display();
    let metadata = std::fs::metadata(directory)
        .with_context(|| format!("there is no directory `{display}`"))?;
    if !metadata.is_dir() {
        bail!(
            "`{display}` is not a directory\nhint: name the directory in which the manifests lie"
        );
    }
    Ok(())
}

/// Opens the cluster of a directory and shares it.
fn open(directory: &Path) -> anyhow::Result<(Arc<LocalCluster>, Service)> {
    let state = make_state_directory(directory)?;
    match connect_or_open(&state, &options(FIELD_MANAGER))? {
        Access::Local(cluster) => {
            let service = serve(Arc::clone(&cluster), &state.join(SOCKET_FILE))?;
            Ok((cluster, service))
        }
        Access::Remote(_) => bail!(
            "another `operon up` looks after `{}` already\nhint: operon get, describe and approve work beside it",
            directory.display()
        ),
    }
}
