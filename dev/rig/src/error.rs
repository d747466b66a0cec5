//! Why a rig cannot be built, started, used or taken down.
//!
//! Why it could never run on this machine is an [`Obstacle`]; a test passes over those by name.

use std::{io, path::PathBuf, time::Duration};

use crate::{Component, MAX_NAME_LENGTH, Obstacle};

/// Why something about a rig failed.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// No rig can run here.
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
    /// A name cannot become part of paths and of a network namespace.
    #[error(
        "`{name}` is no name for a rig: use up to {MAX_NAME_LENGTH} lower-case letters, digits and dashes"
    )]
    BadName {
        /// The name that was given.
        name: String,
    },
    /// Another process holds the rig.
    #[error(
        "the rig `{name}` belongs to a process that still runs; use another name, or end that process"
    )]
    InUse {
        /// The name of the rig.
        name: String,
    },
    /// A rig of that name was left running on purpose.
    #[error(
        "the rig `{name}` is up already; take it down with `cargo xtask rig down --name {name}`"
    )]
    AlreadyUp {
        /// The name of the rig.
        name: String,
    },
    /// No rig of that name runs.
    #[error("there is no rig `{name}`; start it with `cargo xtask rig up --name {name}`")]
    NotThere {
        /// The name of the rig.
        name: String,
    },
    /// A component does not belong to this rig.
    #[error("the rig `{name}` has no {component}: it was started without a node")]
    NoSuchComponent {
        /// The name of the rig.
        name: String,
        /// The component that was asked for.
        component: Component,
    },
    /// The directory of all rigs belongs to somebody else.
    #[error("`{path}` belongs to another user, so no rig is put there; remove it first", path = path.display())]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A file or directory cannot be used.
    #[error("cannot {action} `{path}`: {source}", path = path.display())]
    File {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A command cannot be started.
    #[error("cannot run `{command}`: {source}")]
    CannotRun {
        /// The command as it would be typed.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// A command failed.
    #[error("`{command}` failed:\n{output}")]
    Failed {
        /// The command as it would be typed.
        command: String,
        /// What it said about it.
        output: String,
    },
    /// A component ended while it was waited for.
    #[error("{component} ended before it was ready; the end of its log:\n{log}")]
    Ended {
        /// The component.
        component: Component,
        /// The last lines of its log.
        log: String,
    },
    /// A component did not get ready.
    #[error("{component} was not ready after {waited:.0?}; the end of its log:\n{log}")]
    NotReady {
        /// The component.
        component: Component,
        /// How long it was waited for.
        waited: Duration,
        /// The last lines of its log.
        log: String,
    },
    /// A process does not end.
    #[error("{component} (process {pid}) does not end, even when it is killed")]
    DoesNotEnd {
        /// The component.
        component: Component,
        /// Its process.
        pid: u32,
    },
    /// Something of a rig stayed behind.
    #[error("the rig `{name}` was taken down, but this is left of it: {left}")]
    Leftovers {
        /// The name of the rig.
        name: String,
        /// What is left.
        left: String,
    },
    /// A certificate cannot be made.
    #[error("cannot make the certificates of the rig: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The calling thread cannot enter the rig's network.
    #[error("cannot enter the network of the rig `{name}`: {source}")]
    CannotEnter {
        /// The name of the rig.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A user is not among those the rig knows.
    #[error("the rig knows no user `{user}`; it knows {known}")]
    UnknownUser {
        /// The name that was asked for.
        user: String,
        /// Those it knows.
        known: String,
    },
    /// An image cannot be made.
    #[error("cannot make the image `{name}`: {source}")]
    Image {
        /// The image.
        name: String,
        /// What failed.
        source: io::Error,
    },
}

impl RigError {
    /// Makes a function that says which file an error of the system is about.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
