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
    collections::BTreeSet,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use operon_constraint::GroupVersionKind;
use operon_driver::Driver;
use operon_image::{CacheDirectory, DirectoryCatalogs};
use operon_kinds::names::FIELD_MANAGER;
use operon_lifecycle::Settings;
use operon_local::{Access, LocalCluster, SOCKET_FILE, Service, connect_or_open, serve};
use operon_object::known::KNOWN_KINDS;
use operon_version::Version;

use self::{directory::ManifestDirectory, display::Display, session::Session};
use crate::{
    catalog::open::CacheOptions,
    cluster::{make_state_directory, options, stop_wish},
    exit::Outcome,
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
    /// The Kubernetes version that the embedded cluster says it has
    #[arg(long, value_name = "VERSION", default_value = "v1.33.0")]
    kube_version: String,
    #[command(flatten)]
    cache: CacheOptions,
}

pub(crate) fn run(command: &Up) -> anyhow::Result<Outcome> {
    let is_terminal = io::stdout().is_terminal();
    let follows = command.follow || (is_terminal && !command.once);
    let directory = &command.directory;
    check(directory)?;
    check_version(&command.kube_version)?;
    let stop = stop_wish()?;
    let (cluster, service) = open(directory)?;
    let cache = if command.cache.no_cache { None } else { CacheDirectory::of_user() };
    let settings = Settings {
        kube_version: command.kube_version.clone(),
        native_apis: native_apis(),
        ..Settings::default()
    };
    let access = Access::Local(Arc::clone(&cluster));
    let catalogs = DirectoryCatalogs::new(directory, cache);
    let mut session = Session::new(
        cluster,
        Driver::new(access, catalogs, settings),
        ManifestDirectory::new(directory),
        Display::new(is_terminal, directory, follows),
    );
    let outcome = if follows { session.follow(&stop) } else { session.run_once(&stop) };
    // Whoever still talks to the cluster is sent away before the file is closed.
    drop(service);
    outcome
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

fn check_version(text: &str) -> anyhow::Result<()> {
    Version::parse_tolerant(text.trim_start_matches('v'))
        .map(drop)
        .map_err(|error| anyhow!("`{text}` is no version such as `v1.33.0`: {error}"))
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

/// The APIs that every cluster provides by itself.
fn native_apis() -> BTreeSet<GroupVersionKind> {
    let built_in = KNOWN_KINDS.iter().filter(|known| !known.is_custom);
    built_in
        .map(|known| GroupVersionKind {
            group: known.kind.group().to_owned(),
            version: known.version.to_owned(),
            kind: known.kind.name().to_owned(),
        })
        .collect()
}
