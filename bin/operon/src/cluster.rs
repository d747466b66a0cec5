//! The cluster as commands see it: where it is, what it calls things, and how it is written.
//!
//! Whether it is a real one, or the state file of an embedded one that is open here or in an `operon up`,
//! a command does not notice. No rule of the domain is here.

mod apply;
mod engine;
mod kinds;
mod objects;
mod operators;
mod reached;
mod reader;
mod rights;
mod scratch;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use operon_api::crd_objects;
use operon_apiserver::Settings;
use operon_local::{Options, create_directory, system_clock};
use operon_object::Timestamp;

pub(crate) use self::{
    apply::{Appliable, Applied, apply, in_order, place},
    engine::{
        DEFAULT_GLOBAL_NAMESPACE, DEFAULT_KUBE_VERSION, Engine, EngineArguments, FETCH_LOOK,
        LONGEST_FETCH, act, built_in_apis, check_version, engine, look_at, look_well,
        settings_of_real, wait_for_bundle,
    },
    kinds::{FoundKind, Kinds},
    objects::{NamespaceArguments, find_one, find_operator, long_name, short_name, update},
    operators::{kind_words, namespace_of_operator},
    reached::{ClusterArguments, Reached},
    reader::Reader,
    rights::resource,
    scratch::Scratch,
};

use crate::output::stderr_line;

/// The directory, below the one that `operon up` is given, that holds the state.
const STATE_DIRECTORY: &str = ".operon";

/// The field manager of what people do with commands.
pub(crate) const PERSON: &str = "operon-cli";

/// Returns the directory that holds the state of the cluster of a directory.
pub(crate) fn state_directory(directory: &Path) -> PathBuf {
    directory.join(STATE_DIRECTORY)
}

/// Creates the directory that holds the state, private to the user, unless it exists.
pub(crate) fn make_state_directory(directory: &Path) -> anyhow::Result<PathBuf> {
    let state = state_directory(directory);
    create_directory(&state).with_context(|| {
        let display = state.display();
        format!("cannot keep the state of the cluster in `{display}`\nhint: make the directory writable, or copy it to where it is")
    })?;
    Ok(state)
}

/// Returns the options of an embedded cluster for writes by field manager `manager`.
pub(crate) fn options(manager: &str) -> Options {
    Options {
        definitions: crd_objects(),
        manager: manager.to_owned(),
        clock: system_clock(),
        settings: Settings::default(),
        notify: Arc::new(|notice| stderr_line!("warning: {notice}")),
    }
}

/// Returns the time.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(0).after(since)
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
