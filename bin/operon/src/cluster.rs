//! The embedded cluster as commands see it: where it is, what it calls things, and how it is written.
//!
//! Whether a command has the state file open itself or talks to the `operon up` that has, it does not
//! notice. No rule of the domain is here.

mod apply;
mod engine;
mod kinds;
mod objects;
mod operators;
mod scratch;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use anstream::eprintln;
use anyhow::{Context, bail};
use clap::Args;
use operon_api::crd_objects;
use operon_apiserver::Settings;
use operon_local::{Access, Options, connect_or_open, system_clock};
use operon_object::Timestamp;

pub(crate) use self::{
    apply::{Appliable, Applied, apply, in_order, place},
    engine::{
        DEFAULT_KUBE_VERSION, Engine, EngineArguments, FETCH_LOOK, LONGEST_FETCH, act,
        check_version, engine, look_at, look_well, wait_for_bundle,
    },
    kinds::{FoundKind, Kinds},
    objects::{NamespaceArguments, find_one, find_operator, long_name, short_name, update},
    operators::{kind_words, namespace_of_operator},
    scratch::Scratch,
};

/// The directory, below the one that `operon up` is given, that holds the state.
const STATE_DIRECTORY: &str = ".operon";

/// The field manager of what people do with commands.
pub(crate) const PERSON: &str = "operon-cli";

/// The cluster that a command is about.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// The directory of the cluster, as it is given to `operon up`
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

impl ClusterArguments {
    /// Reaches the cluster of the directory as a person; it must exist.
    pub(crate) fn reach(&self) -> anyhow::Result<Access> {
        self.reach_as(PERSON)
    }

    /// Reaches the cluster of the directory under the name of a manager; it must exist.
    pub(crate) fn reach_as(&self, manager: &str) -> anyhow::Result<Access> {
        let directory = state_directory(&self.dir);
        let display = self.dir.display();
        if !directory.is_dir() {
            bail!(
                "there is no cluster in `{display}`\nhint: operon up {display} begins one; --dir names another directory"
            );
        }
        Ok(connect_or_open(&directory, &options(manager))?)
    }

    /// Returns how a command that is told to a person names the directory, with a blank before it.
    pub(crate) fn option(&self) -> String {
        match self.dir.to_str() {
            Some(".") => String::new(),
            _ => format!(" --dir {}", self.dir.display()),
        }
    }
}

/// Returns the directory that holds the state of the cluster of a directory.
pub(crate) fn state_directory(directory: &Path) -> PathBuf {
    directory.join(STATE_DIRECTORY)
}

/// Makes the directory that holds the state, if it is not there.
pub(crate) fn make_state_directory(directory: &Path) -> anyhow::Result<PathBuf> {
    let state = state_directory(directory);
    fs::create_dir_all(&state).with_context(|| {
        let display = state.display();
        format!("cannot keep the state of the cluster in `{display}`\nhint: make the directory writable, or copy it to where it is")
    })?;
    Ok(state)
}

/// Says how the embedded cluster behaves for whoever writes under a name.
pub(crate) fn options(manager: &str) -> Options {
    Options {
        definitions: crd_objects(),
        manager: manager.to_owned(),
        clock: system_clock(),
        settings: Settings::default(),
    }
}

/// Returns the time.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(0).after(since)
}

/// Says that nobody acts on a change, if so.
pub(crate) fn hint_at_up(cluster: &Access, directory: &Path) {
    if is_idle(cluster) {
        eprintln!("hint: operon up {} acts on it", directory.display());
    }
}

/// Tells whether no `operon up` looks after a cluster.
pub(crate) fn is_idle(cluster: &Access) -> bool {
    matches!(cluster, Access::Local(_))
}

/// Turns Ctrl-C into a wish that is asked for; a second Ctrl-C ends the program at once.
pub(crate) fn stop_wish() -> anyhow::Result<Arc<AtomicBool>> {
    let wish = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&wish))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&wish)))
            .context("cannot listen to Ctrl-C")?;
    }
    Ok(wish)
}

/// Tells whether somebody wishes to stop.
pub(crate) fn is_stopping(wish: &AtomicBool) -> bool {
    wish.load(Ordering::Relaxed)
}
