//! What can go wrong on either end of the API, in sentences that name the address.

use std::io;

use thiserror::Error;

/// Why a catalog cannot be served.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen at `{address}`: {source}; choose another address, or port 0 for any free one")]
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
