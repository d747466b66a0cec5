//! What is known about a connection, from the bytes of the connection itself.
//!
//! A connection is ready when the server has spoken HTTP/2, not already when something accepted it.

use std::fmt;

use tokio::sync::watch;

use crate::socket::Companion;

/// The state of a connection, with upstream's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionState {
    /// There is no connection, because none was needed yet or the last one ended.
    Idle,
    /// A connection is being made.
    Connecting,
    /// The server has spoken.
    Ready,
    /// The last attempt failed; the next one waits.
    TransientFailure,
    /// The client is not used any more.
    Shutdown,
}

impl ConnectionState {
    /// Returns the name that statuses carry, such as `TRANSIENT_FAILURE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Connecting => "CONNECTING",
            Self::Ready => "READY",
            Self::TransientFailure => "TRANSIENT_FAILURE",
            Self::Shutdown => "SHUTDOWN",
        }
    }
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The state of the newest connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Counts the attempts to connect, so that the end of an old connection is not taken for that
    /// of a newer one.
    pub(crate) attempt: u64,
    pub(crate) state: ConnectionState,
}

/// Watches one connection.
#[derive(Debug)]
pub(crate) struct Witness {
    pub(crate) attempt: u64,
    pub(crate) sight: watch::Sender<Sight>,
    /// The first bytes, until there are enough to know what speaks.
    head: Vec<u8>,
}

/// The bytes of a frame's head that say its length and kind.
const FRAME_HEAD_BYTES: usize = 4;

/// The kind of the frame that a server of HTTP/2 begins with.
const SETTINGS_FRAME: u8 = 4;

impl Witness {
    pub(crate) fn new(attempt: u64, sight: watch::Sender<Sight>) -> Self {
        Self { attempt, sight, head: Vec::new() }
    }

    /// Follows a change of the connection, unless a newer one has been begun.
    fn see(&self, follow: impl FnOnce(ConnectionState) -> ConnectionState) {
        self.sight.send_if_modified(|sight| {
            let next = follow(sight.state);
            let is_news = sight.attempt == self.attempt && sight.state != next;
            if is_news {
                sight.state = next;
            }
            is_news
        });
    }
}

impl Companion for Witness {
    fn arrived(&mut self, bytes: &[u8]) {
        let missing = FRAME_HEAD_BYTES.saturating_sub(self.head.len());
        if missing == 0 || bytes.is_empty() {
            return;
        }
        self.head.extend(bytes.iter().take(missing));
        if self.head.len() == FRAME_HEAD_BYTES && self.head.last() == Some(&SETTINGS_FRAME) {
            self.see(|state| match state {
                ConnectionState::Connecting => ConnectionState::Ready,
                other => other,
            });
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.see(|state| match state {
            ConnectionState::Connecting => ConnectionState::TransientFailure,
            ConnectionState::Ready => ConnectionState::Idle,
            other => other,
        });
    }
}
