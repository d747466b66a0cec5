//! What can go wrong on either end of the API, in sentences that name the address.

use std::{io, time::Duration};

use thiserror::Error;

use crate::AddressError;

/// Why a catalog cannot be served.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address is taken, or not one of this machine.
    #[error(
        "cannot listen at `{address}`: {source}; choose another address, or port 0 for any free one"
    )]
    Bind {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no threads or signals.
    #[error("cannot start the threads of the server: {source}")]
    Threads {
        /// What the system says.
        source: io::Error,
    },
    /// The server ended although nobody stopped it.
    #[error("the server at `{address}` ended unexpectedly; start it again and report this")]
    Ended {
        /// The address.
        address: String,
    },
}

impl ClientError {
    /// Returns `true` if the registry could not be reached, or did not answer in time.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::ShutDown { .. } | Self::TooSlow { .. })
    }

    /// Returns what a status may say, which tenants read: all failures of connections have one text, and the
    /// words of the server are not repeated.
    pub fn summary(&self) -> String {
        match self {
            Self::Unreachable { address, .. }
            | Self::ShutDown { address }
            | Self::TooSlow { address, .. } => format!(
                "cannot reach `{address}`: connection failed; the log of the controller has the details"
            ),
            Self::Refused { address, call, code, .. } => {
                format!("`{address}` answered `{call}` with {code}")
            }
            Self::Address(_)
            | Self::Forbidden { .. }
            | Self::Threads { .. }
            | Self::Unsound { .. }
            | Self::TooMuch { .. }
            | Self::Write { .. } => self.to_string(),
        }
    }
}

/// Why a registry did not answer, or not with what can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClientError {
    /// The address cannot be read.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// This machine gives no threads to talk from.
    #[error("cannot start the thread that talks to `{address}`: {reason}")]
    Threads {
        /// The address.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// No connection can be made.
    #[error("cannot connect to `{address}`: {reason}; check that a registry listens there")]
    Unreachable {
        /// The address.
        address: String,
        /// What was tried last, and how it failed.
        reason: String,
    },
    /// The address must not be connected to.
    #[error("{reason}")]
    Forbidden {
        /// Why, with the address.
        reason: String,
    },
    /// The client was shut down.
    #[error("the connection to `{address}` was shut down")]
    ShutDown {
        /// The address.
        address: String,
    },
    /// No answer came in time.
    #[error(
        "`{address}` did not answer `{call}` within {} seconds; try again or allow more time",
        within.as_secs_f32()
    )]
    TooSlow {
        /// The address.
        address: String,
        /// The call, such as `ListBundles`.
        call: &'static str,
        /// How long it was given.
        within: Duration,
    },
    /// The registry answered with an error.
    #[error("`{address}` answered `{call}` with {code}: {message}")]
    Refused {
        /// The address.
        address: String,
        /// The call.
        call: &'static str,
        /// The gRPC code, such as `Unknown`.
        code: String,
        /// What the registry says.
        message: String,
    },
    /// The registry sends something that no sound registry sends.
    #[error("what `{address}` serves cannot be used: {defect}; ask whoever runs it to repair it")]
    Unsound {
        /// The address.
        address: String,
        /// What is wrong.
        defect: String,
    },
    /// The registry sends more than is taken.
    #[error("`{address}` sends more than {limit}; if that is right, allow more")]
    TooMuch {
        /// The address.
        address: String,
        /// What was exceeded, such as `200000 bundles`.
        limit: String,
    },
    /// What was received cannot be written down.
    #[error("what `{address}` serves cannot be written: {reason}")]
    Write {
        /// The address.
        address: String,
        /// What the system says.
        reason: String,
    },
}
